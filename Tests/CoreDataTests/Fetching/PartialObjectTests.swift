import Foundation
import Testing

@testable import CoreData

@Suite("Objects of which a fetch asks for some properties")
struct PartialObjectTests {
    let library: Library

    init() throws {
        library = try Library()
        let context = try library.separateContext()
        for number in 0..<200 {
            let (book, author) = (Book(context: context), Author(context: context))
            (book.title, book.author, author.name, book.pages) = ("\(1000 + number)", author, "\(number)", Int32(number))
        }
        try context.save()
    }

    private func request(_ properties: [Any] = ["title"]) -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        (request.propertiesToFetch, request.sortDescriptors) = (properties, [NSSortDescriptor(key: "title", ascending: true)])
        return request
    }

    @Test("are faults that hold those, and read no other column")
    func holding() throws {
        let context = library.newContext()
        var books: [Book] = []
        let fetch = try library.statements { books = try context.fetch(request()) }
        #expect(fetch.count == 1 && fetch[0].contains("ZTITLE") && !fetch[0].contains("ZPAGES") && !fetch[0].contains("ZAUTHOR"))
        let reading = library.statements {
            #expect(books.map(\.title) == (1000..<1200).map { "\($0)" })
            #expect(books[7].value(forKey: "title") as? String == "1007" && books[7].primitiveValue(forKey: "title") as? String == "1007")
            #expect(books.count(where: \.isFault) == 200)
        }
        #expect(reading == [])
        #expect(try context.explain(request()).statements[0].sql == fetch[0])
    }

    @Test("read the rest when it is asked for, with their neighbours")
    func filling() throws {
        let context = library.newContext()
        let books = try context.fetch(request())
        let statements = library.statements {
            #expect(books.map(\.pages) == (0..<200).map(Int32.init))
            #expect(books.map(\.title) == (1000..<1200).map { "\($0)" })
        }
        // Runs of 1, 8, 64 and 127 rows.
        #expect(statements.count == 4)
        #expect(books.allSatisfy { !$0.isFault })
    }

    @Test("lead to what they refer to, and hold nil and references")
    func references() throws {
        let other = library.newContext()
        let book = try #require(other.fetch(request()).first)
        (book.isbn, book.author) = (nil, nil)
        try other.save()
        let context = library.newContext()
        let books = try context.fetch(request(["isbn", "author"]))
        let reading = library.statements {
            #expect(books[0].isbn == nil && books[0].author == nil && books[0].value(forKey: "author") == nil)
            #expect(books[1].author?.isFault == true)
        }
        #expect(reading == [])
        #expect(books[1].author?.name == "1")
        #expect(books.dropFirst().count(where: \.isFault) == 199)
    }

    @Test("are edited and saved as any other, and nothing of them is lost")
    func editing() throws {
        let context = library.newContext()
        let books = try context.fetch(request())
        books[3].title = "changed"
        #expect(books[3].pages == 3 && books[3].author?.name == "3" && books[3].changedValues().keys.sorted() == ["title"])
        context.delete(books[4])
        try context.save()
        let reader = library.newContext()
        let after = try reader.fetch(NSFetchRequest<Book>(entityName: "Book"))
        let found = try #require(after.first { $0.title == "changed" })
        #expect(after.count == 199 && !after.contains { $0.title == "1004" })
        #expect(found.pages == 3 && found.author?.name == "3")
    }

    @Test("hold values until something is saved, refreshed or merged", arguments: ["save", "refresh", "merge", "reset"])
    func staleness(_ event: String) throws {
        let (context, other) = (library.newContext(), library.newContext())
        let book = try context.fetch(request())[5]
        #expect(book.title == "1005")
        if event == "save" {
            try other.fetch(request())[5].title = "new"
            try other.save()
        } else {
            // Behind the coordinator's back.
            let outsider = try library.separateContext()
            try outsider.fetch(request())[5].title = "new"
            try outsider.save()
            #expect(book.title == "1005" && book.isFault)
            switch event {
            case "refresh": context.refresh(book, mergeChanges: false)
            case "merge":
                let changes = [NSUpdatedObjectsKey: [book.objectID]]
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
            default: context.refreshAllObjects()
            }
        }
        #expect(book.title == "new")
    }

    @Test("count with unsaved changes, in order")
    func pending() throws {
        let context = library.newContext()
        let kept = try context.fetch(request())[10]
        kept.title = "0999"
        let new = Book(context: context)
        new.title = "1000 b"
        let books = try context.fetch(request())
        #expect(books.map(\.title).prefix(4) == ["0999", "1000", "1000 b", "1001"] && books.count == 201)
        #expect(books[0] === kept && books[0].pages == 10 && books[2] === new && books[3].pages == 1)
    }

    @Test("keep what the context has of them, and take rows that others have read")
    func known() throws {
        let context = library.newContext()
        let whole = try context.fetch(NSFetchRequest<Book>(entityName: "Book")).filter { ($0.pages) < 5 }
        let books = try context.fetch(request())
        let reading = library.statements { #expect(books.prefix(5).map(\.pages) == [0, 1, 2, 3, 4]) }
        #expect(reading == [] && Set(books.prefix(5)) == Set(whole))
        // Rows that are known show what was saved last, whatever they hold.
        let other = library.newContext()
        let partial = try other.fetch(request())
        let readingKnown = library.statements { #expect(partial[3].pages == 3) }
        #expect(readingKnown == [])
    }

    @Test("are whole below a parent, with prefetching and without faults")
    func whole() throws {
        let child = Layers.child(of: library.newContext(), "child")
        #expect(try child.fetch(request()).map(\.pages).last == 199)
        let (request, context) = (request(), library.newContext())
        request.relationshipKeyPathsForPrefetching = ["author"]
        let books = try context.fetch(request)
        let reading = library.statements { #expect(books.map(\.author?.name).last == "199") }
        #expect(reading == [])
        (request.returnsObjectsAsFaults, request.relationshipKeyPathsForPrefetching) = (false, nil)
        let fired = try library.newContext().fetch(request)
        #expect(fired.allSatisfy { !$0.isFault } && fired.map(\.pages).last == 199)
    }

    @Test("are refused properties that there are not, and expressions")
    func refusals() throws {
        let expression = NSExpressionDescription()
        (expression.name, expression.expression) = ("count", NSExpression(forKeyPath: "title"))
        for properties: [Any] in [["titel"], [expression], ["author.name"], [7]] {
            let error = #expect(throws: CocoaError.self) { try library.newContext().fetch(request(properties)) }
            #expect(error?.code.rawValue == 134060 && "\(error as Any)".contains("Book"))
        }
        let (context, none) = (library.newContext(), request([]))
        let books = try context.fetch(none)
        #expect(books.map(\.pages) == (0..<200).map(Int32.init))
    }
}
