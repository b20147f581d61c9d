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
}
