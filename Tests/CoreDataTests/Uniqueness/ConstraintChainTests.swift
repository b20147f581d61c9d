import Foundation
import Testing

@testable import CoreData

@Suite("Objects that want each other's values under a uniqueness constraint")
struct ConstraintChainTests {
    private func name(_ number: Int) -> String { "v\(1000 + number)" }

    /// Each object but the first takes the value of the one before it; the first keeps it.
    private func shift(_ place: UniqueStore, _ count: Int) throws -> [NSManagedObject] {
        for number in 0..<count { place.context.make("Owner", ["name": name(number), "note": "old", "score": number]) }
        try place.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
        request.sortDescriptors = [NSSortDescriptor(key: "score", ascending: true)]
        let objects = try place.context.fetch(request)
        for number in 1..<count {
            objects[number].setValue(name(number - 1), forKey: "name")
            objects[number].setValue("new", forKey: "note")
        }
        return objects
    }

    @Test(
        "in a chain are resolved with one save, however long it is",
        arguments: StoreKind.allCases,
        UpsertTests.resolving.flatMap { policy in [3, 12, 300].map { (policy, $0) } }
    )
    func chain(_ kind: StoreKind, _ chain: (policy: NSMergePolicyType, count: Int)) throws {
        let place = try UniqueStore(kind, NSMergePolicy(merge: chain.policy))
        let objects = try shift(place, chain.count)
        try place.context.save()
        #expect(!place.context.hasChanges)
        let rows = try place.home.sql("SELECT count(*), min(ZNAME), max(ZNAME), count(DISTINCT ZNOTE) FROM ZOWNER")
        let last = chain.count - 1
        switch chain.policy {
        // => Everybody has the former value back; what else was changed stays, but for rollback.
        case .mergeByPropertyStoreTrumpMergePolicyType: #expect(rows == "\(chain.count)|\(name(0))|\(name(last))|2")
        case .rollbackMergePolicyType: #expect(rows == "\(chain.count)|\(name(0))|\(name(last))|1")
        // => The first goes.
        default: #expect(rows == "\(last)|\(name(0))|\(name(last - 1))|1")
        }
        #expect(objects.suffix(last).allSatisfy { $0.managedObjectContext != nil })
    }

    @Test("with a new object at the end of the chain, which goes into the row that has its value back", arguments: StoreKind.allCases)
    func newObject(_ kind: StoreKind) throws {
        let place = try UniqueStore(kind, .mergeByPropertyStoreTrump)
        let objects = try shift(place, 15)
        let new = place.context.make("Owner", ["name": name(14), "note": "new object"])
        let pet = place.context.make("Pet", ["name": "pet", "owner": new])
        try place.context.save()
        #expect(new.managedObjectContext == nil && pet.target("owner") === objects[14])
        #expect(try place.home.sql("SELECT count(*) FROM ZOWNER WHERE ZNOTE = 'new object'") == "0")
        #expect(try place.home.sql("SELECT count(*), max(ZNAME) FROM ZOWNER") == "15|\(name(14))")
    }

    @Test("under the error policy keep all changes", arguments: StoreKind.allCases)
    func error(_ kind: StoreKind) throws {
        let place = try UniqueStore(kind)
        let objects = try shift(place, 15)
        cocoaError(133021) { try place.context.save() }
        #expect((1..<15).allSatisfy { objects[$0].text("name") == name($0 - 1) && objects[$0].isUpdated })
    }

    @Test("are the same where the column keeps them as the same number", arguments: StoreKind.allCases, NSMergePolicyType.all)
    func numbers(_ kind: StoreKind, _ policy: NSMergePolicyType) throws {
        let item = LibraryModel.entity("Item", NSManagedObject.self, [LibraryModel.attribute("price", .decimalAttributeType)])
        item.uniquenessConstraints = [["price"]]
        let model = NSManagedObjectModel()
        model.entities = [item]
        let pairs = [("0.99999999999999999999999999", "1"), ("9007199254740992.5", "9007199254740992"), ("1.10", "1.1")]
        for pair in pairs {
            let home = try StoreHome(kind)
            let context = try Stack(home.url(), model).newContext()
            context.mergePolicy = NSMergePolicy(merge: policy)
            for text in [pair.0, pair.1] { context.make("Item", ["price": NSDecimalNumber(string: text)]) }
            if policy == .errorMergePolicyType {
                let error = cocoaError(133021) { try context.save() }
                #expect((error?.userInfo["conflictList"] as? [NSConstraintConflict])?.first?.conflictingObjects.count == 2)
            } else {
                try context.save()
                #expect(try home.sql("SELECT count(*) FROM ZITEM") == "1")
            }
        }
    }
}
