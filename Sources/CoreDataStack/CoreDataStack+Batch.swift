import CoreData
import Foundation

extension CoreDataStack {
    /// Makes a context for imports of thousands of objects: on a coordinator of its own on the same store, so that it writes at the speed of the
    /// file and in nobody's way; on the stack's, where that is no database.
    ///
    /// What it saves comes into root and main, later and on their queues: new objects as faults, a thousand a turn, changes of objects that are
    /// there already. Its merge policy lets its own values win. There is none where the store's file was removed, or another is in its place.
    /// After a `resetStore`, its fetches and saves throw `Error.storeWasReset`.
    ///
    /// - Parameters:
    ///   - persistentStoreOptions: those of the context's own store. The file's journal mode stays.
    ///   - mergesIntoStack: false to leave root and main as they are.
    ///   - callbackQueue: where `callback` is called; nil for a background queue.
    ///   - callback: gets the context, or why there is none.
    public func newBatchOperationContext(
        with persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
        mergesIntoStack: Bool = true,
        on callbackQueue: DispatchQueue? = nil,
        callback: @escaping BatchContextCallback
    ) {
        let options = PersistentStoreOptions(persistentStoreOptions)
        Self.answer(on: callbackQueue, callback) { [self] in
            do { return .success(try makeBatchContext(options, mergesIntoStack)) } catch { return .failure(error) }
        }
    }

    /// As `newBatchOperationContext(with:mergesIntoStack:on:callback:)`, awaited.
    ///
    /// - Throws: `Error.storeNotFound`, `Error.inMemoryStoreMissing`, `Error.stackWasClosed`, `Error.storeWasReset` where a reset comes in between,
    ///   or a `CocoaError` where the store cannot be opened a second time; where its file is not there no other is made.
    public func newBatchOperationContext(
        with persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
        mergesIntoStack: Bool = true
    ) async throws -> NSManagedObjectContext {
        let options = PersistentStoreOptions(persistentStoreOptions)
        return try await Self.inBackground { [self] in try makeBatchContext(options, mergesIntoStack) }
    }

    private func makeBatchContext(_ options: PersistentStoreOptions, _ mergesIntoStack: Bool) throws -> NSManagedObjectContext {
        let coordinator = try makeBatchCoordinator(options)
        let context = BatchContext(.privateQueueConcurrencyType, core, name: "Batch Operation Context")
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        // What it saves is merged by itself.
        context.transactionAuthor = core.root?.transactionAuthor
        if mergesIntoStack { context.followers = (core.root, core.main) }
        core.add(context)
        return context
    }

    private func makeBatchCoordinator(_ options: PersistentStoreOptions) throws -> NSPersistentStoreCoordinator {
        do { return try makeCoordinator(on: store, options) } catch {
            // Where the store is being closed or replaced meanwhile, that is why.
            try core.gate.check()
            throw error
        }
    }

    private func makeCoordinator(on store: NSPersistentStore, _ options: PersistentStoreOptions) throws -> NSPersistentStoreCoordinator {
        guard try core.coordinator.sharesWithOthers(store) else { return core.coordinator }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: managedObjectModel)
        // NB: where there is no file an empty one is made, and the log of one that comes back would be gone.
        try core.coordinator.requireInPlace(store)
        try coordinator.addPersistentStore(
            ofType: store.type,
            configurationName: place.configuration,
            at: store.url,
            options: options.tracking(as: store).values
        )
        return coordinator
    }

    /// The store of the stack.
    ///
    /// - Throws: `Error.storeNotFound`, `Error.inMemoryStoreMissing`, `Error.stackWasClosed`.
    var store: NSPersistentStore {
        get throws {
            if core.gate.isClosedForGood { throw Error.stackWasClosed }
            guard let url = place.url else {
                guard let store = core.coordinator.persistentStores.first else { throw Error.inMemoryStoreMissing }
                return store
            }
            guard let store = core.coordinator.persistentStore(for: url) else { throw Error.storeNotFound(at: url) }
            return store
        }
    }
}
