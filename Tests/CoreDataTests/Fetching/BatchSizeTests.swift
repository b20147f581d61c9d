import Foundation
import Testing

@testable import CoreData

@Suite("A fetch whose rows are read later")
struct BatchSizeTests {
    let library: Library

    init() throws {
        library = try Library()
        let context = try library.separateContext()
        for number in 0..<200 {
            let (book, author) = (Book(context: context), Author(context: context))
            (book.title, book.author, author.name) = ("\(1000 + (number * 7) % 200)", author, "\(number)")
        }
        try context.save()
    }

    private var request: NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }

    private func readCount(_ books: [Book]) -> Int { books.count { !$0.state.contains(.rowless) } }

    @Test("reads fetchBatchSize rows in the order of the results, when the first of them is used", arguments: [0, 1, 3])
    func batches(_ parents: Int) throws {
        var context = library.newContext()
        for number in 0..<parents { context = Layers.child(of: context, "\(number)") }
        let request = request
        request.fetchBatchSize = 30
        var books: [Book] = []
        #expect(try library.statements { books = try context.fetch(request) }.count == 1)
        #expect(books.count == 200 && readCount(books) == 0 && books.allSatisfy(\.isFault))
        let statements1 = library.statements { #expect(books[35].title == "1035") }
        #expect(statements1.count == 1)
        #expect(readCount(books) == 30 && !books[30].state.contains(.rowless) && !books[59].state.contains(.rowless))
        let statements2 = library.statements { for book in books { #expect(book.title?.first == "1") } }
        #expect(statements2.count == 6)
        #expect(books.map(\.title) == (1000..<1200).map { "\($0)" })
    }

    @Test("reads relationships along batch by batch")
    func prefetching() throws {
        let context = library.newContext()
        let request = request
        (request.fetchBatchSize, request.relationshipKeyPathsForPrefetching) = (50, ["author"])
        var books: [Book] = []
        #expect(try library.statements { books = try context.fetch(request) }.count == 1)
        let statements3 = library.statements { for book in books { #expect(book.author?.name != nil) } }
        #expect(statements3.count == 8)
    }

    @Test("without property values reads identities, and rows together when they are used")
    func identities() throws {
        let context = library.newContext()
        let request = request
        request.includesPropertyValues = false
        let books = try context.fetch(request)
        #expect(readCount(books) == 0)
        let statements4 = library.statements { for book in books { #expect(book.title != nil) } }
        #expect(statements4.count == 2)
    }

    @Test("has unsaved changes, and keeps objects that are there")
    func pending() throws {
        let context = library.newContext()
        let kept = try #require(context.fetch(request).first)
        let (new, request) = (Book(context: context), request)
        (new.title, kept.title) = ("1000 b", "1000 a")
        (request.fetchBatchSize, request.predicate) = (10, NSPredicate(format: "title < '1010'"))
        #expect(try context.fetch(request).map(\.title).prefix(3) == ["1000 a", "1000 b", "1001"])
        request.sortDescriptors = nil
        var books: [Book] = []
        #expect(try library.statements { books = try context.fetch(request) }.count == 1)
        #expect(Set(books.map { $0.title ?? "" }) == Set(["1000 a", "1000 b"] + (1001..<1010).map { "\($0)" }))
        #expect(books.contains(kept) && books.contains(new))
    }

    // * A context has faults, some with rows and some whose rows another context of its coordinator has; another coordinator changes them.
    // => A fetch shows the new values, with a batch size as without one; what was used here stays.
    @Test("shows what others have saved, in faults that the context had already", arguments: [0, 30])
    func changedByOthers(batchSize: Int) throws {
        let (context, reader) = (library.newContext(), library.newContext())
        let read = try reader.fetch(request)
        let found = try context.fetch(request).prefix(100)
        let books = try read.map { try #require(context.object(with: $0.objectID) as? Book) }
        let used = books[97].title
        let other = try library.separateContext()
        for book in try other.fetch(request) { book.title = "new \(book.title ?? "")" }
        try other.save()
        let request = request
        request.fetchBatchSize = batchSize
        let titles = try context.fetch(request).map(\.title)
        #expect(titles.count == 200 && titles.count { $0?.hasPrefix("new 1") == true } == 199)
        #expect(used == "1097" && titles.contains(used))
        withExtendedLifetime((read, found, books)) {}
    }

    @Test("gives inaccessible faults for rows that are gone, and survives changes of what it has not read")
    func gone() throws {
        let (context, other) = (library.newContext(), library.newContext())
        let request = request
        request.fetchBatchSize = 20
        let books = try context.fetch(request)
        for book in try other.fetch(self.request).prefix(2) { other.delete(book) }
        try other.save()
        books[1].setValue(nil, forKey: "author")
        books[2].pages = 3
        books[3].mutableSetValue(forKey: "tags").add(Tag(context: context))
        #expect(books[0].title == nil && books[0].isDeleted)
        context.delete(books[4])
        context.refresh(books[5], mergeChanges: false)
        #expect(books[5].title == "1005" && books[6].title == "1006")
        context.rollback()
        #expect(books[4].title == "1004")
        context.reset()
        #expect(books[7].title == nil)
    }

    @Test("goes through a result with no more objects alive than a batch has, in order")
    func bounded() throws {
        let context = library.newContext()
        let request = request
        (request.fetchBatchSize, request.relationshipKeyPathsForPrefetching) = (25, ["author"])
        var (titles, most) = ([String?](), 0)
        let statements = try library.statements {
            for book in try context.objects(of: request) {
                titles.append(book.title)
                #expect(book.author?.name != nil)
                most = max(most, context.registeredObjects.count)
            }
        }
        #expect(titles == (1000..<1200).map { "\($0)" } && most <= 51 && statements.count == 17)
        #expect(context.registeredObjects.isEmpty)
        // * With unsaved changes among them.
        let new = Book(context: context)
        new.title = "1099 b"
        #expect(try context.objects(of: request).map(\.title)[99...101] == ["1099", "1099 b", "1100"])
        #expect(try context.objects(of: request).count == 201)
    }
}
