import Foundation
import TestSupport
import Testing

@testable import CoreData

/// An atomic store whose nodes note who reads them while it is saved.
private final class WatchedStore: NSAtomicStore {
    static let storeType = "Watched"
    override var type: String { Self.storeType }

    /// Called by `save()`.
    var onSave: () -> Void = {}
    let isLeaving = Lock(false)
    /// Whose save is under way.
    let saver = Lock<pthread_t?>(nil)
    let strangers = Lock(0)

    final class Node: NSAtomicStoreCacheNode {
        weak var store: WatchedStore?

        override func value(forKey key: String) -> Any? {
            store?.noteReading()
            return super.value(forKey: key)
        }
    }

    func noteReading() {
        guard let saver = saver.withLock({ $0 }), pthread_equal(saver, pthread_self()) == 0 else { return }
        strangers.withLock { $0 += 1 }
    }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }
    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { isLeaving.withLock { $0 = true } }

    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = Node(objectID: managedObject.objectID)
        node.store = self
        return node
    }

    override func save() throws {
        saver.withLock { $0 = pthread_self() }
        defer { saver.withLock { $0 = nil } }
        onSave()
    }
}

@Suite("An atomic store that leaves its coordinator")
struct LeavingStoreTests {
    // * A store is removed on another thread while its class writes.
    // => Nobody looks at nodes that the save is changing: that crashed, or took values for those of another version.
    @Test("is let go of when a save that is on its way has ended")
    func removedWhileSaved() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let store = try addWatchedStore(to: coordinator)
        let context = Library.context(on: coordinator)
        let book = Book(context: context)
        book.title = "book"
        try context.save()
        book.title = "changed"
        let removal = DispatchGroup()
        // The other thread only hands it on.
        nonisolated(unsafe) let leaving = store
        store.onSave = {
            DispatchQueue.global().async(group: removal) { try? coordinator.remove(leaving) }
            while !store.isLeaving.withLock({ $0 }) { sched_yield() }
            // As long as it takes to come to the nodes, where nobody waits.
            for _ in 0..<20_000 { sched_yield() }
        }
        try context.save()
        removal.wait()
        #expect(store.strangers.withLock { $0 } == 0)
        #expect(coordinator.persistentStores.isEmpty)
    }

    // * The class removes the store when it has written.
    // => The save ends as it would have; then the store is gone, and can come back. (The program stopped.)
    @Test("in its own save() is let go of when that save has ended")
    func removesItself() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let store = try addWatchedStore(to: coordinator)
        let context = Library.context(on: coordinator)
        Book(context: context).title = "book"
        store.onSave = { [unowned store] in #expect(throws: Never.self) { try coordinator.remove(store) } }
        try context.save()
        #expect(!context.hasChanges)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(store.cacheNodes().isEmpty)
        _ = try addWatchedStore(to: coordinator)
        Book(context: context).title = "other"
        try context.save()
        #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 1)
    }

    private func addWatchedStore(to coordinator: NSPersistentStoreCoordinator) throws -> WatchedStore {
        NSPersistentStoreCoordinator.registerStoreClass(WatchedStore.self, forStoreType: WatchedStore.storeType)
        let url = URL(fileURLWithPath: "/watched/\(UUID().uuidString)")
        let added = try coordinator.addPersistentStore(ofType: WatchedStore.storeType, configurationName: nil, at: url)
        return try #require(added as? WatchedStore)
    }

    // * A document is saved together with a database. It is written, the database has yet to commit: it is removed and added anew.
    // => Who has what was there before gets a conflict; who has saved last goes on.
    @Test("knows what was saved last, although the save was not over", arguments: [ContractKind.binary, .xml])
    func removedBeforeTheSaveIsOver(kind: ContractKind) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let folder = try TemporaryFolder()
        func add(_ type: String, _ name: String) throws -> NSPersistentStore {
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file(name))
        }
        let (database, document) = (try add(NSSQLiteStoreType, "database"), try add(kind.type, "document"))
        let (mine, theirs) = (Library.context(on: coordinator), Library.context(on: coordinator))
        let book = try self.book("first", in: document, mine)
        try mine.save()
        let old = try #require(try theirs.existingObject(with: book.objectID) as? Book)
        #expect(old.title == "first")
        book.title = "second"
        _ = try self.book("other", in: database, mine)
        var isAgain = false
        try onCommit(of: database) {
            try coordinator.remove(document)
            _ = try add(kind.type, "document")
            isAgain = true
        }
        try mine.save()
        #expect(isAgain)
        old.title = "theirs"
        #expect { try theirs.save() } throws: { ($0 as? CocoaError)?.code == .managedObjectMerge }
        book.title = "third"
        try mine.save()
        #expect(try Library.context(on: coordinator).existingObject(with: book.objectID).value(forKey: "title") as? String == "third")
    }

    private func book(_ title: String, in store: NSPersistentStore, _ context: NSManagedObjectContext) throws -> Book {
        let book = Book(context: context)
        book.title = title
        context.assign(book, to: store)
        return book
    }

    /// Calls `body` when the database's next transaction is about to be committed.
    private func onCommit(of database: NSPersistentStore, _ body: @escaping () throws -> Void) throws {
        let database = try #require(database as? SQLiteStore)
        try database.pool.write { connection in
            let observe = connection.onStatement
            connection.onStatement = { [unowned connection] sql in
                guard sql == "COMMIT" else { return }
                connection.onStatement = observe
                try body()
            }
        }
    }

    // * Two contexts have a book of which one has saved other versions; the document becomes one of the other form.
    // => Who has seen the last version saves over it; who has not gets a conflict.
    @Test("for a document of the other form leaves each context as up to date as it was", arguments: [ContractKind.binary, .xml])
    func moved(kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let mine = try home.open()
        let coordinator = try #require(mine.persistentStoreCoordinator)
        let other = kind == .xml ? ContractKind.binary : .xml
        let book = Book(context: mine)
        book.title = "first"
        try mine.save()
        let theirs = home.context(on: coordinator)
        let old = try #require(try theirs.existingObject(with: book.objectID) as? Book)
        #expect(old.title == "first")
        for title in ["second", "third"] {
            book.title = title
            try mine.save()
        }
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: home.folder.file("moved"), withType: other.type)
        book.title = "fourth"
        try mine.save()
        old.title = "theirs"
        #expect { try theirs.save() } throws: { ($0 as? CocoaError)?.code == .managedObjectMerge }
        #expect(try home.context(on: coordinator).all(Book.self).map(\.title) == ["fourth"])
    }
}
