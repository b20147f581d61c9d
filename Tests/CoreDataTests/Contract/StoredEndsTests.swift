import Foundation
import Testing

@testable import CoreData

@Suite("The objects that an incremental store is asked to write")
struct StoredEndsTests {
    private let home: ContractHome

    init() throws { home = try ContractHome(.dictionary) }

    /// What the store has written for an entity's only object, by relationship.
    private func ends(_ entity: String, _ context: NSManagedObjectContext) throws -> [String: [String]] {
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? DictionaryStore)
        return try #require(store.service.entries.values.first { $0.entity == entity }).ends
    }

    @Test("name no member that is deleted, whether anybody had read the relationship or not", arguments: [false, true])
    func deletedMembers(isRead: Bool) throws {
        let first = try home.open()
        let author = Author(context: first), tag = Tag(context: first)
        for title in ["a", "b"] {
            let book = Book(context: first)
            book.title = title
            book.author = author
            book.mutableSetValue(forKey: "tags").add(tag)
        }
        try first.save()
        #expect(try ends("Author", first)["books"]?.count == 2)

        let context = isRead ? first : try home.open()
        let book: Book = try #require(try context.all(Book.self, where: "title == 'a'").first)
        context.delete(book)
        try context.save()
        #expect(try ends("Author", context)["books"]?.count == 1)
        #expect(try ends("Tag", context)["books"]?.count == 1)
    }
}
