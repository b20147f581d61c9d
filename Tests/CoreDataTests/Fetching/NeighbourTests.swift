import Foundation
import Testing

@testable import CoreData

@Suite("Relationships used in a loop over a fetched result")
struct NeighbourTests {
    let library: Library

    /// 300 books, each of an author of its own, with two tags of 300.
    init() throws {
        library = try Library()
        let context = try library.separateContext()
        let tags = (0..<300).map { number in
            let tag = Tag(context: context)
            tag.label = "\(number)"
            return tag
        }
        for number in 0..<300 {
            let (book, author) = (Book(context: context), Author(context: context))
            (book.title, author.name, book.author) = ("\(1000 + number)", "author \(number)", author)
            book.tags = [tags[number], tags[(number + 1) % 300]]
        }
        try context.save()
    }

    @Test("cost a statement for each batch of rows, not for each object")
    func statements() throws {
        let context = library.newContext()
        let books = try context.all(Book.self, sortedBy: "title")
        let toOne = library.statements { for book in books { #expect(book.author?.name?.hasPrefix("author") == true) } }
        #expect(toOne.count <= 7)
        let toMany = library.statements { for book in books { #expect(book.tags.count == 2) } }
        #expect(toMany.count <= 7)
        let authors = books.compactMap(\.author)
        let statements5 = library.statements { for author in authors.reversed() { #expect(author.books.count == 1) } }
        #expect(statements5.count <= 30)
    }

    @Test("in any order, of many batches, read each batch once")
    func shuffled() throws {
        let context = library.newContext()
        let books = try context.all(Book.self, sortedBy: "title")
        let order = (0..<300).map { ($0 * 7) % 300 }
        let statements = library.statements { for index in order { #expect(books[index].author?.name == "author \(index)") } }
        #expect(statements.count <= 12)
    }

    // * What docs/guides/Fetching.md says.
    @Test("of 600 objects with one to-one each run as many statements as the guide says")
    func guideNumber() throws {
        let other = try library.separateContext()
        for number in 300..<600 {
            let (book, author) = (Book(context: other), Author(context: other))
            (book.title, author.name, book.author) = ("\(1000 + number)", "author \(number)", author)
        }
        try other.save()
        let context = library.newContext()
        let books = try context.all(Book.self, sortedBy: "title")
        let statements = library.statements { for book in books { #expect(book.author?.name != nil) } }
        #expect(books.count == 600 && statements.count == 9, "\(statements.count)")
    }

    @Test("may be several at once, through children too")
    func several() throws {
        let child = Layers.child(of: Layers.child(of: library.newContext(), "middle"), "child")
        let books = try child.all(Book.self, sortedBy: "title")
        let statements = library.statements {
            for book in books {
                let (author, tags) = (book.author, book.tags)
                #expect(author?.name != nil && author?.desk == nil && author?.books == [book] && tags.count == 2)
            }
        }
        #expect(statements.count <= 40)
    }

    @Test("read one object alone, and show no relationship as read that was not used")
    func alone() throws {
        let context = library.newContext()
        let books = try context.all(Book.self, sortedBy: "title")
        let alone = library.store.counter.count
        _ = books[40].tags
        #expect(library.store.counter.count == alone + 1 && context.registeredObjects.count == 302)
        _ = books[41].tags
        #expect(books[42].hasFault(forRelationshipNamed: "tags") && context.registeredObjects.count == 303)
    }

    @Test("are as the stores have them when they are used, whatever others have saved since their neighbours were")
    func savedMeanwhile() throws {
        let (context, other) = (library.newContext(), library.newContext())
        let books = try context.all(Book.self, sortedBy: "title")
        for book in books[0..<200] { _ = (book.tags, book.author?.name) }
        let theirs = try other.all(Book.self, sortedBy: "title")
        theirs[199 + 1].tags = []
        theirs[201].author?.name = "renamed"
        try other.save()
        #expect(books[200].tags.isEmpty && books[201].author?.name == "renamed")
        #expect(books[202].tags.count == 2)
    }

    @Test("count what was changed and not saved")
    func pending() throws {
        let context = library.newContext()
        let books = try context.all(Book.self, sortedBy: "title")
        for book in books[0..<100] { _ = book.tags }
        let (new, gone) = (Tag(context: context), try #require(books[101].tags.first))
        new.label = "new"
        books[101].tags.insert(new)
        books[102].mutableSetValue(forKey: "tags").add(new)
        context.delete(gone)
        context.processPendingChanges()
        #expect(books[101].tags.contains(new) && books[101].tags.count == 2 && books[102].tags.contains(new))
        #expect(books.allSatisfy { !$0.tags.contains(gone) })
    }
}
