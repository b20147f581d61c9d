import Foundation
import Testing

@testable import CoreData

@Suite("A fetch with relationshipKeyPathsForPrefetching")
struct PrefetchingTests {
    let layers: Layers
    var library: Library { layers.library }

    /// 600 books of 20 authors, who have 2 bosses; three chapters and two of ten tags each.
    init() throws {
        layers = try Layers()
        let context = try library.separateContext()
        let bosses = (0..<2).map { number in Author.named("boss \(number)", context) }
        let authors = (0..<20).map { number in
            let author = Author.named("author \(number)", context)
            author.boss = bosses[number % 2]
            return author
        }
        let tags = (0..<10).map { number in
            let tag = Tag(context: context)
            tag.label = "tag \(number)"
            return tag
        }
        for number in 0..<600 {
            let book = Book(context: context)
            (book.title, book.author) = ("book \(number)", authors[number % 20])
            book.tags = [tags[number % 10], tags[(number + 1) % 10]]
            for heading in ["a", "b", "c"] {
                let chapter = Chapter(context: context)
                (chapter.heading, chapter.book) = (heading, book)
            }
        }
        try context.save()
    }

    private func fetch(_ paths: [String], in context: NSManagedObjectContext) throws -> [Book] {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.relationshipKeyPathsForPrefetching = paths
        return try context.fetch(request)
    }

    @Test("reads to-one, to-many, many-to-many and ordered relationships, of any depth, with one statement each")
    func everyKind() throws {
        let context = library.newContext()
        var books: [Book] = []
        let fetching = try library.statements { books = try fetch(["author.boss", "tags", "chapters"], in: context) }
        #expect(fetching.count == 5)
        let reading = library.statements {
            for book in books {
                #expect(book.isFault)
                #expect(book.author?.name?.hasPrefix("author") == true && book.author?.boss?.name?.hasPrefix("boss") == true)
                #expect(book.tags.count == 2 && book.tags.allSatisfy { $0.label != nil })
                #expect(book.chapters.map(\.heading) == ["a", "b", "c"])
            }
        }
        #expect(reading == [])
    }

    @Test("reads a level below to-many relationships with one statement too")
    func belowToMany() throws {
        let context = library.newContext()
        let request = NSFetchRequest<Author>(entityName: "Author")
        request.relationshipKeyPathsForPrefetching = ["books.tags", "books.chapters", "reports.books"]
        var authors: [Author] = []
        #expect(try library.statements { authors = try context.fetch(request) }.count == 5)
        let reading = library.statements {
            for author in authors {
                for book in author.books { #expect(book.tags.count == 2 && book.chapters.count == 3) }
                for case let report as Author in author.reports { #expect(report.books.count == 30) }
            }
        }
        #expect(reading == [])
    }

    @Test("reads nothing that is at hand already")
    func atHand() throws {
        let context = library.newContext()
        let books = try fetch(["author", "tags"], in: context)
        var found: [Book] = []
        let again = try library.statements { found = try fetch(["author", "tags"], in: context) }
        #expect(again.count == 1 && found == books)
        // * Another context finds the authors' rows in the row cache; which tags a book has, nobody knows there.
        let other = library.newContext()
        #expect(try library.statements { _ = try fetch(["author"], in: other) }.count == 1)
        #expect(try library.statements { _ = try fetch(["author", "tags"], in: other) }.count == 2)
    }

    @Test("goes through parents, and sees their unsaved changes")
    func throughParents() throws {
        let book = try #require(layers.root.all(Book.self, sortedBy: "title").first)
        let (chapter, author) = (Chapter(context: layers.main), Author.named("unsaved", layers.main))
        let mine = try #require(layers.main.existingObject(with: book.objectID) as? Book)
        (chapter.heading, chapter.book, mine.author) = ("d", mine, author)
        var books: [Book] = []
        let paths = ["author.boss", "tags", "chapters"]
        let fetching = try library.statements { books = try fetch(paths, in: layers.worker) }
        #expect(fetching.count <= 6)
        let reading = library.statements {
            for book in books {
                let isChanged = book.objectID == mine.objectID
                #expect(isChanged ? book.author?.name == "unsaved" : book.author?.boss?.name != nil)
                #expect(book.tags.count == 2)
                #expect(book.chapters.map(\.heading) == (isChanged ? ["a", "b", "c", "d"] : ["a", "b", "c"]))
            }
        }
        #expect(reading == [])
    }

    @Test("reads what only a subentity has, and takes results that are not in a store")
    func subentities() throws {
        let context = library.newContext()
        let new = Author.named("new", context)
        new.boss = try context.all(Author.self, sortedBy: "name").first
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.relationshipKeyPathsForPrefetching = ["books", "boss"]
        var people: [Person] = []
        #expect(try library.statements { people = try context.fetch(request) }.count == 2)
        #expect(people.count == 23)
        #expect(library.statements { for case let author as Author in people { _ = (author.books.count, author.boss?.name) } } == [])
    }

    @Test("tells owners of two stores apart that have one key")
    func twoStores() throws {
        let url = library.home.url("Other.sqlite")
        try library.coordinator.addPersistentStore(ofType: library.kind.type, configurationName: nil, at: url, options: nil)
        let other = try #require(library.coordinator.persistentStore(for: url))
        let writer = library.newContext()
        let book = Book(context: writer)
        let chapters = ["other a", "other b"].map { heading in
            let chapter = Chapter(context: writer)
            (chapter.heading, chapter.book) = (heading, book)
            return chapter
        }
        for object in [book] + chapters { writer.assign(object, to: other) }
        book.title = "of the other store"
        try writer.save()
        let context = library.newContext()
        let books = try fetch(["chapters"], in: context)
        // => As many keys are in both stores as the other has books.
        #expect(books.count == 601)
        for book in books {
            let isOther = book.objectID.persistentStore === other
            #expect(book.chapters.map(\.heading) == (isOther ? ["other a", "other b"] : ["a", "b", "c"]))
        }
    }

    @Test("holds as many members as there are, few or many", arguments: [0, 1, 2, 3, 15, 16, 17, 18, 300])
    func memberCounts(_ count: Int) throws {
        let writer = try library.separateContext()
        let author = Author.named("prolific", writer)
        for number in 0..<count {
            let book = Book(context: writer)
            (book.title, book.author) = ("p\(number)", author)
        }
        try writer.save()
        let context = library.newContext()
        let request = NSFetchRequest<Author>(entityName: "Author")
        request.predicate = NSPredicate(format: "name == 'prolific'")
        request.relationshipKeyPathsForPrefetching = ["books"]
        let found = try #require(try context.fetch(request).first)
        #expect(found.books.count == count && Set(found.books.compactMap(\.title)).count == count)
        let first = found.books.first
        let extra = Book(context: context)
        (extra.title, extra.author) = ("extra", found)
        #expect(found.books.count == count + 1 && found.books.contains(extra))
        first?.author = nil
        #expect(found.books.count == (count == 0 ? 1 : count) && first.map(found.books.contains) != true)
    }

    @Test("lets go of what it has read with its results")
    func released() throws {
        let context = library.newContext()
        var books = try fetch(["author.boss", "tags"], in: context)
        #expect(context.registeredObjects.count > books.count)
        context.refreshAllObjects()
        books = []
        #expect(context.registeredObjects.isEmpty)
    }

    @Test("refuses a key path along no relationship, naming it and the entity", arguments: ["author.title", "autor", "", "tags."])
    func wrongPath(_ path: String) throws {
        let context = library.newContext()
        let error = #expect(throws: CocoaError.self) { try fetch([path], in: context) }
        let text = try #require(error?.localizedDescription)
        #expect(error?.code == .coreData && text.contains("“\(path)”"))
        #expect(text.contains(path == "author.title" ? "Author" : path == "tags." ? "Tag" : "Book"))
    }
}

extension Author {
    fileprivate static func named(_ name: String, _ context: NSManagedObjectContext) -> Author {
        let author = Author(context: context)
        author.name = name
        return author
    }
}
