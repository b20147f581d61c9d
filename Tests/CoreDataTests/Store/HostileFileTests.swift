import Foundation
import Testing

@testable import CoreData

@Suite("A store that others wrote into")
struct HostileFileTests {
    private func makeLibrary(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        let (person, author, book) = (Person(context: library.context), Author(context: library.context), Book(context: library.context))
        (person.name, author.name, author.penName, book.title) = ("person", "author", "pen", "book")
        book.author = author
        try library.context.save()
        return library
    }

    @Test("with a reference to a row of another entity gives an object without values, whoever came first", arguments: StoreKind.allCases)
    func wrongTarget(kind: StoreKind) throws {
        let library = try makeLibrary(kind)
        _ = try library.sql("UPDATE ZBOOK SET ZAUTHOR = (SELECT Z_PK FROM ZPERSON WHERE ZNAME = 'person')")
        for comesFirst in [true, false] {
            let context = try library.separateContext()
            let people = comesFirst ? try context.all(Person.self, "Person") : []
            _ = people.map(\.name)
            let book = try #require(try context.all(Book.self, "Book").first)
            #expect(book.author?.penName == nil)
            #expect(book.author?.name == nil)
            // => The person itself is whole.
            #expect(try Set(context.all(Person.self, "Person").map(\.name)) == ["person", "author"])
            #expect(try context.all(Author.self, "Author").map(\.name) == ["author"])
        }
    }

    @Test("with a URI that names the wrong entity finds nothing, and harms nothing", arguments: StoreKind.allCases)
    func wrongURI(kind: StoreKind) throws {
        let library = try makeLibrary(kind)
        let context = try library.separateContext()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let keys = try library.sql("SELECT group_concat(Z_PK) FROM (SELECT Z_PK FROM ZPERSON ORDER BY ZNAME)").split(separator: ",")
        let store = try #require(coordinator.persistentStores.first?.identifier)
        let author = try #require(coordinator.managedObjectID(for: "x-coredata://\(store)/Author/p\(keys[1])"))
        cocoaError(133000) { try context.existingObject(with: author) }
        let person = try #require(coordinator.managedObjectID(for: "x-coredata://\(store)/Person/p\(keys[0])"))
        let ghost = context.object(with: person)
        let authors = try context.all(Author.self, "Author")
        #expect(authors.map(\.penName) == ["pen"])
        #expect(authors[0] !== ghost)
        #expect(try Set(context.all(Person.self, "Person").map(\.name)) == ["person", "author"])
    }

    @Test("with a row of no entity throws, and does not trap", arguments: StoreKind.allCases)
    func unknownEntity(kind: StoreKind) throws {
        let library = try makeLibrary(kind)
        _ = try library.sql("UPDATE ZPERSON SET Z_ENT = 99 WHERE ZNAME = 'person'")
        cocoaError(134020) { try library.separateContext().all(Person.self, "Person") }
        _ = try library.sql("UPDATE ZPERSON SET Z_ENT = NULL WHERE ZNAME = 'person'")
        cocoaError(134020) { try library.separateContext().all(Person.self, "Person") }
    }

    @Test("with values of other types than the columns' is read somehow", arguments: StoreKind.allCases)
    func wrongTypes(kind: StoreKind) throws {
        let library = try makeLibrary(kind)
        _ = try library.sql(
            """
            UPDATE ZBOOK SET ZTITLE = x'ff00fe41', ZPAGES = 99999999999, ZPRICE = 'abc', ZPUBLISHED = 'x', ZISLENT = 7, ZCOVER = 'text', ZISBN = x'01',
            ZCOPIES = 1.5, ZWEIGHT = 1e300, ZAUTHOR = 'nobody'
            """
        )
        let context = try library.separateContext()
        let book = try #require(try context.all(Book.self, "Book").first)
        #expect(book.title?.contains("A") == true)
        #expect(book.isLent && book.price == 0 && book.cover == Data("text".utf8) && book.copies == 1)
        #expect(book.weight == .infinity)
        _ = (book.pages, book.isbn, book.published, book.author?.name)
        book.title = "mended"
        try context.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "mended")
    }

    @Test("with references to rows that are gone gives objects without values", arguments: StoreKind.allCases)
    func dangling(kind: StoreKind) throws {
        let library = try makeLibrary(kind)
        _ = try library.sql("DELETE FROM ZPERSON; INSERT INTO Z_1TAGS VALUES(1, 77)")
        let context = try library.separateContext()
        let book = try #require(try context.all(Book.self, "Book").first)
        #expect(book.author?.name == nil)
        #expect(book.tags.isEmpty)
    }
}
