import Foundation
import Testing

@testable import CoreData

@Suite("Under the error policy, a broken uniqueness constraint")
struct ConstraintErrorTests {
    private func conflicts(_ context: NSManagedObjectContext) throws -> [NSConstraintConflict] {
        let error = cocoaError(133021) { try context.save() }
        return try #require(error?.userInfo["conflictList"] as? [NSConstraintConflict])
    }

    @Test("is reported with the row in the store, and everything stays pending", arguments: StoreKind.allCases)
    func stored(_ kind: StoreKind) throws {
        let place = try UniqueStore(kind)
        try place.saved("Ada")
        let context = place.context
        let object = context.make("Owner", ["name": "Ada", "note": "new"])
        let bystander = context.make("Seat", ["label": "x"])
        let conflict = try #require(try conflicts(context).first)
        #expect(conflict.constraint == ["name"])
        #expect(conflict.constraintValues as? [String: String] == ["name": "Ada"])
        #expect(conflict.conflictingObjects == [object])
        #expect(conflict.conflictingSnapshots.map(\.count) == [0])
        #expect(conflict.databaseObject?.text("note") == "stored")
        #expect(conflict.databaseSnapshot?["note"] as? String == "stored")
        #expect(object.isInserted && bystander.isInserted && context.insertedObjects.count == 2)
        #expect(try place.owners() == "1|Ada|stored|1")
        #expect(try place.home.sql("SELECT count(*) FROM ZSEAT") == "0")
        object.setValue("Eva", forKey: "name")
        #expect(conflict.constraintValues as? [String: String] == ["name": "Ada"])
        try context.save()
        #expect(try place.owners() == "1|Ada|stored|1\n2|Eva|new|7")
    }

    @Test("between two new objects has no row, and every pair of a save is reported at once", arguments: StoreKind.allCases)
    func among(_ kind: StoreKind) throws {
        let place = try UniqueStore(kind)
        let context = place.context
        let objects = ["a", "b", "a", "c", "b"].map { context.make("Owner", ["name": $0]) }
        let list = try conflicts(context)
        #expect(list.map(\.conflictingObjects) == [[objects[0], objects[2]], [objects[1], objects[4]]])
        #expect(list.allSatisfy { $0.databaseObject == nil && $0.databaseSnapshot == nil })
        #expect(context.insertedObjects.count == 5)
    }

    @Test("of an update names the changed object with its former values", arguments: StoreKind.allCases)
    func update(_ kind: StoreKind) throws {
        let place = try UniqueStore(kind)
        try place.saved("a", "b")
        let object = try place.context.found("Owner", "name", "b")
        object.setValue("a", forKey: "name")
        let conflict = try #require(try conflicts(place.context).first)
        #expect(conflict.conflictingObjects == [object])
        #expect(conflict.conflictingSnapshots.first?["name"] as? String == "b")
        #expect(conflict.databaseObject?.text("name") == "a")
        #expect(object.text("name") == "a" && object.hasChanges)
    }

    @Test("over several properties names them all; rows that differ in one, or lack one, are no conflict", arguments: StoreKind.allCases)
    func several(_ kind: StoreKind) throws {
        let place = try UniqueStore(kind)
        let context = place.context
        context.make("Seat", ["row": 1, "number": 2.0])
        context.make("Seat", ["row": 1, "number": 3.0])
        for _ in 0..<3 { context.make("Seat", ["row": 1]) }
        try context.save()
        context.make("Seat", ["row": 1, "number": 2.0, "label": "again"])
        let conflict = try #require(try conflicts(context).first)
        #expect(conflict.constraint == ["row", "number"])
        #expect((conflict.constraintValues["row"] as? NSNumber)?.intValue == 1)
        #expect((conflict.constraintValues["number"] as? NSNumber)?.doubleValue == 2)
    }

    @Test("of a super entity holds for its subentities, one of a subentity for its own rows", arguments: StoreKind.allCases)
    func subentities(_ kind: StoreKind) throws {
        let place = try UniqueStore(kind)
        try place.saved("a")
        let context = place.context
        let manager = context.make("Manager", ["name": "a", "desk": "1"])
        #expect(try conflicts(context).map(\.constraint) == [["name"]])
        manager.setValue("b", forKey: "name")
        context.make("Manager", ["name": "c", "desk": "1"])
        #expect(try conflicts(context).map(\.constraint) == [["desk"]])
    }

    @Test("comes with the rows that others have changed, in one error after the other", arguments: StoreKind.allCases)
    func both(_ kind: StoreKind) throws {
        let place = try UniqueStore(kind)
        try place.saved("a", "b")
        let context = place.context
        let changed = try context.found("Owner", "name", "b")
        #expect(changed.text("note") == "stored")
        let other = try place.otherContext()
        try other.found("Owner", "name", "b").setValue("theirs", forKey: "note")
        try other.save()
        changed.setValue("mine", forKey: "note")
        let object = context.make("Owner", ["name": "a"])
        _ = cocoaError(133020) { try context.save() }
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(object.managedObjectContext == nil)
        #expect(try place.owners() == "1|a|stored|1\n2|b|mine|1")
    }

    @Test("is found with as many statements for a thousand objects as for one and a chunk", arguments: StoreKind.allCases)
    func statements(_ kind: StoreKind) throws {
        let place = try UniqueStore(kind)
        let context = place.context
        for number in 0..<1000 { context.make("Owner", ["name": "n\(number)"]) }
        try context.save()
        let other = try place.otherContext(separate: false)
        for number in 0..<1000 { other.make("Owner", ["name": "n\(number)"]) }
        let statements = place.store.counter.recording { _ = cocoaError(133021) { try other.save() } }
        #expect(statements.count < 20, "\(statements.count)")
    }
}
