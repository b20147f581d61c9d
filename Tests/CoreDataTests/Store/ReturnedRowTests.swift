import Foundation
import Testing

@testable import CoreData

/// A key under which there was no row, or another one, when somebody looked.
@Suite("A row that appears, or comes back, under its key")
struct ReturnedRowTests {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library()
        context = library.context
    }

    private func book(_ title: String, _ pages: Int32 = 0) throws -> Book {
        let book = Book(context: context)
        (book.title, book.pages) = (title, pages)
        try context.save()
        return book
    }

    private func books() throws -> String { try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK ORDER BY 1") }

    @Test("stays when a context saves that asked for the object before the row was there")
    func tooEarly() throws {
        let (book, other) = (Book(context: context), library.newContext())
        book.title = "new"
        try context.obtainPermanentIDs(for: [book])
        let early = other.own(book)
        #expect(early.title == nil && early.isDeleted)
        try context.save()
        Tag(context: other).label = "t"
        try other.save()
        #expect(try books() == "new|")
        #expect(other.own(book).title == "new")
    }

    @Test("is found by who asked too early, once the insertion is merged")
    func merged() throws {
        let (book, other) = (Book(context: context), library.newContext())
        book.title = "new"
        try context.obtainPermanentIDs(for: [book])
        let early = other.own(book)
        #expect(early.title == nil)
        let did = Notifications(.NSManagedObjectContextDidSave, from: context)
        try context.save()
        other.mergeChanges(fromContextDidSave: try #require(did.received.last))
        #expect(early.title == "new" && !early.isDeleted && !other.hasChanges)
    }

    @Test("stays when a context saves that has merged the delete of the former row")
    func writtenAgain() throws {
        let book = try book("title", 1)
        let (writer, merger) = (library.newContext(), library.newContext())
        writer.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        writer.own(book).pages = 7
        #expect(merger.own(book).title == "title")
        context.delete(book)
        let did = Notifications(.NSManagedObjectContextDidSave, from: context)
        try context.save()
        merger.mergeChanges(fromContextDidSave: try #require(did.received.last))
        try writer.save()
        Tag(context: merger).label = "t"
        try merger.save()
        #expect(try books() == "title|7")
    }

    @Test("of a delete made here, which was merged too, takes the delete: and is written again where that is taken back")
    func mergedOwnDelete() throws {
        let book = try book("title")
        let child = Layers.child(of: context, "child")
        let did = Notifications(.NSManagedObjectContextDidSave, from: child)
        child.delete(child.own(book))
        try child.save()
        // * An old idiom: whoever observes merges whatever was saved.
        context.mergeChanges(fromContextDidSave: try #require(did.received.last))
        context.insert(book)
        try context.save()
        #expect(try books() == "title|0")
        context.delete(book)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [book.objectID]], into: [context])
        try context.save()
        #expect(try books() == "")
        withExtendedLifetime(child) {}
    }

    // * Somebody has read a row. It is deleted, and written again by somebody who had changed it.
    // => Both know rows, but not the same.
    @Test("is another row: edits of the former one conflict, and fetches give what it says now", arguments: Rivals.Place.allCases)
    func anotherRow(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        let deleter = try place.isOneCoordinator ? rivals.library.newContext() : rivals.library.separateContext()
        rivals.theirs.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        rivals.theirBook.title = "theirs"
        deleter.delete(try deleter.only(Book.self, "Book"))
        try deleter.save()
        try rivals.theirs.save()
        rivals.myBook.pages = 100
        cocoaError(133020) { try rivals.mine.save() }
        #expect(try rivals.library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK") == "theirs|1")
        let reader = rivals.library.newContext()
        #expect(try reader.only(Book.self, "Book").title == "theirs")
        rivals.mine.refresh(rivals.myBook, mergeChanges: false)
        #expect(rivals.myBook.title == "theirs" && rivals.myBook.pages == 1)
        withExtendedLifetime(reader) {}
    }

    @Test("of a database whose rows went back in version is read as it is, though somebody holds the former ones")
    func backup() throws {
        let book = try book("first")
        let saved = library.url.deletingLastPathComponent().appendingPathComponent("backup").path
        _ = try library.sql(".backup '\(saved)'")
        for title in ["second", "third"] {
            book.title = title
            try context.save()
        }
        _ = try library.sql(".restore '\(saved)'")
        let other = library.newContext()
        let found = try other.only(Book.self, "Book")
        #expect(found.title == "first" && book.title == "third")
        found.title = "fourth"
        try other.save()
        #expect(try books() == "fourth|0")
        context.refresh(book, mergeChanges: false)
        #expect(book.title == "fourth")
    }

    // * The fault's relationships have changed, so that it is saved; somebody else's save says that its row may be old.
    @Test(
        "has the values that were known of it, though the object that brings it back is a fault",
        arguments: Rivals.Place.allCases,
        [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType]
    )
    func broughtBackByFault(place: Rivals.Place, policy: NSMergePolicyType) throws {
        let rivals = try Rivals(place)
        rivals.mine.mergePolicy = NSMergePolicy(merge: policy)
        rivals.mine.refresh(rivals.myBook, mergeChanges: false)
        Tag(context: rivals.mine).books = [rivals.myBook]
        #expect(rivals.myBook.isFault && rivals.myBook.isUpdated)
        let sibling = rivals.library.newContext()
        Tag(context: sibling).label = "sibling"
        try sibling.save()
        rivals.theirs.delete(rivals.theirBook)
        try rivals.theirs.save()
        try rivals.mine.save()
        // A delete by the same coordinator has taken the row from everybody who did not use it: nothing is known of it.
        let known = place.isOneCoordinator ? "" : "title|1|1.0"
        #expect(try rivals.library.sql("SELECT ZTITLE, ZPAGES, ZPRICE FROM ZBOOK") == known)
    }
}
