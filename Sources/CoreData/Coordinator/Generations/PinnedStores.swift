import Foundation

/// What a pinned context stands on: it reads the stores as they were in a query generation, and saves into them as they are.
final class PinnedStores: StoreReader {
    let generation: QueryGeneration
    private let coordinator: NSPersistentStoreCoordinator

    init(_ coordinator: NSPersistentStoreCoordinator, _ generation: QueryGeneration) {
        (self.coordinator, self.generation) = (coordinator, generation)
    }

    var managedObjectModel: NSManagedObjectModel { coordinator.managedObjectModel }
    var takesOrders: Bool { coordinator.takesOrders }

    /// - Throws: `CocoaError` 134070 where all of them are gone, and others have come.
    func storesToRead() throws -> [any RowStore] {
        let stores = try generation.stores()
        guard stores.isEmpty, !coordinator.allStores.isEmpty else { return stores }
        throw CocoaError.coreData(
            .persistentStoreOperation,
            "The stores that the context is pinned to were removed from the coordinator, or moved: setQueryGenerationFrom(.current) shows those that are there."
        )
    }

    /// Nil for a store that came later.
    func storeToRead(numbered number: Int32) throws -> (any RowStore)? {
        _ = try coordinator.requiredStore(number)
        return try generation.stores().first { $0.number == number }
    }

    // What was read stays as it is; it is others who are to look again.
    func forgetRows(_ references: [RowReference]) { coordinator.forgetRows(references) }

    func persistentStore(numbered number: Int32) -> NSPersistentStore? { coordinator.persistentStore(numbered: number) }

    func permanentKeys(for entity: NSEntityDescription, rows: [Row], store: Int32) throws -> (store: Int32, keys: [Int64]) {
        try coordinator.permanentKeys(for: entity, rows: rows, store: store)
    }

    func pooledKeys(for entity: NSEntityDescription, count: Int, store: Int32) -> (store: Int32, first: Int64)? {
        coordinator.pooledKeys(for: entity, count: count, store: store)
    }

    func requireUnsaved(_ updates: [UnsavedUpdate]) throws { coordinator.requireUnsaved(updates) }

    func save(_ changes: ChangeSet, willCommit: () -> Void) throws -> SaveReceipt {
        try coordinator.save(changes, willCommit: willCommit)
    }
}
