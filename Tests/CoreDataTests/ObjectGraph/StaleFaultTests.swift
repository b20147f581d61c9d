import Foundation
import Testing

@testable import CoreData

@Suite("A fault that was read before a change, and is used after it")
struct StaleFaultTests {
    let layers: Layers
    var library: Library { layers.library }
    var root: NSManagedObjectContext { layers.root }

    init() throws { layers = try Layers() }

    private func savedBook(_ title: String = "old") throws -> Book {
        let (book, author) = (layers.book(title, in: root), Author(context: root))
        book.author = author
        try root.save()
        return book
    }

    @Test("has the values that another context of its coordinator has saved, and can be changed and saved on top of them")
    func savedElsewhere() throws {
        let book = try savedBook()
        let other = library.newContext()
        let (fault, deleted) = (try #require(other.all(Book.self).first), library.newContext())
        let gone = try #require(deleted.all(Book.self).first)
        (book.title, book.author) = ("new", nil)
        try root.save()
        let statements = library.statementsOf { #expect(fault.isFault && fault.title == "new" && fault.author == nil) }
        #expect(statements == [])
        fault.pages = 7
        try other.save()
        #expect(try library.sql("SELECT ZTITLE, ZPAGES, Z_OPT FROM ZBOOK") == "new|7|3")
        // * A row that was deleted is gone for it.
        other.delete(fault)
        try other.save()
        #expect(gone.isFault && gone.title == nil && gone.isDeleted)
    }

    @Test("is not in conflict where it was only related to something, or deleted")
    func notSeen() throws {
        let (book, doomed) = (try savedBook(), try savedBook("doomed"))
        let other = library.newContext()
        let faults = try other.all(Book.self, sortedBy: "title")
        (book.pages, doomed.pages) = (1, 1)
        try root.save()
        faults[1].mutableSetValue(forKey: "tags").add(Tag(context: other))
        other.delete(faults[0])
        #expect(faults[1].isFault)
        try other.save()
        #expect(try library.sql("SELECT ZTITLE, ZPAGES, (SELECT COUNT(*) FROM Z_1TAGS) FROM ZBOOK") == "old|1|1")
    }

    @Test("asks nobody where nothing was written since, and is read with one statement for all where the newest rows are not at hand")
    func statements() throws {
        for number in 0..<100 { layers.book("\(number)", in: root).pages = 1 }
        try root.save()
        root.reset()
        let other = library.newContext()
        var faults = try other.all(Book.self)
        let none = library.statementsOf { #expect(faults.allSatisfy { $0.pages == 1 }) }
        #expect(none == [])
        other.reset()
        faults = try other.all(Book.self)
        // * Another context changes all of them, and keeps nothing.
        let writer = library.newContext()
        for book in try writer.all(Book.self) { book.pages = 2 }
        try writer.save()
        writer.reset()
        let some = library.statementsOf { #expect(faults.allSatisfy { $0.pages == 2 }) }
        #expect(some.count < 10)
    }

    @Test("in a child has what a context above has changed since, saved or not; also after a refresh, and as a member")
    func changedAbove() throws {
        let book = try savedBook()
        let chapter = Chapter(context: root)
        (chapter.heading, chapter.book) = ("old", book)
        try root.save()
        let fault = try #require(layers.worker.all(Book.self).first)
        (book.title, book.author) = ("root's", nil)
        layers.main.own(book).pages = 4
        #expect(fault.isFault && fault.title == "root's" && fault.author == nil && fault.pages == 4)

        layers.worker.refresh(fault, mergeChanges: false)
        layers.main.own(book).title = "main's"
        #expect(fault.title == "main's")

        let member = try #require(layers.worker.own(book).chapters.first)
        #expect(member.isFault)
        chapter.heading = "root's"
        #expect(member.heading == "root's")
    }

    @Test("in a child is gone where a context above has deleted it since")
    func deletedAbove() throws {
        let book = try savedBook()
        let faults = [try #require(layers.worker.all(Book.self).first), try #require(layers.main.all(Book.self).first)]
        root.delete(book)
        for fault in faults { #expect(fault.isFault && fault.title == nil && fault.isDeleted) }
    }

    @Test("in a child has what came up into a context while that was saving, or what was there before where that was rolled back")
    func rolledBackAbove() throws {
        let book = try savedBook()
        layers.main.own(book).title = "draft"
        let fault = try #require(layers.worker.all(Book.self).first)
        layers.main.rollback()
        #expect(fault.isFault && fault.title == "old")
    }

    @Test("in a child asks the contexts above once for a hundred objects")
    func askedOnce() throws {
        for number in 0..<100 { layers.book("\(number)", in: root).pages = 1 }
        try root.save()
        root.reset()
        let faults = try layers.main.all(Book.self, sortedBy: "title")
        let known = root.own(faults[3])
        known.pages = 2
        let statements = library.statementsOf { #expect(faults.map(\.pages).reduce(0, +) == 101) }
        #expect(statements == [])
        #expect(faults[3].pages == 2)
    }
}
