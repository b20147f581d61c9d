import Foundation
import Testing

@testable import CoreData

@Suite("The history of batch requests")
struct BatchHistoryTests {
    @Test("has a transaction for each, with what they have changed and who has asked for it", arguments: StoreKind.allCases)
    func changes(_ kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let context = library.context
        (context.transactionAuthor, context.name) = ("importer", "batch")
        let author = Author(context: context)
        try context.save()
        try context.batchInsert("Book", [["title": "A", "author": author.objectID], ["title": "B"]])
        try context.batchUpdate("Book", ["pages": 3], where: "title == 'B'")
        try context.batchDelete("Book", "title == 'A'")
        let told = try context.told()
        #expect(told.count == 4)
        #expect(told[1] == ["insert Book/p1", "insert Book/p2", "update Author/p1 books"])
        #expect(told[2] == ["update Book/p2 pages"])
        #expect(told[3] == ["delete Book/p1", "update Author/p1 books"])
        #expect(try context.history().allSatisfy { $0.author == "importer" && $0.contextName == "batch" })
    }

    @Test("names each object once, however many rows lead to it, and along however many relationships", arguments: StoreKind.allCases)
    func once(_ kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let context = library.context
        let (author, boss) = (Author(context: context), Person(context: context))
        try context.save()
        let token = library.coordinator.currentPersistentHistoryToken(fromStores: nil)
        let rows = (0..<5).map { ["title": "\($0)", "author": author.objectID] as [String: Any] }
        let result = try context.batchInsert("Book", rows, type: .objectIDs)
        #expect((result.changedObjectIDs[NSUpdatedObjectIDsKey] as? [NSManagedObjectID]) == [author.objectID])
        let desk = try context.batchInsert("Person", [["name": "A", "boss": boss.objectID], ["name": "B", "boss": boss.objectID]])
        #expect(desk.count == 2)
        // They lead to each other: an update of its own, and of whom it leads to.
        try context.batchUpdate("Person", ["age": 3, "boss": boss.objectID], where: "name == 'A' OR SELF == %@", boss)
        let told = try context.told(after: token)
        #expect(told[0].filter { $0.hasPrefix("update") } == ["update Author/p1 books"])
        #expect(told[1].filter { $0.hasPrefix("update") } == ["update Person/p2 reports"])
        #expect(told[2] == ["update Person/p2 age boss reports", "update Person/p3 age boss"])
    }

    /// A tracked library where names are unique, and an author has a publisher, who has many.
    private func upsertLibrary(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind, options: [NSPersistentHistoryTrackingKey: true]) { model in
            guard
                let (author, desk) = model.entitiesByName["Author"].flatMap({ author in model.entitiesByName["Desk"].map { (author, $0) } })
            else { return }
            model.entitiesByName["Person"]?.uniquenessConstraints = [["name"]]
            LibraryModel.relate(author, "publisher", toMany: false, .nullifyDeleteRule, desk, "authors", toMany: true, .nullifyDeleteRule)
        }
        library.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        return library
    }

    @Test("names of an upsert what it writes, and of those that it meets twice what both write", arguments: StoreKind.allCases)
    func upserts(_ kind: StoreKind) throws {
        let library = try upsertLibrary(kind)
        let context = library.context
        for name in ["Ada", "Bob"] { Person(context: context).name = name }
        try context.save()
        let rows: [[String: Any]] = [
            ["name": "Ada", "age": 3], ["name": "Bob", "boss": NSNull()], ["name": "Ada", "boss": NSNull()], ["name": "Cleo", "age": 3],
            ["name": "Cleo", "age": 4],
        ]
        let result = try context.batchInsert("Person", rows, type: .objectIDs)
        #expect((result.result as? [NSManagedObjectID])?.count == 3)
        #expect(try context.told().last == ["insert Person/p6", "update Person/p1 age boss", "update Person/p2 boss"])
        context.mergePolicy = NSMergePolicy.overwrite
        try context.batchInsert("Person", [["name": "Ada"]])
        #expect(try context.told().last == ["update Person/p1 age boss desk"])
    }

    // * An author is given under the name of a person, who has no publisher, then under that of an author.
    // => Nothing has happened to the publisher at first.
    @Test("tells nothing of a relationship that the row has not", arguments: StoreKind.allCases)
    func subentities(_ kind: StoreKind) throws {
        let library = try upsertLibrary(kind)
        let context = library.context
        let desk = Desk(context: context)
        (Person(context: context).name, Author(context: context).name) = ("Ada", "Bob")
        try context.save()
        let rows = ["Ada", "Bob"].map { ["name": $0, "age": 3, "publisher": desk.objectID] as [String: Any] }
        try context.batchInsert("Author", [rows[0]])
        #expect(try context.told().last == ["update Person/p1 age"])
        #expect(try library.sql("SELECT Z_OPT FROM ZDESK") == "1")
        try context.batchInsert("Author", [rows[1]])
        #expect(try context.told().last == ["update Author/p2 age publisher", "update Desk/p1 authors"])
        try context.batchInsert("Author", [rows[1]])
        #expect(try context.told().last == ["update Author/p2 age publisher"])
        #expect(try library.sql("SELECT Z_OPT FROM ZDESK") == "2")
    }
}
