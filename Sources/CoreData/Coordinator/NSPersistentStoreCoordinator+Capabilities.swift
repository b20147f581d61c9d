extension NSPersistentStoreCoordinator {
    var takesOrders: Bool { stores.withLock { $0.all.contains { !$0.capabilities.contains(.positions) } } }

    /// Whether another coordinator of this process may write into what a store has, and this one sees it.
    ///
    /// - Throws: `CocoaError` 134060 where the store is not one of this coordinator's.
    package func sharesWithOthers(_ store: NSPersistentStore) throws -> Bool { try own(store).capabilities.contains(.severalProcesses) }

    /// Sees whether another coordinator that opens what is at a store's place has the same store.
    ///
    /// - Throws: a `CocoaError` where the file was removed, or there is another in its place; 134060 where the store is not one of this coordinator's.
    package func requireInPlace(_ store: NSPersistentStore) throws { try own(store).requireInPlace() }

    /// Whether a store that a query asks would have to be asked for each row of it.
    func readsRowsOnDemand(_ query: FetchQuery) -> Bool {
        let onDemand = stores.withLock { $0.all.filter { $0.capabilities.contains(.rowsOnDemand) } }
        guard !onDemand.isEmpty else { return false }
        let entities = [query.entity] + (query.includesSubentities ? query.entity.allSubentities : [])
        return onDemand.contains { store in query.stores?.contains(store.number) ?? true && entities.contains(where: store.holds) }
    }
}
