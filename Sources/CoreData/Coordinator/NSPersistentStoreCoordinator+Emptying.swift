import Foundation

extension NSPersistentStoreCoordinator {
    /// Removes every object of a store, and what the application put into its metadata, in one transaction. An addition to Apple's interface.
    ///
    /// The store that is returned takes the place of the old one in the same moment, so that nobody finds the coordinator without it: it has
    /// another identifier, and IDs of old objects lead nowhere. Contexts keep the objects that they have: `reset()` them. Other coordinators on
    /// the same database see it empty, and should let go of it. What was in the file is overwritten, and binary data in files beside it removed.
    ///
    /// - Parameters:
    ///   - store: one of this coordinator's.
    ///   - options: those of the store that is returned.
    /// - Throws: `CocoaError` 134060 where the store is not one of this coordinator's; another where it cannot be written or opened with the
    ///   options: all objects are still there then.
    @discardableResult
    public func emptyPersistentStore(_ store: NSPersistentStore, options: [AnyHashable: Any]? = nil) throws -> NSPersistentStore {
        let old = try own(store)
        let fresh = try old.emptied(options: options)
        replace(old, with: fresh)
        fresh.discardRemains()
        return fresh
    }

    /// - Throws: `CocoaError` 134070 where all objects of the store cannot be removed in one step, 134030 where it was opened read-only.
    package func requireEmptying(of store: NSPersistentStore) throws {
        let store = try own(store)
        if !store.capabilities.contains(.emptying) { throw store.withoutEmptying }
        _ = try writable(store)
    }

    /// Removes every object of a store that nobody need have open, and makes another one of it, if it is still the one with that identifier.
    ///
    /// - Throws: a `CocoaError` where it cannot be read or written: all objects are still there then.
    package func emptyPersistentStore(identifiedBy identifier: String, at url: URL, ofType type: String) throws {
        try StoreTypes.kind(of: type).empty(identifier, at: url)
    }

    /// Takes a store as its database is by now, where others have emptied or replaced it: what `emptyPersistentStore` says of the exchange holds here
    /// too.
    ///
    /// - Throws: where it cannot be opened: the coordinator has the old one then.
    @discardableResult
    package func reopenPersistentStore(_ store: NSPersistentStore) throws -> NSPersistentStore {
        let old = try own(store)
        let fresh = try old.reopened()
        replace(old, with: fresh)
        return fresh
    }

    private func replace(_ old: any RowStore, with fresh: any RowStore) {
        announce(.NSPersistentStoreCoordinatorStoresWillChange, Self.exchange(old, fresh))
        take(fresh, for: old)
        finishExchange(of: old, fresh)
    }
}

/// One store object in the place of another.
extension NSPersistentStoreCoordinator {
    private static func exchange(_ old: any RowStore, _ fresh: any RowStore) -> [AnyHashable: Any] {
        [NSRemovedPersistentStoresKey: [old], NSAddedPersistentStoresKey: [fresh], NSUUIDChangedPersistentStoresKey: [old, fresh]]
    }

    /// Nobody finds the coordinator without one of the two.
    func take(_ fresh: any RowStore, for old: any RowStore) {
        fresh.owner = self
        stores.withLock { stores in
            stores.identify(fresh)
            for index in stores.all.indices where stores.all[index] === old { stores.all[index] = fresh }
        }
    }

    /// Ends the store whose place was taken; all that it has done for its coordinator, the other does.
    func finishExchange(of old: any RowStore, _ fresh: any RowStore) {
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: old)
        old.willRemove(from: self)
        if let home = old.home, home !== fresh.home { home.store = nil }
        old.close()
        old.leaveOwner()
        postRemoteChanges(of: fresh)
        fresh.didAdd(to: self)
        announce(.NSPersistentStoreCoordinatorStoresDidChange, Self.exchange(old, fresh))
    }
}
