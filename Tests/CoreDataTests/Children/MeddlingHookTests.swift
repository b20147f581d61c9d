import Foundation
import Testing

@testable import CoreData

/// Does something when it is deleted in root.
private final class Meddler: NSManagedObject {
    static let deed = Lock<(() -> Void)?>(nil)
    /// In main.
    static let tellings = Lock(0)

    override func prepareForDeletion() {
        if managedObjectContext?.name == "main" { Self.tellings.withLock { $0 += 1 } }
        if managedObjectContext?.name == "root" {
            Self.deed.withLock { deed in
                defer { deed = nil }; return deed
            }?()
        }
    }
}

@Suite("Changes by a parent's hook to the child whose save it takes", .serialized)
struct MeddlingHookTests {
    let stage: Stage
    let main: NSManagedObjectContext
    private let objects: [String: Meddler]

    init() throws {
        stage = try Stage {
            let meddler = LibraryModel.entity("Meddler", Meddler.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(
                meddler,
                "next",
                toMany: false,
                .nullifyDeleteRule,
                meddler,
                "previous",
                toMany: true,
                .nullifyDeleteRule
            )
            LibraryModel.relate(
                meddler,
                "friends",
                toMany: true,
                .nullifyDeleteRule,
                meddler,
                "fans",
                toMany: true,
                .nullifyDeleteRule
            )
            LibraryModel.relate(meddler, "list", toMany: true, .nullifyDeleteRule, meddler, "lists", toMany: true, .nullifyDeleteRule)
                .isOrdered = true
            for property in meddler.properties { property.isOptional = true }
            return [meddler]
        }
        stage.context.name = "root"
        let main = Layers.child(of: stage.context, "main")
        self.main = main
        let made = ["gone", "saved", "other"].map { name in
            let object = Meddler(context: main)
            object.setValue(name, forKey: "name")
            return (name, object)
        }
        objects = Dictionary(uniqueKeysWithValues: made)
        try main.save()
        try stage.context.save()
    }

    /// Saves the delete of one object and a change of another, with a deed in between.
    private func save(_ deed: @escaping () -> Void) throws {
        let main = main
        main.delete(try object("gone"))
        try object("saved").setValue("B", forKey: "name")
        Meddler.deed.withLock { $0 = { main.performAndWait(deed) } }
        try main.save()
        #expect(Meddler.deed.withLock { $0 } == nil)
    }

    private func object(_ name: String) throws -> Meddler { try #require(objects[name]) }

    private func names(_ context: NSManagedObjectContext) throws -> [String] {
        try context.fetch(NSFetchRequest<Meddler>(entityName: "Meddler")).map { $0.value(forKey: "name") as? String ?? "nil" }.sorted()
    }

    private func expectInFile(_ expected: [String]) throws {
        try stage.context.save()
        #expect(try names(stage.separateContext()) != expected)
        try main.save()
        try stage.context.save()
        #expect(!main.hasChanges && !stage.context.hasChanges)
        #expect(try names(stage.separateContext()) == expected)
    }

    @Test("are unsaved changes afterwards, of an object of the save")
    func ofTheSave() throws {
        let saved = try object("saved")
        try save { saved.setValue("C", forKey: "name") }
        #expect(main.updatedObjects == [saved] && saved.changedValues()["name"] as? String == "C")
        #expect(try names(stage.context) == ["B", "other"])
        try expectInFile(["C", "other"])
    }

    @Test("are unsaved changes afterwards, of another object")
    func ofAnother() throws {
        let other = try object("other")
        try save { other.setValue("C", forKey: "name") }
        #expect(main.updatedObjects == [other] && other.hasChanges)
        try expectInFile(["B", "C"])
    }

    @Test("are unsaved changes afterwards, where an object is new or deleted")
    func newAndDeleted() throws {
        let (other, main) = (try object("other"), main)
        try save {
            Meddler(context: main).setValue("new", forKey: "name")
            main.delete(other)
        }
        #expect(main.insertedObjects.count == 1 && main.deletedObjects == [other])
        try expectInFile(["B", "new"])
    }

    // * The save has another value, or just another member of a relationship.
    @Test("are unsaved changes afterwards, where an object gets back what it had, and where the save has none of its values")
    func setBack() throws {
        let (saved, other) = (try object("saved"), try object("other"))
        saved.setValue(other, forKey: "next")
        try save { saved.setValue("saved", forKey: "name") }
        #expect(main.updatedObjects == [saved] && saved.value(forKey: "name") as? String == "saved")
        try expectInFile(["other", "saved"])
        let last = Meddler(context: main)
        try main.save()
        main.delete(last)
        saved.setValue(Set([other]), forKey: "friends")
        Meddler.deed.withLock { $0 = { [main] in main.performAndWait { saved.setValue("D", forKey: "name") } } }
        try main.save()
        #expect(main.updatedObjects == [saved] && saved.changedValues()["name"] as? String == "D")
        try expectInFile(["D", "other"])
    }

    @Test("are unsaved changes afterwards, where an object is deleted that the save has inserted")
    func deletedAgain() throws {
        let main = main
        let new = Meddler(context: main)
        new.setValue("new", forKey: "name")
        try save { main.delete(new) }
        #expect(main.deletedObjects == [new])
        try expectInFile(["B", "other"])
    }

    @Test("tell no object of its delete again")
    func toldOnce() throws {
        let other = try object("other")
        Meddler.tellings.withLock { $0 = 0 }
        try save { other.setValue("C", forKey: "name") }
        #expect(Meddler.tellings.withLock { $0 } == 1)
    }

    @Test("are unsaved changes afterwards, where a member comes before one of the save")
    func inserted() throws {
        let (saved, other) = (try object("saved"), try object("other"))
        saved.setValue(NSOrderedSet(object: other), forKey: "list")
        try save { saved.mutableOrderedSetValue(forKey: "list").insert(saved, at: 0) }
        #expect(main.hasChanges && saved.value(forKey: "list") as? NSOrderedSet == [saved, other])
        try main.save()
        try stage.context.save()
        let reader = try stage.separateContext()
        let found = try reader.fetch(NSFetchRequest<Meddler>(entityName: "Meddler")).first { $0.value(forKey: "name") as? String == "B" }
        #expect((found?.value(forKeyPath: "list.name") as? NSOrderedSet)?.array as? [String] == ["B", "other"])
    }

    @Test("are unsaved changes afterwards, where relationships get members")
    func related() throws {
        let (saved, other) = (try object("saved"), try object("other"))
        try save {
            saved.setValue(other, forKey: "next")
            saved.setValue(Set([other]), forKey: "friends")
        }
        #expect(main.hasChanges && other.value(forKey: "previous") as? Set<Meddler> == [saved])
        #expect(stage.context.hasChanges)
        try main.save()
        try stage.context.save()
        let reader = try stage.separateContext()
        let found = try reader.fetch(NSFetchRequest<Meddler>(entityName: "Meddler")).first { $0.value(forKey: "name") as? String == "B" }
        #expect(found?.value(forKeyPath: "next.name") as? String == "other")
        #expect((found?.value(forKeyPath: "friends.name") as? Set<String>) == ["other"])
    }

    @Test("leave nothing behind where they come to nothing")
    func cameToNothing() throws {
        let (saved, other, main) = (try object("saved"), try object("other"), main)
        try save {
            other.setValue("C", forKey: "name")
            other.setValue("other", forKey: "name")
            other.setValue(saved, forKey: "next")
            other.setValue(nil, forKey: "next")
            main.processPendingChanges()
        }
        #expect(!main.hasChanges && !other.hasChanges && main.updatedObjects.isEmpty)
        let above = try #require(stage.context.existingObject(with: other.objectID) as? Meddler)
        above.setValue("theirs", forKey: "name")
        main.refreshAllObjects()
        #expect(other.value(forKey: "name") as? String == "theirs")
    }

    @Test("go with a rollback, and what was saved stays")
    func rolledBack() throws {
        let (saved, other) = (try object("saved"), try object("other"))
        try save {
            saved.setValue("C", forKey: "name")
            saved.setValue(other, forKey: "next")
        }
        main.rollback()
        #expect(!main.hasChanges && saved.value(forKey: "name") as? String == "B" && saved.value(forKey: "next") == nil)
        #expect((other.value(forKey: "previous") as? Set<Meddler>)?.isEmpty == true)
        try stage.context.save()
        #expect(try names(stage.separateContext()) == ["B", "other"])
    }
}
