import CoreDataStack
import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData
@testable import StackProgram

@Suite("Who follows the resets of others", .timeLimit(.minutes(20)))
struct FollowedResetTests {
    private func options(_ name: String) -> [AnyHashable: Any] {
        NSPersistentStoreCoordinator.stockSQLiteStoreOptions.merging([CoreDataStackSharingNameOption: name]) { $1 }
    }

    private func stack(_ name: String, _ folder: TemporaryFolder) async throws -> CoreDataStack {
        try await CoreDataStack.constructSQLiteStack(model: GroupModel.make(), at: folder.store, persistentStoreOptions: options(name))
    }

    private func identifier(_ stack: CoreDataStack) -> String? {
        stack.privateQueueContext.persistentStoreCoordinator?.persistentStores.first?.identifier
    }

    /// Keeps a context's queue busy until the semaphore is signalled.
    private func hold(_ context: NSManagedObjectContext) -> DispatchSemaphore {
        let isOver = DispatchSemaphore(value: 0)
        context.perform { isOver.wait() }
        return isOver
    }

    /// Sees that what one saves comes into the main context of the other.
    private func expectFollowing(_ target: CoreDataStack, _ source: CoreDataStack) async throws {
        let (from, to) = (source.mainQueueContext, target.mainQueueContext)
        await to.perform { to.retainsRegisteredObjects = true }
        var merges = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidMergeChangesObjectIDs, object: to)
            .makeAsyncIterator()
        try await from.perform { try GroupModel.insert(1, into: from) }
        try await from.saveToStore()
        _ = await merges.next()
        let count = try await to.perform { try to.count(for: GroupModel.groups()) }
        #expect(count == 1)
    }

    // * One resets, and once more while the other is still about to follow.
    @Test("follows one that comes while he follows the one before")
    func second() async throws {
        let folder = try TemporaryFolder()
        let (app, other) = (try await stack("app", folder), try await stack("other", folder))
        var errors = other.saveErrors.makeAsyncIterator()
        let isOver = hold(other.privateQueueContext)
        defer { isOver.signal() }
        try await app.resetStore()
        while identifier(other) != identifier(app) { await Task.yield() }
        try await app.resetStore()
        isOver.signal()
        // What fails in between, as the second is under way, is told, and tried again.
        var resets = 0
        repeat {
            if try #require(await errors.next()) as? CoreDataStack.Error == .storeWasReset { resets += 1 }
        } while identifier(other) != identifier(app)
        #expect(resets > 0)
        try await expectFollowing(other, app)
        try await other.close()
        try await app.close()
    }

    // * Two reset at once: the second empties what the first is about to go on with.
    @Test("follows one that comes while he resets himself")
    func bothAtOnce() async throws {
        let folder = try TemporaryFolder()
        let (app, other) = (try await stack("app", folder), try await stack("other", folder))
        var (errors, others) = (app.saveErrors.makeAsyncIterator(), other.saveErrors.makeAsyncIterator())
        let (isOver, before) = (hold(app.privateQueueContext), identifier(app))
        defer { isOver.signal() }
        async let reset: Void = app.resetStore()
        while identifier(app) == before { await Task.yield() }
        #expect(await others.next() as? CoreDataStack.Error == .storeWasReset)
        try await other.resetStore()
        isOver.signal()
        try await reset
        #expect(await errors.next() as? CoreDataStack.Error == .storeWasReset)
        #expect(identifier(other) == identifier(app))
        try await expectFollowing(app, other)
        try await other.close()
        try await app.close()
    }

    // * Another resets the store when it was opened, and its history is not looked at yet.
    @Test("opens a store that is reset at that moment")
    func whileOpening() async throws {
        let folder = try TemporaryFolder()
        try await stack("app", folder).close()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GroupModel.make())
        let tracked = [NSPersistentHistoryTrackingKey: true]
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: tracked)
        let isFirst = Lock(true)
        let name = Notification.Name.NSPersistentStoreCoordinatorStoresDidChange
        let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { note in
            let opened = (note.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore])?.first?.url
            guard opened == folder.store, let store = coordinator.persistentStores.first else { return }
            let isNow = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isNow else { return }
            do { try coordinator.emptyPersistentStore(store, options: tracked) } catch { Issue.record("\(error)") }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let app = try await stack("app", folder)
        #expect(!isFirst.withLock { $0 } && identifier(app) == coordinator.persistentStores.first?.identifier)
        try await app.close()
    }

    // * Another store is there, which cannot be opened at first, and is in order later, of which nobody tells.
    @Test("tries again where he could not open what is there")
    func again() async throws {
        let folder = try TemporaryFolder()
        let app = try await stack("app", folder)
        var errors = app.saveErrors.makeAsyncIterator()
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        defer { connection.close() }
        connection.setBusyTimeout(seconds: 60)
        let list = try #require(try connection.rows("SELECT Z_PLIST FROM Z_METADATA").first?.first)
        try connection.execute("UPDATE Z_METADATA SET Z_UUID = '\(UUID().uuidString)', Z_PLIST = x'00'")
        #expect((await errors.next() as? CocoaError)?.code == .fileReadCorruptFile)
        try connection.run("UPDATE Z_METADATA SET Z_PLIST = ?1", [list])
        var error = await errors.next()
        while error is CocoaError { error = await errors.next() }
        #expect(error as? CoreDataStack.Error == .storeWasReset)
        try await app.mainQueueContext.perform { try GroupModel.insert(1, into: app.mainQueueContext) }
        try await app.mainQueueContext.saveToStore()
        try await app.close()
    }

    // * Another opens the store with the next version of the model, which migrates it, and saves.
    // => Who has the older one is told that his is another (134100); what is new in the next version stays.
    @Test("does not migrate back what another has migrated to the next version")
    func migrated() async throws {
        let folder = try TemporaryFolder()
        let app = try await stack("app", folder)
        var errors = app.saveErrors.makeAsyncIterator()
        let next = try await CoreDataStack.constructSQLiteStack(
            model: GroupModel.next(),
            at: folder.store,
            persistentStoreOptions: options("next")
        )
        let main = next.mainQueueContext
        await main.perform { _ = NSEntityDescription.insertNewObject(forEntityName: "Album", into: main) }
        try await main.saveToStore()
        #expect((await errors.next() as? CocoaError)?.code == .persistentStoreIncompatibleVersionHash)
        let count = try await main.perform { try main.count(for: NSFetchRequest<NSManagedObject>(entityName: "Album")) }
        #expect(count == 1)
        try await next.close()
        try await app.close()
    }

    // * A backup was put back, of which the file keeps a note; then somebody empties the store, who may have another version of the model.
    @Test("takes no reset for a state that was put back, which he would migrate")
    func resetAfterBackup() async throws {
        let folder = try TemporaryFolder()
        let backup = folder.file("backup")
        for place in [backup, folder.store] {
            try await CoreDataStack.constructSQLiteStack(model: GroupModel.make(), at: place, persistentStoreOptions: options("old"))
                .close()
        }
        let restorer = NSPersistentStoreCoordinator(managedObjectModel: GroupModel.make())
        try restorer.replacePersistentStore(at: folder.store, withPersistentStoreFrom: backup, type: .sqlite)
        let app = try await stack("app", folder)
        let store = try #require(app.privateQueueContext.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
        #expect(!store.wasReplaced)
        try await app.resetStore()
        #expect(!store.wasReplaced)
        try await app.close()
        try restorer.replacePersistentStore(at: folder.store, withPersistentStoreFrom: backup, type: .sqlite)
        #expect(store.wasReplaced)
    }

    @Test("migrates a backup of an older version that is put in the place of the store")
    func olderBackup() async throws {
        let folder = try TemporaryFolder()
        let backup = folder.file("backup")
        let old = GroupModel.make()
        try await CoreDataStack.constructSQLiteStack(model: old, at: backup, persistentStoreOptions: options("old")).close()
        let app = try await CoreDataStack.constructSQLiteStack(
            model: GroupModel.next(),
            at: folder.store,
            persistentStoreOptions: options("app")
        )
        var errors = app.saveErrors.makeAsyncIterator()
        let restorer = NSPersistentStoreCoordinator(managedObjectModel: old)
        try restorer.replacePersistentStore(at: folder.store, withPersistentStoreFrom: backup, type: .sqlite)
        #expect(await errors.next() as? CoreDataStack.Error == .storeWasReset)
        let main = app.mainQueueContext
        let count = try await main.perform { try main.count(for: NSFetchRequest<NSManagedObject>(entityName: "Album")) }
        #expect(count == 0)
        try await app.close()
    }

    // * Others have made many changes; to note that they were seen fails, as the disk is full.
    @Test("keeps his unsaved changes where noting what he has seen fails, and says why")
    func fullDisk() async throws {
        let folder = try TemporaryFolder()
        let app = try await stack("app", folder)
        let process = try OtherProcess(program: "StackProgram", ["follow-full", folder.store.path])
        try #require(process.line() == "ready")
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        defer { connection.close() }
        connection.setBusyTimeout(seconds: 60)
        try connection.transaction(.immediate) {
            guard case .integer(let last)? = try connection.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16002").first?.first else {
                return
            }
            try connection.execute(
                """
                WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
                INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZTIMESTAMP) SELECT \(last) + n, 16002, 0 FROM numbers
                """
            )
            try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(last + 1000) WHERE Z_ENT = 16002")
        }
        #expect(process.line() == "error 134070, 1 unsaved")
        process.kill()
        try await app.close()
    }

    // * Another inserts 2,500 rows with one request.
    // => Main takes them a thousand at a time, and whoever asks for its queue at the first comes before the last.
    @Test("gets what another inserts in turns of a thousand, and lets others have the main queue in between")
    func turns() async throws {
        let folder = try TemporaryFolder()
        let app = try await stack("app", folder)
        let main = app.mainQueueContext
        await main.perform { main.retainsRegisteredObjects = true }
        var merges = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidMergeChangesObjectIDs, object: main)
            .makeAsyncIterator()
        let name = Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs
        let (count, between) = (Lock(0), Lock<[Int]>([]))
        let observer = NotificationCenter.default.addObserver(forName: name, object: main, queue: nil) { _ in
            count.withLock { $0 += 1 }
            main.perform { between.withLock { $0.append(count.withLock { $0 }) } }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GroupModel.make())
        let tracked = [NSPersistentHistoryTrackingKey: true]
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: tracked)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try await context.perform {
            let rows = (0..<2500).map { ["number": $0] }
            _ = try context.execute(NSBatchInsertRequest(entityName: "Group", objects: rows))
        }
        var counts: [Int] = []
        while counts.reduce(0, +) < 2500, let merge = await merges.next() {
            counts.append((merge.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count ?? 0)
        }
        #expect(counts == [1000, 1000, 500])
        while between.withLock({ $0.count }) < 3 { await main.perform(schedule: .enqueued) {} }
        #expect(between.withLock { $0 } == [1, 2, 3])
        try await app.close()
    }
}
