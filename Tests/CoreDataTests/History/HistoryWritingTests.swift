import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("The history of a store")
struct HistoryWritingTests {
    @Test("tells what each save has changed: new objects, changed properties, deleted objects", arguments: StoreKind.allCases)
    func changes(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let context = library.context
        let (book, author) = (Book(context: context), Author(context: context))
        (book.title, author.penName) = ("T", "P")
        try context.save()
        (book.pages, book.title) = (3, "U")
        try context.save()
        book.author = author
        try context.save()
        context.delete(book)
        try context.save()
        #expect(
            try context.told() == [
                ["insert Author/p1", "insert Book/p1"], ["update Book/p1 pages title"],
                ["update Author/p1 books", "update Book/p1 author"], ["delete Book/p1", "update Author/p1 books"],
            ]
        )
        #expect(try context.history().map(\.transactionNumber) == [1, 2, 3, 4])
    }

    @Test("names many-to-many and ordered relationships at both ends", arguments: StoreKind.allCases)
    func toManys(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let context = library.context
        let (book, tag) = (try library.savedBook(), Tag(context: context))
        try context.save()
        let start = library.coordinator.currentPersistentHistoryToken(fromStores: nil)
        book.tags = [tag]
        try context.save()
        for heading in ["a", "b"] {
            let chapter = Chapter(context: context)
            (chapter.heading, chapter.book) = (heading, book)
        }
        try context.save()
        book.chapters = book.chapters.reversed()
        try context.save()
        let told = try context.told(after: start)
        #expect(told[0] == ["update Book/p1 tags", "update Tag/p1 books"])
        #expect(told[1] == ["insert Chapter/p1", "insert Chapter/p2", "update Book/p1 chapters"])
        #expect(told[2].contains("update Book/p1 chapters"))
        #expect(told[2].allSatisfy { !$0.contains("title") })
    }

    @Test(
        "says nothing of what comes to nothing: equal values, an object inserted and deleted, an empty save",
        arguments: StoreKind.allCases
    )
    func nothing(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let book = try library.savedBook("T")
        book.title = "T"
        try library.context.save()
        library.context.delete(Book(context: library.context))
        try library.context.save()
        try library.context.save()
        (book.title, book.pages) = ("T", 7)
        try library.context.save()
        #expect(try library.context.told() == [["insert Book/p1"], ["update Book/p1 pages"]])
    }

    @Test("tells who it was: author and name of the context that saves into the store, process, time", arguments: StoreKind.allCases)
    func origin(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let context = library.newContext(.privateQueueConcurrencyType)
        (context.name, context.transactionAuthor) = ("root", "me")
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        (child.parent, child.name, child.transactionAuthor) = (context, "child", "somebody")
        let before = Date()
        for author in ["me", nil] {
            try child.performAndWait {
                Tag(context: child).label = "a"
                try child.save()
            }
            try context.performAndWait {
                context.transactionAuthor = author
                try context.save()
            }
        }
        let history = try child.performAndWait { try child.history() }
        #expect(history.map(\.author) == ["me", nil])
        #expect(history.map(\.contextName) == ["root", "root"])
        #expect(history[0].processID == ProcessInfo.processInfo.processName)
        #expect(!history[0].bundleID.isEmpty)
        #expect(history[0].storeID == library.store.identifier)
        #expect(history.allSatisfy { $0.timestamp >= before.addingTimeInterval(-1) && $0.timestamp <= Date() })
        #expect(try library.sql("SELECT count(*) FROM ATRANSACTIONSTRING WHERE ZNAME IN ('me', 'root')") == "2")
    }

    @Test("is in the tables of Apple's Core Data", arguments: StoreKind.allCases)
    func tables(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        _ = try library.savedBook()
        #expect(
            try library.sql("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY 1")
                .split(separator: "\n").prefix(2) == ["16001|CHANGE|0|1", "16002|TRANSACTION|0|1"]
        )
        #expect(
            try library.sql("SELECT Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS FROM ACHANGE") == "1|16001||0|1|1|"
        )
        #expect(try library.sql("SELECT Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZAUTHOR, ZQUERYGEN FROM ATRANSACTION") == "1|16002||||")
    }

    @Test("is not of a save that fails, whose number the next one has", arguments: StoreKind.allCases)
    func failing(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let book = try library.savedBook()
        let other = try library.separateTrackedContext()
        let same = try #require(try other.existingObject(with: book.objectID) as? Book)
        same.pages = 1
        try other.save()
        book.pages = 2
        Tag(context: library.context).label = "new"
        cocoaError(133020) { try library.context.save() }
        #expect(try other.told() == [["insert Book/p1"], ["update Book/p1 pages"]])
        library.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try library.context.save()
        #expect(try other.history().map(\.transactionNumber) == [1, 2, 3])
        #expect(try other.told().last == ["insert Tag/p1", "update Book/p1 pages"])
    }

    @Test("fails with the save at whichever statement that fails, and is whole with the next", arguments: StoreKind.allCases)
    func anyStatementFails(kind: StoreKind) throws {
        struct Failure: Error {}
        let library = try trackedLibrary(kind)
        let book = try library.savedBook()
        var failures = 0
        while true {
            book.pages += 1
            Tag(context: library.context).label = "\(failures)"
            let count = Lock(0)
            let limit = failures
            try library.store.pool.write { connection in
                let observe = connection.onStatement
                connection.onStatement = { sql in
                    try observe?(sql)
                    if count.withLock({
                        $0 += 1; return $0
                    }) == limit + 1, sql != "ROLLBACK" {
                        throw Failure()
                    }
                }
            }
            let failed = Result { try library.context.save() }
            try library.store.pool.write { $0.onStatement = nil }
            let changes = try library.sql("SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)")
            #expect(changes == "0")
            if case .success = failed { break }
            #expect(try library.sql("SELECT count(*) FROM ATRANSACTION") == "1")
            failures += 1
        }
        #expect(failures > 8)
        #expect(try library.context.history().map(\.transactionNumber) == [1, 2])
    }

    @Test("keeps flagged values of deleted objects, read or not", arguments: StoreKind.allCases)
    func tombstones(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let model = LibraryModel.make()
        for name in ["title", "isbn", "published", "price"] {
            model.entitiesByName["Book"]?.attributesByName[name]?.preservesValueInHistoryOnDeletion = true
        }
        let stack = try Stack(home.url(), model, options: [NSPersistentHistoryTrackingKey: true])
        let (context, isbn) = (stack.newContext(), UUID())
        for title in ["a", "b"] {
            let book = Book(context: context)
            (book.title, book.isbn, book.pages, book.price) = (title, isbn, 5, 1.5)
        }
        Tag(context: context).label = "x"
        try context.save()
        let second = stack.newContext()
        for book in try second.fetch(NSFetchRequest<Book>(entityName: "Book")) { second.delete(book) }
        for tag in try second.fetch(NSFetchRequest<Tag>(entityName: "Tag")) { second.delete(tag) }
        try second.save()
        let changes = try #require(try second.history().last?.changes)
        let books = changes.filter { $0.changedObjectID.entity.name == "Book" }.compactMap(\.tombstone)
        #expect(Set(books.compactMap { $0["title"] as? String }) == ["a", "b"])
        #expect(books.allSatisfy { $0["isbn"] as? UUID == isbn && $0["price"] as? Double == 1.5 && $0.count == 3 })
        #expect(changes.filter { $0.changedObjectID.entity.name == "Tag" }.allSatisfy { $0.tombstone == nil })
    }

    @Test("takes a few statements, however many objects there are", arguments: StoreKind.allCases)
    func statements(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        func statements(_ body: () -> Void) throws -> Int {
            body()
            return try library.statements { try library.context.save() }.filter { $0.contains("ACHANGE") || $0.contains("ATRANSACTION") }
                .count
        }
        for count in [1, 2_000] {
            #expect(try statements { for _ in 0..<count { Tag(context: library.context).label = "a" } } <= 15)
        }
        let tags = try library.context.fetch(NSFetchRequest<Tag>(entityName: "Tag"))
        #expect(try statements { for tag in tags { tag.label = "b" } } <= 15)
        #expect(try statements { for tag in tags { library.context.delete(tag) } } <= 15)
        #expect(try library.context.history().map { $0.changes?.count } == [1, 2_000, 2_001, 2_001])
    }
}

extension Library {
    /// As another process would have it, which tracks its changes too.
    func separateTrackedContext() throws -> NSManagedObjectContext {
        try Self.context(on: separateCoordinator(options: [NSPersistentHistoryTrackingKey: true]))
    }
}
