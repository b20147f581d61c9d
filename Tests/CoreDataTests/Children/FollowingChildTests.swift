import Foundation
import Testing

@testable import CoreData

@Suite("A child that follows hears what its parent has made, before it saved, of what the child has saved:")
struct FollowingChildTests {
    let library: Library
    let child: NSManagedObjectContext
    private var parent: NSManagedObjectContext { library.context }

    init() throws {
        library = try Library()
        child = Layers.child(of: library.context, "child")
        child.automaticallyMergesChangesFromParent = true
    }

    private func book(_ title: String) -> Book {
        let book = Book(context: child)
        book.title = title
        return book
    }

    @Test("members that were taken out of a new list, so that its delete leaves them alone")
    func movedMember() throws {
        let (list, other) = (book("list"), book("other"))
        let (moved, kept) = (Chapter(context: child), Chapter(context: child))
        (moved.book, kept.book) = (list, list)
        try child.save()
        parent.own(moved).book = parent.own(other)
        parent.processPendingChanges()
        try parent.save()
        child.processPendingChanges()
        #expect(moved.book === other && Array(list.chapters) == [kept])
        child.delete(list)
        try child.save()
        try parent.save()
        #expect(try library.sql("SELECT Z_PK FROM ZCHAPTER") == "\(moved.key)")
    }

    @Test("pairs of a many-to-many relationship, at both ends", arguments: [false, true])
    func pairs(isFromOtherEnd: Bool) throws {
        let book = book("book")
        let tag = Tag(context: child)
        book.tags = [tag]
        try child.save()
        if isFromOtherEnd { parent.own(tag).books = [] } else { parent.own(book).tags = [] }
        try parent.save()
        child.processPendingChanges()
        #expect(book.tags.isEmpty && tag.books.isEmpty)
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "0")
    }

    @Test("what is as in the store again, of which nothing is written")
    func setBack() throws {
        let (above, tag) = (Book(context: parent), Tag(context: parent))
        above.title = "stored"
        try parent.save()
        let below = child.own(above)
        (below.title, below.tags) = ("child's", [child.own(tag)])
        try child.save()
        (above.title, above.tags) = ("stored", [])
        try parent.save()
        child.processPendingChanges()
        #expect(below.title == "stored" && below.tags.isEmpty && !child.hasChanges)
    }

    enum Loss: CaseIterable { case delete, rollback }

    @Test("deletes, and rollbacks, of what no file will ever have", arguments: Loss.allCases)
    func neverSaved(_ loss: Loss) throws {
        let book = book("book")
        let chapter = Chapter(context: child)
        chapter.book = book
        try child.save()
        parent.processPendingChanges()
        if loss == .delete { parent.delete(parent.own(book)) } else { parent.rollback() }
        try parent.save()
        child.processPendingChanges()
        #expect(book.isDeleted && chapter.isDeleted)
        #expect(try child.all(Book.self).isEmpty)
        try child.save()
        try parent.save()
        #expect(book.managedObjectContext == nil)
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK") == "0")
    }

    /// A stored chapter of the child, and a new book of the parent.
    private func chapterBelowNewBook() throws -> (home: Book, chapter: Chapter, above: Book) {
        let (home, chapter) = (book("home"), Chapter(context: child))
        chapter.book = home
        try child.save()
        try parent.save()
        let above = Book(context: parent)
        above.title = "dropped"
        return (home, chapter, above)
    }

    // * The child puts a stored chapter into a book. The parent takes it out again, or drops that with the book, which goes.
    // => Nobody has deleted the chapter, though a delete of the book is carried to its chapters.
    @Test("that what the parent took out of an object is not deleted with it", arguments: Loss.allCases, [false, true])
    func letGoAbove(_ loss: Loss, hasReadMembers: Bool) throws {
        let (home, chapter, above) = try chapterBelowNewBook()
        if loss == .delete { try parent.save() }
        let book = child.own(above)
        chapter.book = book
        try child.save()
        if hasReadMembers { #expect(book.chapters.count == 1) }
        if loss == .delete {
            parent.own(chapter).book = parent.own(home)
            parent.delete(above)
            try parent.save()
        } else {
            parent.rollback()
        }
        child.processPendingChanges()
        #expect(book.isDeleted && !chapter.isDeleted && chapter.book === home)
        try child.save()
        try parent.save()
        #expect(try library.sql("SELECT Z_PK FROM ZCHAPTER") == "\(chapter.key)")
    }

    // * The child puts a stored chapter into a new book of the parent, and saves nothing. The parent drops the book.
    // => The chapter is in no book; it is not deleted, as the book was not.
    @Test("that what is put into a dropped object is not deleted with it", arguments: [false, true])
    func putIntoDropped(hasReadMembers: Bool) throws {
        let (home, chapter, above) = try chapterBelowNewBook()
        parent.processPendingChanges()
        let book = child.own(above)
        if hasReadMembers { #expect(book.chapters.isEmpty) }
        chapter.book = book
        parent.rollback()
        child.processPendingChanges()
        #expect(!chapter.isDeleted && chapter.book == nil && chapter.isUpdated)
        // It is mandatory: the program is told.
        cocoaError(1570) { try child.save() }
        chapter.book = home
        try child.save()
        try parent.save()
        #expect(try library.sql("SELECT Z_PK, ZBOOK FROM ZCHAPTER") == "\(chapter.key)|\(home.key)")
    }

    enum Deleter: CaseIterable { case parent, other }

    // * The child leads to a chief whose reports nobody has read, and saves that. Its parent has deleted her, or others have.
    // => What the parent has then is what it had: no update tells of it.
    @Test("that nothing leads to what is gone, though no file will ever have had that", arguments: Deleter.allCases)
    func ledToDeleted(_ deleter: Deleter) throws {
        let (chief, person) = (Person(context: child), Person(context: child))
        try child.save()
        try parent.save()
        child.refreshAllObjects()
        if deleter == .parent { parent.delete(parent.own(chief)) }
        parent.processPendingChanges()
        #expect(person.boss == nil)
        person.boss = chief
        try child.save()
        if deleter == .other {
            let other = try library.separateContext()
            other.delete(try other.existingObject(with: chief.objectID))
            try other.save()
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectIDsKey: [chief.objectID]], into: [parent, child])
        }
        try parent.save()
        child.processPendingChanges()
        #expect(chief.isDeleted && person.boss == nil && !person.isDeleted)
        try child.save()
        try parent.save()
        #expect(try library.sql("SELECT Z_PK, ZBOSS FROM ZPERSON") == "\(person.key)|")
    }
}
