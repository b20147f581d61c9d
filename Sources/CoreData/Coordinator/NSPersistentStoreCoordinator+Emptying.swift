import Foundation

extension NSPersistentStoreCoordinator {
    /// Removes every object of a store, and what the application put into its metadata, in one transaction. An addition to Apple's interface.
    ///
    /// The store that is returned takes the place of the old one in the same moment, so that nobody finds the coordinator without it: it has
    /// another identifier, and IDs of old objects lead nowhere. Contexts keep the objects that they have: `reset()` them. Other coordinators on
    /// the same database see it empty, and should let go of it. What was in the file is overwritten, and binary data in files beside it removed.
    ///
    /// - Parameter options: those of the store that is returned.
    /// - Throws: `CocoaError` 134060 where the store is not one of this coordinator's; another where it cannot be written or opened with the
    ///   options: all objects are still there then.
    @discardableResult
    public func emptyPersistentStore(_ store: NSPersistentStore, options: [AnyHashable: Any]? = nil) throws -> NSPersistentStore {
        guard let old = allStores.first(where: { $0 === store }) else {
            throw CocoaError.coreData(.coreData, "The store is not one of this coordinator's.")
        }
        let fresh = try old.emptied(options: options)
        replace(old, with: fresh)
        fresh.discardRemains()
        return fresh
    }

    private func replace(_ old: any RowStore, with fresh: any RowStore) {
        let change: [AnyHashable: Any] = [
            NSRemovedPersistentStoresKey: [old], NSAddedPersistentStoresKey: [fresh], NSUUIDChangedPersistentStoresKey: [old, fresh],
        ]
        announce(.NSPersistentStoreCoordinatorStoresWillChange, change)
        fresh.owner = self
        stores.withLock { stores in
            stores.identify(fresh)
            for index in stores.all.indices where stores.all[index] === old { stores.all[index] = fresh }
        }
        old.home?.store = nil
        old.close()
        old.owner = nil
        announce(.NSPersistentStoreCoordinatorStoresDidChange, change)
    }
}
