import Foundation
import Testing

@testable import CoreData

/// Who writes beside a pinned context.
enum Writer: CaseIterable {
    case sameCoordinator, otherCoordinator, otherProcess

    func write(_ library: Library, _ title: String, deleting other: String) throws {
        if self == .otherProcess {
            try Child.sqlite(
                library.url,
                "UPDATE ZBOOK SET ZTITLE = '\(title)', Z_OPT = Z_OPT + 1 WHERE ZTITLE = 'a'; DELETE FROM ZBOOK WHERE ZTITLE = '\(other)'"
            )
        } else {
            let context = try self == .sameCoordinator ? library.newContext() : library.separateContext()
            for book in try context.all(Book.self, "Book") {
                if book.title == "a" { book.title = title } else if book.title == other { context.delete(book) }
            }
            try context.save()
        }
    }
}

@Suite("Query generations")
struct QueryGenerationTests {
    private let library: Library
    private let pinned: NSManagedObjectContext

    /// Books a, b and c, of which a has an author; a context that is pinned but has not read.
    init() throws {
        library = try Library(.file)
        let author = Author(context: library.context)
        author.name = "author"
        for title in ["a", "b", "c"] {
            let book = Book(context: library.context)
            book.title = title
            book.author = author
        }
        try library.context.save()
        pinned = library.newContext()
        try pinned.setQueryGenerationFrom(.current)
    }

    private func titles(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.fetch(request).compactMap(\.title)
    }

    private func count(_ context: NSManagedObjectContext) throws -> Int { try context.count(for: NSFetchRequest<Book>(entityName: "Book")) }

    private func dictionaries(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title"]
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.fetch(request).compactMap { $0["title"] as? String }
    }

    @Test("a pinned context finds what was there when it first read, whoever writes and deletes", arguments: Writer.allCases)
    func standsStill(writer: Writer) throws {
        let ids = try pinned.fetch(NSFetchRequest<Book>(entityName: "Book")).map(\.objectID)
        try writer.write(library, "new", deleting: "b")
        #expect(try titles(pinned) == ["a", "b", "c"])
        #expect(try count(pinned) == 3)
        #expect(try dictionaries(pinned) == ["a", "b", "c"])
        for id in ids { #expect(try pinned.existingObject(with: id) is Book) }
        let author = try #require(try pinned.all(Author.self, "Author").first)
        #expect(author.books.count == 3)
        #expect(Set(author.books.compactMap(\.title)) == ["a", "b", "c"])
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "title == %@", "a")
        request.fetchBatchSize = 1
        #expect(try pinned.fetch(request).map(\.title) == ["a"])
        // => Others find the new state, with the same row cache beside.
        let other = try library.separateContext()
        #expect(try titles(other) == ["c", "new"])
        #expect(try titles(library.newContext()) == ["c", "new"])
        // => Neither moved the pin.
        #expect(try titles(pinned) == ["a", "b", "c"])
    }

    @Test("it is pinned by its next read, not by the call")
    func lazily() throws {
        try Writer.sameCoordinator.write(library, "new", deleting: "b")
        #expect(try titles(pinned) == ["c", "new"])
    }

    @Test("a fault that nobody used fires with the value of the generation, and after the pin has moved with the newest")
    func faults() throws {
        let books = try pinned.all(Book.self, "Book").sorted { $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path }
        let ids = books.map(\.objectID)
        try Writer.sameCoordinator.write(library, "new", deleting: "none")
        let current = library.newContext()
        #expect(current.object(with: ids[0]).value(forKey: "title") as? String == "new")
        #expect(books[0].title == "a")
        let unused = books[1]
        try Child.sqlite(library.url, "UPDATE ZBOOK SET ZTITLE = 'newer', Z_OPT = Z_OPT + 1 WHERE ZTITLE = 'b'")
        try pinned.setQueryGenerationFrom(.current)
        #expect(unused.title == "newer")
        // => One that was used keeps its value.
        #expect(books[0].title == "a")
        pinned.refreshAllObjects()
        #expect(books[0].title == "new")
    }

    @Test("rows that a pinned context reads are not seen by others, nor theirs by it")
    func cachesApart() throws {
        #expect(try count(pinned) == 3)
        try Writer.otherCoordinator.write(library, "new", deleting: "none")
        let current = library.newContext()
        #expect(try titles(current) == ["b", "c", "new"])
        let held = try current.all(Book.self, "Book")
        #expect(try titles(pinned) == ["a", "b", "c"])
        let again = library.newContext()
        for book in held { #expect(again.object(with: book.objectID).value(forKey: "title") as? String == book.title) }
        #expect(try titles(again) == ["b", "c", "new"])
    }

    @Test("nil unpins")
    func unpins() throws {
        #expect(try count(pinned) == 3)
        try Writer.otherProcess.write(library, "new", deleting: "b")
        try pinned.setQueryGenerationFrom(nil)
        #expect(pinned.queryGenerationToken == nil)
        #expect(try count(pinned) == 2)
        #expect(library.store.snapshots.count == 0)
    }

    @Test("a token pins another context to the same generation, also where neither has read yet")
    func shared() throws {
        let token = try #require(pinned.queryGenerationToken)
        let second = library.newContext()
        try second.setQueryGenerationFrom(token)
        #expect(second.queryGenerationToken == token)
        #expect(try count(second) == 3)
        try Writer.otherCoordinator.write(library, "new", deleting: "b")
        #expect(try titles(pinned) == ["a", "b", "c"])
        #expect(library.store.snapshots.count == 1)
        // => One that moves leaves the other where it is.
        second.reset()
        #expect(second.queryGenerationToken != token)
        #expect(try titles(second) == ["c", "new"])
        #expect(try titles(pinned) == ["a", "b", "c"])
        // => One that comes later finds the state of then.
        let third = library.newContext()
        #expect(try titles(third) == ["c", "new"])
        try third.setQueryGenerationFrom(token)
        #expect(try titles(third) == ["a", "b", "c"])
    }

    @Test("save, mergeChanges and reset move it")
    func moves() throws {
        #expect(try count(pinned) == 3)
        try Writer.otherCoordinator.write(library, "new", deleting: "b")
        Book(context: pinned).title = "mine"
        #expect(try count(pinned) == 4)
        try pinned.save()
        #expect(try count(pinned) == 3)
        try Child.sqlite(library.url, "DELETE FROM ZBOOK WHERE ZTITLE = 'c'")
        #expect(try count(pinned) == 3)
        pinned.reset()
        #expect(try count(pinned) == 2)
        let other = library.newContext()
        let book = try #require(try other.all(Book.self, "Book").first { $0.title == "new" })
        book.title = "merged"
        let (saved, context) = (SavedNotification(), pinned)
        try saved.during(other) { try other.save() }
        #expect(try titles(context) == ["mine", "new"])
        context.mergeChanges(fromContextDidSave: try #require(saved.latest))
        #expect(try titles(context) == ["merged", "mine"])
        #expect(context.queryGenerationToken != nil)
    }

    @Test("DidSave carries the token of the generation that has the save")
    func didSaveToken() throws {
        #expect(try count(pinned) == 3)
        Book(context: pinned).title = "mine"
        let saved = SavedNotification()
        try saved.during(pinned) { try pinned.save() }
        let token = try #require(saved.latest?.userInfo?[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken)
        let other = library.newContext()
        try other.setQueryGenerationFrom(token)
        #expect(try titles(other) == ["a", "b", "c", "mine"])
        #expect(pinned.queryGenerationToken == token)
    }

    @Test("a context that merges automatically moves with each save of others")
    func automatic() throws {
        let context = library.newContext(.privateQueueConcurrencyType)
        context.automaticallyMergesChangesFromParent = true
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            let found = try count(context)
            #expect(found == 3)
        }
        try Writer.sameCoordinator.write(library, "new", deleting: "b")
        // The merge waits in the context's queue before this.
        let found = try context.performAndWait { try titles(context) }
        #expect(found == ["c", "new"])
    }

    @Test("children read what their parent reads, and have no token")
    func children() throws {
        let root = library.newContext(.privateQueueConcurrencyType)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = root
        try root.performAndWait {
            try root.setQueryGenerationFrom(.current)
            Book(context: root).title = "pending"
        }
        try child.performAndWait {
            let before = try titles(child)
            #expect(before == ["a", "b", "c", "pending"])
            try Writer.otherCoordinator.write(library, "new", deleting: "b")
            let (after, stored) = (try titles(child), try dictionaries(child))
            #expect(after == before)
            #expect(stored == ["a", "b", "c"])
            #expect(child.queryGenerationToken == nil)
            Book(context: child).title = "child"
            try child.save()
        }
        try root.performAndWait { try root.save() }
        try child.performAndWait {
            child.refreshAllObjects()
            let found = try titles(child)
            #expect(found == ["c", "child", "new", "pending"])
        }
    }

    @Test("a save meets what others wrote as an ordinary conflict, and the context stays pinned", arguments: [false, true])
    func conflicts(cached: Bool) throws {
        let book = try #require(try pinned.all(Book.self, "Book").first { $0.title == "a" })
        try (cached ? Writer.sameCoordinator : .otherProcess).write(library, "new", deleting: "b")
        book.title = "mine"
        let error = cocoaError(133020) { try pinned.save() }
        #expect((error?.userInfo["conflictList"] as? [NSMergeConflict])?.count == 1)
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK ORDER BY 1") == "c\nnew")
        #expect(try titles(pinned) == ["b", "c", "mine"])
        pinned.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try pinned.save()
        #expect(try titles(pinned) == ["c", "mine"])
        #expect(try library.sql("SELECT ZTITLE, Z_OPT FROM ZBOOK ORDER BY 1") == "c|1\nmine|3")
    }

    @Test("deleting a row that others have deleted meanwhile succeeds")
    func deletedTwice() throws {
        let book = try #require(try pinned.all(Book.self, "Book").first { $0.title == "b" })
        try Writer.otherCoordinator.write(library, "new", deleting: "b")
        pinned.delete(book)
        pinned.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try pinned.save()
        #expect(try titles(pinned) == ["c", "new"])
    }
}

/// The DidSave notification that a context posts meanwhile.
final class SavedNotification: @unchecked Sendable {
    // Sendable: used by one thread.
    private(set) var latest: Notification?

    // NB: other tests save other contexts at the same time.
    func during(_ context: NSManagedObjectContext, _ body: () throws -> Void) throws {
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: context, queue: nil) {
            self.latest = $0
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try body()
    }
}
