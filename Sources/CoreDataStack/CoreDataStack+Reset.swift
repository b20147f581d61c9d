import CoreData
import Foundation

extension CoreDataStack {
    /// Removes everything from the store, as for a logout. The stack stays as it is, empty: root and main are the same contexts, without objects.
    ///
    /// Saves that are on their way reach the store first; new ones are refused meanwhile. The store is emptied in one transaction, in place:
    /// a process that is killed during it finds all or nothing, and `constructSQLiteStack` finishes a reset that was begun. Contexts from
    /// `newChildContext` and `newBatchOperationContext`, made before or during it, are left behind: their fetches and saves throw `Error.storeWasReset`.
    ///
    /// Waits for a turn of the main queue, so do not block that one until the callback comes. Where it fails, all rows are still there, and the
    /// stack works as before, but for the contexts left behind.
    ///
    /// - Parameters:
    ///   - persistentStoreOptions: the options of the emptied store. Its journal mode stays.
    ///   - callbackQueue: where `callback` is called; nil for a background queue.
    ///   - callback: is called once the store is empty, or could not be emptied.
    public func resetStore(
        with persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
        on callbackQueue: DispatchQueue? = nil,
        callback: @escaping StoreResetCallback
    ) {
        let options = PersistentStoreOptions(persistentStoreOptions)
        Task.detached { [self] in
            let result: ResetResult
            do {
                try await reset(options)
                result = .success
            } catch {
                result = .failure(error)
            }
            (callbackQueue ?? Self.background).async { callback(result) }
        }
    }

    /// As `resetStore(with:on:callback:)`, awaited.
    ///
    /// - Throws: `Error.storeWasReset` while another reset is under way; `Error.storeNotFound`, `Error.inMemoryStoreMissing`; a `CocoaError` where
    ///   the store cannot be written, 134070 where it is not a database: delete its objects then.
    public func resetStore(
        with persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
    ) async throws {
        let options = PersistentStoreOptions(persistentStoreOptions)
        try await Task.detached { [self] in try await reset(options) }.value
    }

    private func reset(_ options: PersistentStoreOptions) async throws {
        try await core.exchangeStore {
            try core.coordinator.requireEmptying(of: store)
        } by: { [self] in
            try empty(options)
        }
    }

    private func empty(_ options: PersistentStoreOptions) throws {
        let store = try store
        let options = options.sharing(as: store)
        guard let url = place.databaseFile else { return try core.empty(store, options) }
        try InterruptedReset(of: url).note(store.identifier) { try core.empty(store, options) }
    }
}

extension StackCore {
    fileprivate func empty(_ store: NSPersistentStore, _ options: PersistentStoreOptions) throws {
        try coordinator.emptyPersistentStore(store, options: options.values)
    }

    /// Takes the stores as others have made them.
    func reopenStores() throws { for store in coordinator.persistentStores { try coordinator.reopenPersistentStore(store) } }

    /// Lets the store become another one: saves that are on their way end first, new ones are refused meanwhile. Root and main are without objects
    /// then, all other contexts are left behind.
    ///
    /// - Parameter check: looks, while nobody else exchanges the store, whether it can be: where it throws, nobody is left behind.
    /// - Throws: `Error.storeWasReset` while another exchange is under way; what `exchange` throws: root and main are what they were then.
    func exchangeStore(if check: () throws -> Void = {}, by exchange: @escaping @Sendable () throws -> Void) async throws {
        try gate.close(.storeWasReset)
        defer {
            gate.open()
            // Others may have exchanged it as well meanwhile.
            following?.look()
        }
        try check()
        await gate.drain()
        // Who is made meanwhile may read what is gone.
        beginLeavingBehind(throwing: .storeWasReset)
        defer { endLeavingBehind() }
        try await CoreDataStack.inBackground { [self] in
            try exchange()
            // The new store knows nobody who follows it.
            following?.beginAnew()
        }
        for context in [root, main].compactMap({ $0 }) {
            await context.perform {
                context.giveUpChildSaves()
                context.reset()
            }
        }
    }
}

extension StackContext {
    /// Its objects are gone: whatever it still tries fails.
    func leaveBehind(throwing error: CoreDataStack.Error) {
        disconnect(throwing: error)
        guard parent == nil, let coordinator = persistentStoreCoordinator, coordinator !== core.coordinator else { return }
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }
}
