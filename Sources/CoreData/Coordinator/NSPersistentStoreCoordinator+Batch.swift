import Foundation

extension NSPersistentStoreCoordinator {
    /// Carries a batch request out in the stores that it is about: in all or in none, but for a commit that fails after another store's.
    ///
    /// - Throws: `CocoaError` 134091 where a store cannot, 134030 where it was opened read-only, 134040 as for a save; what the stores throw.
    func execute(_ request: BatchRequest) throws -> [(store: any RowStore, changes: BatchChanges)] {
        let stores = try stores(for: request).sorted { $0.location < $1.location }
        let receipts = try counting("An \(request.name) was carried out") { try execute(request, stores[...]) }
        for receipt in receipts { receipt.publish() }
        return zip(stores, receipts).map { ($0, $1.changes) }
    }

    private func stores(for request: BatchRequest) throws -> [any RowStore] {
        if case .insert(let rows) = request.change { return [try storeForInserts(of: rows.entity, among: rows.stores)] }
        let query = FetchQuery(entity: request.entity, stores: request.stores)
        let stores = try stores(for: query)
        guard !stores.isEmpty else {
            throw CocoaError.coreData(.persistentStoreOperation, "No store that an \(request.name) asks has \(request.entity.name ?? "?").")
        }
        if stores.count > 1, case .delete(let query) = request.change, query.limit > 0 || query.offset > 0 {
            throw CocoaError.coreData(.coreData, "A limit or offset of an \(request.name) is for one store: name it in affectedStores.")
        }
        return try stores.map(writable)
    }

    /// The first of those that the request names and that has the entity, in the order of the coordinator; or as for new objects.
    func storeForInserts(of entity: NSEntityDescription, among chosen: Set<Int32>?) throws -> any RowStore {
        guard let chosen else { return try storeForInserts(of: entity, chosen: 0) }
        let named = allStores.filter { chosen.contains($0.number) }
        guard let store = named.first(where: { $0.holds(entity) }) ?? named.first else {
            throw CocoaError.coreData(
                .persistentStoreOperation,
                "An NSBatchInsertRequest of \(entity.name ?? "?") names no store that is here."
            )
        }
        return try storeForInserts(of: entity, chosen: store.number)
    }

    /// As saves do: every transaction is open, and all statements have run, before the first is committed.
    private func execute(_ request: BatchRequest, _ stores: ArraySlice<any RowStore>) throws -> [BatchReceipt] {
        guard let store = stores.first else { return [] }
        var rest: [BatchReceipt] = []
        do {
            let receipt = try store.execute(request) { rest = try execute(request, stores.dropFirst()) }
            return [receipt] + rest
        } catch  where !rest.isEmpty {
            for receipt in rest { receipt.publish() }
            throw IncompleteChange(missing: store, error)
        } catch let change as IncompleteChange {
            throw change.with(missing: store)
        }
    }
}
