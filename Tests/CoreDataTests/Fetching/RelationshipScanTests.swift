import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

/// Of 2,400 authors some have bosses and books; the books' rows, and those of their chapters, stand in an order that has nothing to do with whose
/// they are.
@Suite("Prefetching a to-many relationship of most objects that there are")
struct RelationshipScanTests {
    let library: Library

    init() throws {
        library = try Library()
        let context = try library.separateContext()
        var generator = SplitMix(state: 11)
        let authors = (0..<2_400).map { number in
            let author = Author(context: context)
            author.name = "author \(number)"
            return author
        }
        for author in authors.dropFirst(1_400) { author.boss = authors[Int.random(in: 0..<100, using: &generator)] }
        try context.save()
        let books = (0..<1_800).shuffled(using: &generator).map { number in
            let book = Book(context: context)
            (book.title, book.author) = ("book \(number)", number < 1_700 ? authors[number % 1_000] : nil)
            return book
        }
        try context.save()
        for number in 0..<4_000 {
            let chapter = Chapter(context: context)
            (chapter.heading, chapter.book) = ("chapter \(number)", books[Int.random(in: 0..<1_500, using: &generator)])
        }
        for number in 0..<100 { context.delete(authors[1_000 + number * 7]) }
        try context.save()
    }

    /// The statements that prefetching has run, and whether each object shows the members that it shows where objects are read one by one.
    private func prefetch<Owner: NSManagedObject>(
        _ type: Owner.Type,
        _ key: String,
        limit: Int = 0,
        _ members: (Owner) -> [String]
    ) throws -> [String] {
        let request = NSFetchRequest<Owner>(entityName: "\(type)")
        (request.sortDescriptors, request.fetchLimit) = ([NSSortDescriptor(key: "self", ascending: true)], limit)
        let (context, other) = (library.newContext(), try library.separateContext())
        let others = try other.fetch(request).map(members)
        request.relationshipKeyPathsForPrefetching = [key]
        var owners: [Owner] = []
        let statements = try library.statements { owners = try context.fetch(request) }
        var shown: [[String]] = []
        #expect(library.statements { shown = owners.map(members) } == [])
        #expect(shown == others && shown.joined().count > 500)
        return Array(statements.dropFirst())
    }

    private func passesOver(_ statement: String) -> Bool { statement.contains(Connection.sinkName) }

    @Test("passes over the members' rows once, and gives each owner its own")
    func unordered() throws {
        let statements = try prefetch(Author.self, "books") { $0.books.compactMap(\.title).sorted() }
        #expect(statements.map(passesOver) == [true])
    }

    @Test("keeps the order of ordered relationships")
    func ordered() throws {
        let statements = try prefetch(Book.self, "chapters") { $0.chapters.compactMap(\.heading) }
        #expect(statements.map(passesOver) == [true])
    }

    @Test("reads a relationship within one table, where others have rows too")
    func ownTable() throws {
        let statements = try prefetch(Person.self, "reports") { $0.reports.compactMap(\.name).sorted() }
        #expect(statements.map(passesOver) == [true])
    }

    @Test("looks members up where others have most of the rows, or the owners are few")
    func someOwners() throws {
        let some = try prefetch(Author.self, "books", limit: 1_000) { $0.books.compactMap(\.title).sorted() }
        #expect(some.map(passesOver) == [true, false])
        let few = try prefetch(Author.self, "books", limit: 900) { $0.books.compactMap(\.title).sorted() }
        #expect(few.map(passesOver) == [false])
    }
}
