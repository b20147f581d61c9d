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
}
