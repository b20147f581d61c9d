import Foundation
import Testing

@testable import CoreData

@Suite("What a fetch beside many unsaved changes costs")
struct PendingCostTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func find(_ title: String) throws -> [Book] {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "title == %@", title)
        return try context.fetch(request)
    }

    private func insert(_ title: String) -> Book {
        let book = Book(context: context)
        book.title = title
        return book
    }

    private var evaluationCount: Int { context.tracker.index.evaluationCount }

    @Test("is linear for finding or creating: no object is tested that has another value")
    func findOrCreate() throws {
        for round in 0..<2 {
            for number in 0..<1000 {
                let found = try find("book \(number)")
                #expect(found.count == round)
                if let book = found.first { book.pages += 1 } else { _ = insert("book \(number)") }
            }
        }
        #expect(evaluationCount <= 1200)
        #expect(try find("book 7").first?.pages == 1)
    }

    @Test("is linear for a list of values, and for objects that a to-one relationship leads to")
    func otherConditions() throws {
        let authors = (0..<20).map { _ in Author(context: context) }
        try context.save()
        func find(_ format: String, _ arguments: Any...) throws -> [String?] {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            return try context.fetch(request).map(\.title).sorted { $0 ?? "" < $1 ?? "" }
        }
        for number in 0..<200 {
            let (book, author) = (insert("book \(number)"), authors[number % 20])
            book.author = author
            #expect(try find("title IN %@", ["book \(number)", "none"]) == [book.title])
            #expect(try find("author == %@ AND title == %@", author, "book \(number)") == [book.title])
            #expect(try find("author == %@", author.objectID).count == number / 20 + 1)
        }
        #expect(evaluationCount <= 5_000)
        // * Another author, a deleted one, a new one who is saved meanwhile.
        let (first, new) = (try #require(library.context.insertedObjects.first as? Book), Author(context: context))
        let title = first.title
        first.author = new
        #expect(try find("author == %@", new) == [title])
        try context.obtainPermanentIDs(for: [new])
        #expect(try find("author == %@", new) == [title] && find("author IN %@", [new]) == [title])
        context.delete(new)
        #expect(try find("author == %@", new).isEmpty)
    }

    @Test("is linear in a child too")
    func inChild() throws {
        _ = insert("above")
        let child = Layers.child(of: context, "child")
        let request = NSFetchRequest<Book>(entityName: "Book")
        for round in 0..<2 {
            for number in 0..<200 {
                request.predicate = NSPredicate(format: "title == %@", "book \(number)")
                let found = try child.fetch(request)
                #expect(found.count == round)
                if found.isEmpty { Book(context: child).title = "book \(number)" }
            }
        }
        #expect(child.tracker.index.evaluationCount <= 500)
        // What the contexts above have unsaved counts too.
        request.predicate = NSPredicate(format: "title == 'above'")
        #expect(try child.fetch(request).count == 1 && child.count(for: request) == 1)
        let mine = try #require(child.fetch(request).first)
        mine.title = "book 7"
        #expect(try child.fetch(request).isEmpty)
        request.predicate = NSPredicate(format: "title == 'book 7'")
        #expect(try child.fetch(request).count == 2 && child.count(for: request) == 2)
    }

    @Test("asks no store once the context's own objects are as many as are wanted, and gives each result once, part by part")
    func limits() throws {
        _ = insert("same")
        try context.save()
        for number in 0..<20 { _ = insert(number < 2 ? "same" : "book \(number)") }
        let request = NSFetchRequest<Book>(entityName: "Book")
        (request.predicate, request.fetchLimit) = (NSPredicate(format: "title == 'same'"), 1)
        var found: Set<Book> = []
        let statements = try library.statements {
            found.formUnion(try context.fetch(request))
            request.fetchOffset = 1
            found.formUnion(try context.fetch(request))
        }
        #expect(statements.isEmpty && found.count == 2)
        request.fetchOffset = 2
        found.formUnion(try context.fetch(request))
        #expect(found.count == 3)
        request.fetchOffset = 3
        #expect(try context.fetch(request).isEmpty)
        (request.fetchLimit, request.fetchOffset) = (4, 0)
        #expect(try Set(context.fetch(request)) == found)
    }

    @Test("is linear for UUIDs and dates too")
    func otherKeys() throws {
        func find(_ key: String, _ value: NSObject) throws -> [Book] {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "%K == %@", key, value)
            return try context.fetch(request)
        }
        let ids = (0..<200).map { _ in UUID() }
        for (number, id) in ids.enumerated() {
            let date = Date(timeIntervalSinceReferenceDate: Double(number) / 2)
            #expect(try find("isbn", id as NSUUID).isEmpty && find("published", date as NSDate).isEmpty)
            let book = insert("book \(number)")
            (book.isbn, book.published) = (id, date)
        }
        #expect(try find("isbn", ids[7] as NSUUID).first?.title == "book 7")
        #expect(evaluationCount <= 300)
    }

    @Test("finds a fault of which only a relationship has changed")
    func changedFault() throws {
        let stored = insert("stored")
        try context.save()
        let id = stored.objectID
        context.reset()
        let fault = try #require(context.object(with: id) as? Book)
        let tag = Tag(context: context)
        tag.mutableSetValue(forKey: "books").add(fault)
        for number in 0..<20 { _ = insert("more \(number)") }
        #expect(fault.isFault && fault.isUpdated)
        #expect(try find("stored") == [fault])
        #expect(try find("stored") == [fault])
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "title == 'stored'")
        #expect(try context.count(for: request) == 1)
    }

    @Test("does not grow with the changes of a value")
    func toAndFro() throws {
        let books = (0..<20).map { insert("book \($0)") }
        for round in 0..<500 {
            books[0].title = "even \(round % 2)"
            #expect(try find("even \(round % 2)") == [books[0]] && find("even \((round + 1) % 2)").isEmpty)
        }
        #expect(evaluationCount <= 1000)
        #expect(context.tracker.index.entryCount <= 60)
    }

    @Test("gives nothing that has left, though a deleted object goes on listing it")
    func gone() throws {
        let author = Author(context: context)
        let kept = insert("kept")
        kept.author = author
        try context.save()
        let book = insert("gone")
        book.author = author
        context.processPendingChanges()
        context.delete(author)
        context.processPendingChanges()
        context.delete(book)
        context.processPendingChanges()
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
        #expect(try context.fetch(request).allSatisfy { $0.managedObjectContext === context })
        #expect(try context.count(for: request) == context.fetch(request).count)
    }

    @Test("finds objects by the values that they have now, however they got them")
    func changedValues() throws {
        let saved = (0..<20).map { insert("saved \($0)") }
        try context.save()
        let books = (0..<100).map { insert("book \($0)") }
        #expect(try find("book 5") == [books[5]])
        // * Changed, changed back, changed as a primitive value, deleted.
        (books[5].title, books[6].title, saved[3].title) = ("other", "book 5", "book 5")
        #expect(try Set(find("book 5")) == [books[6], saved[3]] && find("saved 3").isEmpty)
        books[5].title = "book 5"
        #expect(try Set(find("book 5")) == [books[5], books[6], saved[3]])
        books[7].setPrimitiveValue("book 5", forKey: "title")
        context.delete(books[6])
        context.delete(saved[4])
        #expect(try Set(find("book 5")) == [books[5], books[7], saved[3]])
        #expect(try find("saved 4").isEmpty && find("saved 5") == [saved[5]])
        // * A limit counts what is left; so does a count.
        let request = NSFetchRequest<Book>(entityName: "Book")
        (request.predicate, request.fetchLimit) = (NSPredicate(format: "title == 'saved 5' AND pages == nil"), 1)
        #expect(try context.fetch(request) == [saved[5]] && context.count(for: request) == 1)
        saved[5].pages = 1
        #expect(try context.fetch(request).isEmpty && context.count(for: request) == 0)
        // * What is taken back, refreshed, saved.
        context.refresh(saved[3], mergeChanges: false)
        #expect(try find("saved 3") == [saved[3]])
        #expect(try find("book 5").contains(saved[3]) == false)
        try context.save()
        #expect(try Set(find("book 5")) == [books[5], books[7]])
        _ = (0..<20).map { insert("more \($0)") }
        #expect(try find("more 3").count == 1)
        context.rollback()
        #expect(try find("more 3").isEmpty)
        context.reset()
        #expect(try find("book 5").count == 2)
    }

    @Test("is the same with what a child has saved into the context")
    func fromChild() throws {
        let books = (0..<50).map { insert("book \($0)") }
        #expect(try find("book 1") == [books[1]])
        let child = Layers.child(of: context, "child")
        let mine = try #require(child.existingObject(with: books[1].objectID) as? Book)
        mine.title = "changed"
        Book(context: child).title = "book 2"
        try child.save()
        #expect(try find("book 1").isEmpty && find("changed") == [books[1]] && find("book 2").count == 2)
    }

    @Test("compares by what is sorted by once, and sorts no more than the limit asks for, in the same order", arguments: [0, 3, 40])
    func sorted(_ limit: Int) throws {
        for number in 0..<400 { insert("\((number * 37) % 50)").pages = Int32(number % 7) }
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [
            NSSortDescriptor(key: "title", ascending: false, selector: "caseInsensitiveCompare:"),
            NSSortDescriptor(key: "pages", ascending: true),
        ]
        (request.fetchLimit, request.predicate) = (limit, NSPredicate(format: "pages > 1 AND NOT (title == '7')"))
        let unsaved = try context.fetch(request).map { "\($0.title ?? "") \($0.pages)" }
        try context.save()
        #expect(try context.fetch(request).map { "\($0.title ?? "") \($0.pages)" } == unsaved)
        #expect(unsaved.count == (limit > 0 ? limit : 279))
    }
}
