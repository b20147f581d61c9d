import CoreData
import Foundation
import Testing

@Suite("Reading a to-many relationship")
struct ToManyReadingTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func saveAuthor(books count: Int) throws {
        let author = Author(context: context)
        author.name = "A"
        for number in 0..<count {
            let book = Book(context: context)
            book.title = "\(number)"
            book.author = author
        }
        try context.save()
    }

    @Test("is one statement for 500 targets, and firing each of them runs none")
    func oneStatement() throws {
        try saveAuthor(books: 500)
        let other = library.newContext()
        let author = try other.only(Author.self, "Author")
        let reading = library.statementsOf { _ = author.books }
        #expect(reading.count == 1)
        #expect(author.books.count == 500)
        let firing = library.statementsOf { for book in author.books { #expect(book.title != nil && book.author === author) } }
        #expect(firing == [])
    }

    @Test("takes unsaved additions, removals and deletes into account that were made before it was read")
    func pendingBeforeReading() throws {
        try saveAuthor(books: 4)
        let other = library.newContext()
        let author = try other.only(Author.self, "Author")
        let books = try other.all(Book.self, "Book", by: "title")
        let new = Book(context: other)
        new.title = "new"
        let edits = library.statementsOf {
            author.addToBooks(new)
            author.removeFromBooks(books[0])
            books[1].author = nil
            author.addToBooks(books[2])
        }
        #expect(edits == [])
        #expect(author.hasFault(forRelationshipNamed: "books"))
        other.delete(books[3])
        other.processPendingChanges()
        #expect(author.books == [new, books[2]])
        #expect(books[0].author == nil)
        try other.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK WHERE ZAUTHOR IS NOT NULL ORDER BY 1") == "2\nnew")
        #expect(author.books == [new, books[2]])
    }

    @Test("adding and removing a member that is in already, unread, ends without it")
    func addedAndRemoved() throws {
        try saveAuthor(books: 1)
        let other = library.newContext()
        let author = try other.only(Author.self, "Author")
        let book = try other.only(Book.self, "Book")
        author.addToBooks(book)
        author.removeFromBooks(book)
        #expect(book.author == nil)
        #expect(author.books.isEmpty)
        author.addToBooks(book)
        #expect(author.books == [book] && book.author === author)
    }

    @Test("of a new object runs no statement")
    func newOwner() throws {
        let author = Author(context: context)
        let statements = library.statementsOf { #expect(author.books.isEmpty && author.reports.isEmpty) }
        #expect(statements == [])
        #expect(author.changedValues().isEmpty)
        #expect(author.hasFault(forRelationshipNamed: "books") == false)
    }
}
