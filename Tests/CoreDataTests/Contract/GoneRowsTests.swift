import Foundation
import Testing

@testable import CoreData

@Suite("Rows that others have deleted from an incremental store, or written anew in a document")
struct GoneRowsTests {
    private func titles(_ context: NSManagedObjectContext) throws -> [String?] { try context.all(Book.self).map(\.title) }

    /// A book that one context has deleted, in another that has read it; the names of what is in the store.
    private func deletedBook(_ home: ContractHome) throws -> (NSManagedObjectContext, Book) {
        let first = try home.open()
        let book = Book(context: first)
        book.title = "book"
        try first.save()
        let second = try home.context(on: #require(first.persistentStoreCoordinator))
        let other: Book = try #require(try second.all(Book.self).first)
        #expect(other.title == "book")
        first.delete(book)
        try first.save()
        return (second, other)
    }

    @Test("are a conflict for who has changed them", arguments: [ContractKind.file, .dictionary])
    func conflict(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let (context, book) = try deletedBook(home)
        book.title = "changed"
        #expect(throws: CocoaError(.managedObjectMerge)) {
            do { try context.save() } catch let error as CocoaError { throw CocoaError(error.code) }
        }
        #expect(try titles(home.context(on: #require(context.persistentStoreCoordinator))).isEmpty)
    }

    @Test("stay deleted where what is in the store wins", arguments: [ContractKind.file, .dictionary])
    func dropped(_ kind: ContractKind) throws {
        for policy in [NSMergePolicy.mergeByPropertyStoreTrump, .rollback] {
            let home = try ContractHome(kind)
            let (context, book) = try deletedBook(home)
            context.mergePolicy = policy
            book.title = "changed"
            try context.save()
            #expect(try titles(home.context(on: #require(context.persistentStoreCoordinator))).isEmpty)
        }
    }

    @Test("are a conflict for a context that knew the document before it was added anew", arguments: [ContractKind.binary, .xml, .csv])
    func addedAnew(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let mine = try home.open()
        for title in ["book", "other"] { Book(context: mine).title = title }
        try mine.save()
        let books = try mine.all(Book.self, sortedBy: "title")
        let theirs = try home.open()
        try theirs.all(Book.self, sortedBy: "title")[0].title = "theirs"
        try theirs.save()
        books[0].title = "mine"
        let coordinator = try #require(mine.persistentStoreCoordinator)
        try coordinator.remove(coordinator.persistentStores[0])
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: home.url)
        #expect(throws: CocoaError(.managedObjectMerge)) {
            do { try mine.save() } catch let error as CocoaError { throw CocoaError(error.code) }
        }
        mine.refresh(books[0], mergeChanges: false)
        // What nobody has changed is no conflict.
        books[1].title = "changed"
        try mine.save()
        #expect(try Set(titles(home.open())) == ["theirs", "changed"])
    }
}
