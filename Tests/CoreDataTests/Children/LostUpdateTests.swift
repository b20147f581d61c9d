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
