import Foundation
import Testing

@testable import CoreData

@Suite("A follower of a history, of a row that was deleted and came back under its key,")
struct ReturnedRowMergingTests {
    // * One deletes a book; another, who has changed it, saves over that under object trump: the row is back under its key.
    // => Who hears of both at once has what is in the store, in an object that it held and in other contexts.
    @Test("has what is in the store", arguments: StoreKind.allCases)
    func returnedRow(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let book = try library.savedBook("old")
        let follower = HistoryFollower(name: "me", coordinator: library.coordinator)
        try follower.beginNow()
        try deleteAndReturn(book, "new", in: library)
        #expect(book.title == "old")
        #expect(try follower.merge(into: [library.context]) == 2)
        #expect(book.title == "new" && !book.isDeleted)
        let other = try #require(try library.newContext().existingObject(with: book.objectID) as? Book)
        #expect(other.title == "new")
    }

    private func deleteAndReturn(_ book: Book, _ title: String, in library: Library) throws {
        let (deleter, editor) = (try library.separateTrackedContext(), try library.separateTrackedContext())
        editor.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let theirs = try #require(try editor.existingObject(with: book.objectID) as? Book)
        theirs.title = title
        deleter.delete(try deleter.existingObject(with: book.objectID))
        try deleter.save()
        try editor.save()
    }

    // * The same; a context is told of the insert alone.
    // => Its object has what is in the store, under what is unsaved, and so have others.
    @Test("may be told that it was inserted alone", arguments: StoreKind.allCases)
    func knownInsert(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let books = try ["a", "b"].map(library.savedBook)
        for book in books { try deleteAndReturn(book, "new", in: library) }
        books[1].pages = 3
        let told = [NSInsertedObjectIDsKey: books.map(\.objectID)]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: told, into: [library.context])
        #expect(books.map(\.title) == ["new", "new"] && books.map(\.pages) == [0, 3])
        let titles = try library.newContext().fetch(NSFetchRequest<Book>(entityName: "Book")).map(\.title)
        #expect(titles == ["new", "new"])
        try library.context.save()
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK ORDER BY Z_PK") == "new|\nnew|3")
    }
}
