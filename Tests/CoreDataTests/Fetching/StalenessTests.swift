import Foundation
import Testing

@testable import CoreData

@Suite("The age of cached rows", .serialized)
struct StalenessTests {
    private let library: Library
    private let reader: NSManagedObjectContext
    private let id: NSManagedObjectID

    init() throws {
        library = try Library(.file)
        reader = library.newContext()
        reader.stalenessInterval = 1000
        id = try library.savedBook("old").objectID
        library.context.reset()
        RowClock.advance(by: 5000)
    }

    /// What another process has saved, of which nobody here has heard.
    private func saveElsewhere(_ title: String) throws {
        let other = try library.separateContext()
        try other.all(Book.self)[0].title = title
        try other.save()
    }

    /// The title of a book, and how many statements that takes.
    private func read(_ book: Book) -> String {
        var title: String?
        let statements = library.statements { title = book.title }
        return "\(title ?? "nothing") by \(statements.count) statements"
    }

    private func book(_ context: NSManagedObjectContext) throws -> Book { try #require(try context.all(Book.self).first) }

    @Test("fills faults with rows that are young enough, without a statement")
    func young() throws {
        let book = try book(reader)
        try saveElsewhere("new")
        RowClock.advance(by: 900)
        #expect(read(book) == "old by 0 statements")
    }

    @Test("reads a row again when a fault is used whose row is too old, and nothing of objects that were used")
    func old() throws {
        let used = try book(reader)
        #expect(used.title == "old")
        let other = library.newContext()
        other.stalenessInterval = 1000
        let fault = try book(other)
        try saveElsewhere("new")
        RowClock.advance(by: 1100)
        #expect(read(fault) == "new by 1 statements")
        #expect(read(used) == "old by 0 statements")
        reader.refresh(used, mergeChanges: false)
        #expect(used.title == "new")
    }

    @Test("is of no matter without a limit")
    func unlimited() throws {
        let context = library.newContext()
        let book = try book(context)
        try saveElsewhere("new")
        RowClock.advance(by: 100_000)
        #expect(read(book) == "old by 0 statements")
    }

    @Test("is always too high where it may be 0, for children too")
    func never() throws {
        let context = library.newContext()
        context.stalenessInterval = 0
        let book = try book(context)
        try saveElsewhere("new")
        #expect(read(book) == "new by 1 statements")
        let third = library.newContext()
        third.stalenessInterval = 0
        let same = try #require(third.object(with: id) as? Book)
        #expect(read(same) == "new by 1 statements")
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = library.newContext()
        child.stalenessInterval = 0
        let below = try self.book(child)
        try saveElsewhere("newest")
        #expect(below.title == "newest")
    }
}
