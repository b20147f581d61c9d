import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("Query generations, stores and connections")
struct GenerationLifeTests {
    private func titles(_ context: NSManagedObjectContext) throws -> [String] {
        try context.all(Book.self, "Book").compactMap(\.title).sorted()
    }

    /// A context that is pinned to a store with one book.
    private func pinned(_ library: Library) throws -> NSManagedObjectContext {
        if try library.context.all(Book.self, "Book").isEmpty { _ = try library.savedBook("first") }
        let context = library.newContext()
        try context.setQueryGenerationFrom(.current)
        #expect(try titles(context) == ["first"])
        return context
    }

    private func openFiles(_ url: URL) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == url.path
        }
    }

    @Test("a store that cannot be read as it was leaves the context unpinned", arguments: [StoreKind.memory, .file])
    func unpinned(kind: StoreKind) throws {
        let pragmas: [AnyHashable: Any]? = kind == .file ? [NSSQLitePragmasOption: ["journal_mode": "DELETE"]] : nil
        let library = try Library(kind, options: pragmas)
        _ = try library.savedBook("first")
        let context = library.newContext()
        try context.setQueryGenerationFrom(.current)
        #expect(try titles(context) == ["first"])
        #expect(context.queryGenerationToken == nil)
        _ = try library.savedBook("second")
        #expect(try titles(context) == ["first", "second"])
        #expect(!library.store.capabilities.contains(.generations))
    }

    @Test("a context that ends, or moves on, gives its connection back")
    func givesBack() throws {
        let library = try Library(.file)
        _ = try pinned(library)
        #expect(library.store.snapshots.count == 0)
        let files = try openFiles(library.url)
        for _ in 0..<40 {
            let context = try pinned(library)
            try context.setQueryGenerationFrom(.current)
            #expect(try titles(context) == ["first"])
        }
        #expect(library.store.snapshots.count == 0)
        #expect(try openFiles(library.url) <= files)
        let contexts = try (0..<10).map { _ in try pinned(library) }
        #expect(library.store.snapshots.count == 10)
        withExtendedLifetime(contexts) {}
    }

    @Test("a pinned fetch costs what another costs, and moving on costs no statement")
    func costs() throws {
        let library = try Library(.file)
        let context = try pinned(library)
        let fetch = { try context.all(Book.self, "Book") }
        let again = try library.statements { _ = try fetch() }
        #expect(again.count == 1)
        try context.setQueryGenerationFrom(.current)
        let moved = try library.statements { _ = try fetch() }
        #expect(moved == again)
        let kept = try fetch()
        #expect(library.statements { _ = kept[0].title }.isEmpty)
    }

    @Test("more than 64 of a store are refused, and one that ends makes room")
    func limit() throws {
        let library = try Library(.file)
        var contexts = try (0..<HeldSnapshots.limit).map { _ in try pinned(library) }
        let late = library.newContext()
        try late.setQueryGenerationFrom(.current)
        let error = cocoaError(134070) { _ = try late.all(Book.self, "Book") }
        #expect(error?.localizedDescription.contains("64 query generations") == true)
        contexts.removeLast()
        #expect(try titles(late) == ["first"])
    }

    @Test("a file that others have removed, or made anew, is read no more once the context moves on", arguments: [false, true])
    func removedFile(isMadeAnew: Bool) throws {
        let library = try Library(.file)
        let context = try pinned(library)
        for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: library.url.path + suffix) }
        if isMadeAnew { try makeStore(at: library.url) }
        try context.setQueryGenerationFrom(.current)
        cocoaError(4) { try titles(context) }
    }

    @Test("a log that is large is emptied by a save, once nobody keeps it from that")
    func emptying() throws {
        let library = try Library(.file)
        library.store.snapshots.setLogLimit(20_000)
        try pinned(library).setQueryGenerationFrom(nil)
        _ = try library.savedBook(String(repeating: "x", count: 30_000))
        #expect(try FileManager.default.attributesOfItem(atPath: library.url.path + "-wal")[.size] as? Int == 0)
        #expect(try library.sql("SELECT max(length(ZTITLE)) FROM ZBOOK") == "30000")
    }

    @Test("a log that grows large is reported, once, and not of those who read for a moment")
    func report() throws {
        let library = try Library(.file)
        let context = try pinned(library)
        library.store.snapshots.setLogLimit(20_000)
        func said(_ size: Int64, after seconds: Int) -> String? {
            library.store.snapshots.overdue("x", logSize: size, at: .now() + .seconds(seconds))
        }
        #expect(said(19_999, after: 5) == nil)
        #expect(said(20_000, after: 0) == nil)
        #expect(said(20_000, after: 5)?.contains("20000 bytes") == true)
        #expect(said(30_000, after: 5) == nil)
        try context.setQueryGenerationFrom(nil)
        #expect(said(30_000, after: 5) == nil)
    }

    @Test("a checkpoint of another process leaves the generation whole, and does not wait for it")
    func checkpoint() throws {
        let library = try Library(.file)
        let context = try pinned(library)
        for number in 0..<200 {
            let book = Book(context: library.context)
            book.title = "\(number)"
            book.cover = Data(repeating: 7, count: 5_000)
        }
        try library.context.save()
        let said = try Child.sqlite(library.url, "PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM ZBOOK; PRAGMA wal_checkpoint(PASSIVE)")
        #expect(said.hasPrefix("1|"))
        #expect(try titles(context) == ["first"])
        try context.setQueryGenerationFrom(.current)
        #expect(try titles(context).isEmpty)
    }

    @Test("of a store that is removed nothing is read any more, and its file is let go of")
    func removed() throws {
        let library = try Library(.file)
        let context = try pinned(library)
        let book = try #require(try context.all(Book.self, "Book").first)
        context.refresh(book, mergeChanges: false)
        try library.coordinator.remove(library.store)
        cocoaError(134070) { _ = try context.all(Book.self, "Book") }
        // => What is at hand is, as in every context.
        #expect(book.title == "first")
        #expect(try openFiles(library.url) == 0)
        #expect(!FileManager.default.fileExists(atPath: library.url.path + "-wal"))
        // * The store comes back, under the number that it had.
        try library.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: library.url)
        cocoaError(134070) { _ = try context.all(Book.self, "Book") }
        context.reset()
        #expect(try titles(context) == ["first"])
    }

    // * A store that a context is pinned to moves to another place.
    // => The context is told why it finds nothing, and how to go on. (It was told that there were no stores.)
    @Test("of a store that has moved nothing is read until the context moves on, which the error says")
    func movedStore() throws {
        let library = try Library(.file)
        let context = try pinned(library)
        let place = library.home.folder.file("Moved.sqlite")
        try library.coordinator.migratePersistentStore(library.store, to: place, type: .sqlite)
        let error = cocoaError(134070) { _ = try context.all(Book.self, "Book") }
        #expect(error?.localizedDescription.contains("setQueryGenerationFrom(.current)") == true)
        try context.setQueryGenerationFrom(.current)
        #expect(try titles(context) == ["first"])
    }

    @Test("a coordinator that goes lets go of its file, though somebody has a token")
    func droppedCoordinator() throws {
        let home = try StoreHome(.file)
        var token: NSQueryGenerationToken?
        do {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: home.url())
            let context = Library.context(on: coordinator)
            try context.setQueryGenerationFrom(.current)
            #expect(try titles(context).isEmpty)
            token = context.queryGenerationToken
        }
        #expect(token != nil)
        #expect(try openFiles(home.url()) == 0)
        #expect(!FileManager.default.fileExists(atPath: home.url().path + "-wal"))
    }

    @Test("a store that is emptied, here or elsewhere, does not tear what a pinned context reads", arguments: [true, false])
    func emptied(here: Bool) throws {
        let library = try Library(.file)
        let context = try pinned(library)
        let coordinator = try here ? library.coordinator : library.separateCoordinator()
        try coordinator.emptyPersistentStore(coordinator.persistentStores[0])
        if here {
            cocoaError(134070) { _ = try context.all(Book.self, "Book") }
            context.reset()
            #expect(try titles(context).isEmpty)
        } else {
            #expect(try titles(context) == ["first"])
            context.reset()
            cocoaError(134070) { _ = try context.all(Book.self, "Book") }
        }
    }

    @Test("a store that is added later is seen when the pin has moved")
    func addedLater() throws {
        let library = try Library(.file)
        let context = try pinned(library)
        let place = library.home.folder.file("Other.sqlite")
        let store = try library.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: place)
        let other = library.newContext()
        let book = Book(context: other)
        book.title = "elsewhere"
        other.assign(book, to: store)
        try other.save()
        #expect(try titles(context) == ["first"])
        cocoaError(133000) { _ = try context.existingObject(with: book.objectID) }
        context.reset()
        #expect(try titles(context) == ["elsewhere", "first"])
    }

    @Test("a token of another coordinator is refused, and the context is as it was")
    func foreignToken() throws {
        let library = try Library(.file)
        let context = try pinned(library)
        let token = try #require(context.queryGenerationToken)
        let foreign = try library.separateContext()
        try foreign.setQueryGenerationFrom(.current)
        cocoaError(134070) { try foreign.setQueryGenerationFrom(token) }
        #expect(foreign.queryGenerationToken != nil && foreign.queryGenerationToken != token)
    }

    @Test("an archived token is its generation's, as long as that lasts")
    func archived() throws {
        let library = try Library(.file)
        var context: NSManagedObjectContext? = try pinned(library)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: #require(context?.queryGenerationToken), requiringSecureCoding: true)
        func token() throws -> NSQueryGenerationToken {
            try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: archive))
        }
        #expect(try token() == context?.queryGenerationToken)
        _ = try library.savedBook("second")
        let other = library.newContext()
        try other.setQueryGenerationFrom(token())
        #expect(try titles(other) == ["first"])
        try other.setQueryGenerationFrom(.current)
        context = nil
        cocoaError(134070) { try other.setQueryGenerationFrom(token()) }
        let current = try NSKeyedArchiver.archivedData(withRootObject: NSQueryGenerationToken.current, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: current) == .current)
        #expect(!NSQueryGenerationToken.current.isEqual("current"))
        #expect(NSQueryGenerationToken.current.copy() as? NSQueryGenerationToken === NSQueryGenerationToken.current)
    }

    @Test("threads that read one generation, while others write, find the same")
    func threads() throws {
        let library = try Library(.file)
        let token = try #require(try pinned(library).queryGenerationToken)
        let contexts = try (0..<4).map { _ in
            let context = library.newContext(.privateQueueConcurrencyType)
            try context.performAndWait { try context.setQueryGenerationFrom(token) }
            return context
        }
        let found = Lock<Set<[String]>>([])
        let writer = library.newContext(.privateQueueConcurrencyType)
        DispatchQueue.concurrentPerform(iterations: 5) { number in
            if number == 4 {
                writer.performAndWait {
                    for count in 0..<50 {
                        Book(context: writer).title = "\(count)"
                        #expect(throws: Never.self) { try writer.save() }
                    }
                }
                return
            }
            let context = contexts[number]
            context.performAndWait {
                for _ in 0..<50 {
                    let read = Result { try context.all(Book.self, "Book").compactMap(\.title).sorted() }
                    found.withLock { _ = $0.insert((try? read.get()) ?? ["failed"]) }
                }
            }
        }
        #expect(found.withLock { $0 } == [["first"]])
    }

    @Test("a constraint that a row breaks which is not in the generation is resolved with that row")
    func constraint() throws {
        let home = try StoreHome(.file)
        let tag = LibraryModel.entity("Label", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
        tag.properties.append(LibraryModel.attribute("count", .integer64AttributeType))
        tag.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [tag]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: home.url())
        let context = Library.context(on: coordinator)
        try context.setQueryGenerationFrom(.current)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let request = NSFetchRequest<NSManagedObject>(entityName: "Label")
        #expect(try context.fetch(request).isEmpty)
        func insert(_ context: NSManagedObjectContext, _ count: Int) {
            let label = NSEntityDescription.insertNewObject(forEntityName: "Label", into: context)
            label.setValue("x", forKey: "name")
            label.setValue(count, forKey: "count")
        }
        let other = Library.context(on: coordinator)
        insert(other, 1)
        try other.save()
        insert(context, 2)
        #expect(try context.count(for: request) == 1)
        try context.save()
        #expect(try home.sql("SELECT ZNAME, ZCOUNT, Z_OPT FROM ZLABEL") == "x|2|2")
        #expect(try context.fetch(request).map { $0.value(forKey: "count") as? Int } == [2])
    }

    @Test("a child is not pinned: it throws, and reads what its parent reads")
    func child() throws {
        let library = try Library()
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = library.context
        expectError(.coreData, "child", "topmost") { try child.setQueryGenerationFrom(.current) }
        expectError(.coreData, "child", "topmost") { try child.setQueryGenerationFrom(nil) }
        try library.separateContext().batchInsert("Book", [["title": "A"]])
        #expect(try child.count(for: NSFetchRequest<Book>(entityName: "Book")) == 1)
    }
}
