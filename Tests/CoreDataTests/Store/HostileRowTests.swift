import Foundation
import Testing

@testable import CoreData

@Suite("A row that others wrote")
struct HostileRowTests {
    private func makeBook(_ kind: StoreKind, _ sql: String) throws -> (Library, NSManagedObjectContext, Book) {
        let library = try Library(kind)
        let (author, book) = (Author(context: library.context), Book(context: library.context))
        (author.name, book.title, book.author) = ("author", "book", author)
        try library.context.save()
        _ = try library.sql(sql)
        let context = try library.separateContext()
        return (library, context, try #require(try context.all(Book.self, "Book").first))
    }

    static let oddVersions = ["NULL", "'abc'", "x'00'", "1.5", "0.5", "-3"]

    @Test("without a version, or with one that is no integer, takes edits under every policy", arguments: StoreKind.allCases, oddVersions)
    func oddVersion(kind: StoreKind, version: String) throws {
        for policy in NSMergePolicyType.all {
            let (library, context, book) = try makeBook(kind, "UPDATE ZBOOK SET Z_OPT = \(version)")
            context.mergePolicy = NSMergePolicy(merge: policy)
            for title in ["first", "second"] {
                book.title = title
                try context.save()
                #expect(try library.sql("SELECT ZTITLE, typeof(Z_OPT) FROM ZBOOK") == "\(title)|integer")
            }
        }
    }

    @Test("without a version is deleted, and gets members", arguments: StoreKind.allCases, oddVersions)
    func oddVersionDeleted(kind: StoreKind, version: String) throws {
        let (library, context, book) = try makeBook(kind, "UPDATE ZBOOK SET Z_OPT = \(version); UPDATE ZPERSON SET Z_OPT = \(version)")
        let author = try #require(book.author)
        let second = Book(context: context)
        (second.title, second.author) = ("second", author)
        try context.save()
        #expect(try library.sql("SELECT typeof(Z_OPT) FROM ZPERSON") == "integer")
        context.delete(book)
        try context.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "second")
    }

    @Test("still conflicts where somebody else has edited it since", arguments: StoreKind.allCases, oddVersions)
    func oddVersionOutdated(kind: StoreKind, version: String) throws {
        let (library, context, book) = try makeBook(kind, "UPDATE ZBOOK SET Z_OPT = \(version)")
        book.title = "mine"
        try context.save()
        let other = try library.separateContext()
        try #require(try other.all(Book.self, "Book").first).title = "theirs"
        try other.save()
        book.title = "mine again"
        cocoaError(133020) { try context.save() }
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "theirs")
    }

    @Test(
        "refers to nobody where the key is not positive, and is saved",
        arguments: StoreKind.allCases,
        [.min, .min + 1, -1, 0] as [Int64]
    )
    func reference(kind: StoreKind, key: Int64) throws {
        let (library, context, book) = try makeBook(kind, "UPDATE ZBOOK SET ZAUTHOR = \(key)")
        #expect(book.author == nil)
        book.title = "edited"
        _ = Author(context: context)
        try context.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "edited")
        let author = Author(context: context)
        book.author = author
        try context.save()
        #expect(try library.sql("SELECT ZAUTHOR = \(author.key) FROM ZBOOK") == "1")
    }

    @Test("of no entity throws, whatever the number", arguments: StoreKind.allCases, [.min, -1, 0, .max] as [Int64])
    func unknownEntity(kind: StoreKind, number: Int64) throws {
        let (library, _, _) = try makeBook(kind, "SELECT 1")
        _ = try library.sql("UPDATE ZBOOK SET Z_ENT = \(number)")
        cocoaError(134020) { try library.separateContext().all(Book.self, "Book") }
    }

    @Test("says an entity that the relationship does not lead to: the object is of the destination", arguments: StoreKind.allCases)
    func wrongTargetEntity(kind: StoreKind) throws {
        let library = try Library(kind)
        let (person, boss) = (Person(context: library.context), Person(context: library.context))
        (person.name, boss.name, person.boss) = ("person", "boss", boss)
        _ = try library.savedBook()
        let number = try library.sql("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'")
        let column = try library.sql("SELECT name FROM pragma_table_info('ZPERSON') WHERE name GLOB 'Z*_BOSS'")
        try #require(column.hasPrefix("Z"))
        _ = try library.sql("UPDATE ZPERSON SET \(column) = \(number) WHERE ZNAME = 'person'")
        let context = try library.separateContext()
        let read = try #require(try context.all(Person.self, "Person").first { $0.name == "person" })
        #expect(read.value(forKey: "boss") is Person)
        #expect(read.boss?.name == "boss")
    }
}
