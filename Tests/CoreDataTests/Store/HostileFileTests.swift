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

    // * The metadata are a property list of some hundred bytes for more members than any memory holds.
    // => Whoever asks for them, or opens the store, is told that it is damaged, at once.
    @Test("with metadata that say the same again and again is refused")
    func repeatedMetadata() throws {
        let library = try makeLibrary(.file)
        let bytes = PropertyListBomb.data.map { String(format: "%02x", $0) }.joined()
        _ = try library.sql("UPDATE Z_METADATA SET Z_PLIST = x'\(bytes)'")
        cocoaError(259) { try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: library.url) }
        cocoaError(259) { try library.separateContext() }
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

    @Test("with no keys left refuses new objects, and does not trap", arguments: StoreKind.allCases, [.max, .max - 1] as [Int64])
    func lastKey(kind: StoreKind, highest: Int64) throws {
        let library = try makeLibrary(kind)
        _ = try library.sql("UPDATE Z_PRIMARYKEY SET Z_MAX = \(highest) WHERE Z_NAME = 'Tag'")
        let tags = [Tag(context: library.context), Tag(context: library.context)]
        #expect(cocoaError(134030) { try library.context.save() }?.localizedDescription.contains("Z_MAX") == true)
        cocoaError(134030) { try library.context.obtainPermanentIDs(for: tags) }
        #expect(tags.allSatisfy { $0.isInserted })
    }

    @Test("that counts fewer keys than it has rows gives out keys beyond these", arguments: StoreKind.allCases)
    func countedTooLow(kind: StoreKind) throws {
        let library = try makeLibrary(kind)
        _ = try library.sql(
            "INSERT INTO ZTAG(Z_PK, Z_ENT, Z_OPT) SELECT 7, Z_ENT, 1 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'"
        )
        for _ in 0..<3 { Tag(context: library.context).label = "x" }
        try library.context.save()
        #expect(try library.sql("SELECT group_concat(Z_PK) FROM ZTAG") == "7,8,9,10")
        #expect(try library.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'") == "10")
    }

    @Test("that counts keys below zero gives out positive ones", arguments: StoreKind.allCases)
    func negativeCount(kind: StoreKind) throws {
        let library = try makeLibrary(kind)
        _ = try library.sql("UPDATE Z_PRIMARYKEY SET Z_MAX = -9223372036854775808 WHERE Z_NAME = 'Tag'")
        for _ in 0..<3 { Tag(context: library.context).label = "x" }
        try library.context.save()
        #expect(try library.sql("SELECT group_concat(Z_PK) FROM ZTAG") == "1,2,3")
    }

    @Test(
        "with positions at their limits refuses to append, and does not trap",
        arguments: StoreKind.allCases,
        [.max, .max - 1023, .min] as [Int64]
    )
    func lastPosition(kind: StoreKind, position: Int64) throws {
        let library = try makeLibrary(kind)
        let book = try #require(try library.context.all(Book.self, "Book").first)
        for number in 0..<3 {
            let chapter = Chapter(context: library.context)
            (chapter.heading, chapter.book) = ("\(number)", book)
        }
        try library.context.save()
        _ = try library.sql(
            "UPDATE ZCHAPTER SET Z_FOK_BOOK = \(position) WHERE ZHEADING = '2'; UPDATE ZCHAPTER SET Z_FOK_BOOK = -9223372036854775808 WHERE ZHEADING = '0'"
        )
        let context = try library.separateContext()
        let same = try #require(try context.all(Book.self, "Book").first)
        let chapter = Chapter(context: context)
        (chapter.heading, chapter.book) = ("new", same)
        if position > 0 {
            cocoaError(134030) { try context.save() }
            #expect(chapter.isInserted)
        } else {
            try context.save()
        }
        // => Order set by hand needs no place behind the last.
        same.chapters = Array(same.chapters.reversed())
        try context.save()
        let reader = try library.separateContext()
        defer { withExtendedLifetime(reader) {} }
        let headings = try reader.all(Book.self, "Book").first?.chapters.map(\.heading)
        #expect(headings == same.chapters.map(\.heading))
    }

    @Test(
        "with versions of any size takes edits, one after the other, and shows what others write",
        arguments: StoreKind.allCases,
        [2_147_483_646, 2_147_483_647, 2_147_483_648, 4_294_967_296, 4_294_967_297, .max, 0, -1, .min] as [Int64]
    )
    func largeVersion(kind: StoreKind, version: Int64) throws {
        let library = try makeLibrary(kind)
        _ = try library.sql("UPDATE ZBOOK SET Z_OPT = \(version)")
        let context = try library.separateContext()
        let book = try #require(try context.all(Book.self, "Book").first)
        for title in ["first", "second"] {
            book.title = title
            try context.save()
            #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == title)
        }
        #expect(try library.sql("SELECT Z_OPT FROM ZBOOK") == "\(version == .max ? 2 : version + 2)")
        _ = try library.sql("UPDATE ZBOOK SET ZTITLE = 'theirs', Z_OPT = Z_OPT + 1")
        _ = try library.sql("UPDATE ZPERSON SET Z_OPT = \(version)")
        let other = try library.separateContext()
        #expect(try other.all(Book.self, "Book").first?.title == "theirs")
        let author = try #require(try other.all(Author.self, "Author").first)
        let tag = Book(context: other)
        (tag.title, tag.author) = ("another", author)
        try other.save()
        other.delete(try #require(try other.all(Book.self, "Book", orderedBy: "title").last))
        try other.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "another")
    }

    @Test("with a row of a key that is not positive says so, and loses no edit of it", arguments: StoreKind.allCases, [-5, 0] as [Int64])
    func negativeKey(kind: StoreKind, key: Int64) throws {
        let library = try makeLibrary(kind)
        _ = try library.sql(
            "INSERT INTO ZTAG(Z_PK, Z_ENT, Z_OPT, ZLABEL) SELECT \(key), Z_ENT, 1, 'odd' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'"
        )
        let context = try library.separateContext()
        let error = cocoaError(259) { try context.all(Tag.self, "Tag") }
        #expect(error?.localizedDescription.contains("Tag") == true && error?.localizedDescription.contains("\(key)") == true)
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Tag")
        request.resultType = .managedObjectIDResultType
        cocoaError(259) { try context.fetch(request) }
    }

    @Test("with a reference to a key that is not positive gives none", arguments: StoreKind.allCases)
    func negativeReference(kind: StoreKind) throws {
        let library = try makeLibrary(kind)
        _ = try library.sql("UPDATE ZBOOK SET ZAUTHOR = -1")
        let context = try library.separateContext()
        for _ in 0..<3 { _ = Author(context: context) }
        let book = try #require(try context.all(Book.self, "Book").first)
        #expect(book.author == nil)
        book.pages = 3
        try context.save()
    }

    @Test("is opened with any number as the time to wait", arguments: [.infinity, .nan, -1, 1e300] as [Double])
    func timeout(seconds: Double) throws {
        let home = try StoreHome(.file)
        let stack = try Stack(home.url(), options: [NSPersistentStoreTimeoutOption: seconds])
        Tag(context: stack.newContext()).label = "x"
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType,
            at: home.url(),
            options: [NSPersistentStoreTimeoutOption: seconds]
        )
    }
}
