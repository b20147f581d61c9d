import Foundation
import Testing

@testable import CoreData

/// What a child was decided on may be older than what others have saved.
@Suite("A child's changes to what others have saved meanwhile")
struct LostUpdateTests {
    let library: Library
    let other: NSManagedObjectContext
    let root: NSManagedObjectContext
    let book: Book

    init() throws {
        library = try Library()
        (other, root) = (library.context, library.newContext())
        book = try library.savedBook("title")
    }

    private func saves(_ contexts: NSManagedObjectContext...) throws { for context in contexts { try context.save() } }

    @Test(
        "meet a conflict in the topmost context, whether or not it has the object, and however many contexts are between",
        arguments: [true, false],
        [1, 2]
    )
    func conflict(isHeld: Bool, depth: Int) throws {
        let held = root.own(book)
        if isHeld { #expect(held.title == "title") } else { root.reset() }
        let middle = depth == 2 ? Layers.child(of: root, "middle") : root
        let child = Layers.child(of: middle, "child")
        child.own(book).title = "mine"
        book.title = "theirs"
        try other.save()
        try saves(child)
        if depth == 2 { try middle.save() }
        cocoaError(133020) { try root.save() }
        #expect(try library.sql("SELECT ZTITLE, Z_OPT FROM ZBOOK") == "theirs|2")
        root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try root.save()
        #expect(try library.sql("SELECT ZTITLE, Z_OPT FROM ZBOOK") == "mine|3")
        withExtendedLifetime((held, child, middle)) {}
    }

    @Test("of other properties are laid over them")
    func otherProperties() throws {
        let child = Layers.child(of: root, "child")
        child.own(book).title = "mine"
        book.pages = 5
        try other.save()
        try saves(child, root)
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK") == "mine|5")
    }

    // * One child has read the book. Another changes its title and its author; nobody holds it in the contexts between any more.
    // => The first one changes something else: everybody has that, and what the other has saved, on both sides.
    @Test("of other properties are laid over what siblings have saved, in the contexts between, too")
    func betweenSiblings() throws {
        let middle = Layers.child(of: root, "middle")
        let (first, second) = (Layers.child(of: middle, "first"), Layers.child(of: middle, "second"))
        let stale = first.own(book)
        #expect(stale.title == "title")
        let author = try second.performAndWait {
            let author = Author(context: second)
            author.name = "author"
            second.own(book).title = "sibling's"
            second.own(book).author = author
            try saves(second, middle, root)
            return author.objectID
        }
        second.reset()
        middle.reset()
        root.reset()
        stale.pages = 5
        try saves(first, middle, root)
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK") == "sibling's|5")
        for context in [middle, root] {
            #expect(context.own(book).title == "sibling's" && context.own(book).author?.objectID == author)
            #expect((context.object(with: author) as? Author)?.books.count == 1)
        }
    }

    @Test("win over what siblings have saved, also in the file, but not over what others have saved since")
    func siblings() throws {
        let (first, second, third) = (Layers.child(of: root, "1"), Layers.child(of: root, "2"), Layers.child(of: root, "3"))
        let books = [first, second, third].map { $0.own(book) }
        for (number, book) in books.enumerated() { book.title = "\(number)" }
        try saves(first, root)
        root.reset()
        try saves(second, root)
        #expect(try library.sql("SELECT ZTITLE, Z_OPT FROM ZBOOK") == "1|3")
        root.reset()
        other.refresh(book, mergeChanges: false)
        book.title = "theirs"
        try other.save()
        try third.save()
        cocoaError(133020) { try root.save() }
        #expect(try library.sql("SELECT ZTITLE, Z_OPT FROM ZBOOK") == "theirs|4")
    }

    @Test("are none where the child has read what others saved, and the contexts above have not")
    func readBelow() throws {
        let held = root.own(book)
        #expect(held.title == "title")
        book.title = "theirs"
        try other.save()
        let middle = Layers.child(of: root, "middle")
        let child = Layers.child(of: middle, "child")
        child.own(book).pages = 5
        #expect(child.own(book).title == "theirs")
        try saves(child, middle, root)
        #expect(try library.sql("SELECT ZTITLE, ZPAGES, Z_OPT FROM ZBOOK") == "theirs|5|3")
    }

    @Test("meet a conflict also where the child's earlier save was merged with changes of its parent")
    func mergedBefore() throws {
        let child = Layers.child(of: root, "child")
        let (held, mine) = (root.own(book), child.own(book))
        #expect(mine.title == "title")
        held.pages = 5
        mine.title = "mine"
        try saves(child, root)
        other.refresh(book, mergeChanges: false)
        book.title = "theirs"
        try other.save()
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [book.objectID]], into: [root])
        held.pages = 6
        try root.save()
        root.refresh(held, mergeChanges: false)
        mine.title = "mine again"
        try child.save()
        cocoaError(133020) { try root.save() }
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK") == "theirs|6")
    }

    /// A book that a child inserted and its sibling changed before it was first saved: the child has not got the row that is in the file.
    private func amendedBook(_ child: NSManagedObjectContext) throws -> Book {
        let sibling = Layers.child(of: root, "sibling")
        let mine = Book(context: child)
        mine.title = "mine"
        try child.save()
        sibling.own(mine).pages = 1
        try saves(sibling, root)
        return mine
    }

    @Test("meet a conflict also where the child has never had the row that was saved", arguments: [false, true])
    func amendedInsertion(isDeleted: Bool) throws {
        let child = Layers.child(of: root, "child")
        let mine = try amendedBook(child)
        other.own(mine).title = "theirs"
        try other.save()
        if isDeleted { child.delete(mine) } else { mine.title = "mine again" }
        try child.save()
        cocoaError(133020) { try root.save() }
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK WHERE Z_PK = \(mine.key)") == "theirs|1")
    }

    @Test(
        "are laid over what siblings have saved, though the contexts above have let go of it, which is no conflict",
        arguments: [false, true]
    )
    func amendedBySiblings(isSameProperty: Bool) throws {
        let child = Layers.child(of: root, "child")
        let mine = try amendedBook(child)
        if isSameProperty { mine.pages = 7 } else { mine.copies = 7 }
        try saves(child, root)
        let saved = try library.sql("SELECT ZTITLE, ZPAGES, ZCOPIES FROM ZBOOK WHERE Z_PK = \(mine.key)")
        #expect(saved == (isSameProperty ? "mine|7|" : "mine|1|7"))
        let reader = library.newContext()
        #expect(root.own(mine).pages == (isSameProperty ? 7 : 1) && reader.own(mine).title == "mine")
    }

    @Test("leave the rest to the parent: a row in the middle is the newest, though nobody has used it since it was written")
    func middle() throws {
        let middle = Layers.child(of: root, "middle")
        let (first, second) = (Layers.child(of: middle, "1"), Layers.child(of: middle, "2"))
        let stale = first.own(book)
        #expect(stale.title == "title")
        second.own(book).title = "newer"
        try saves(second, middle, root)
        for context in [second, middle, root, other] { context.reset() }
        stale.pages = 9
        try first.save()
        #expect(middle.own(stale).title == "newer" && middle.own(stale).pages == 9)
        try saves(middle, root)
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK") == "newer|9")
    }

    @Test("that follows its parent are as the parent has saved them, also what it inserted itself")
    func followed() throws {
        let child = Layers.child(of: root, "child")
        child.automaticallyMergesChangesFromParent = true
        let mine = Book(context: child)
        mine.title = "draft"
        try child.save()
        root.own(mine).title = "final"
        try root.save()
        child.performAndWait { #expect(mine.title == "final" && !child.hasChanges) }
    }

    @Test("by a delete meet a conflict, too")
    func delete() throws {
        let child = Layers.child(of: root, "child")
        let mine = child.own(book)
        #expect(mine.title == "title")
        book.title = "theirs"
        try other.save()
        child.delete(mine)
        try child.save()
        cocoaError(133020) { try root.save() }
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "theirs")
    }
}
