extension NSPersistentStoreCoordinator {
    /// Does all that migrations with `NSPersistentStoreDeferredLightweightMigrationOptionKey` have left to be done: drops the tables whose rows are gone
    /// or were copied. Each is a transaction of its own; nobody need wait for all of them, and what is interrupted is gone on with.
    ///
    /// - Throws: a `CocoaError` where a store cannot be written.
    public func finishDeferredLightweightMigration() throws {
        for store in allStores { while try store.finishDeferredTask() {} }
    }

    /// Does one part of that. Nothing where nothing is left, which the metadata under that key say.
    ///
    /// - Throws: as `finishDeferredLightweightMigration()`.
    public func finishDeferredLightweightMigrationTask() throws {
        for store in allStores where try store.finishDeferredTask() { return }
    }
}
