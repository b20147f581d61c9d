import Foundation

/// Which store a request goes to as it is.
extension NSPersistentStoreCoordinator {
    /// The store that knows a request of a program's own class.
    ///
    /// - Throws: `CocoaError` 134091 where none does, 134060 where more than one could, 134070 for one that is named and not here.
    func storeKnowing(_ request: NSPersistentStoreRequest) throws -> any RowStore {
        let named = try numbers(of: request.affectedStores)?.map(requiredStore)
        let known = (named ?? allStores).filter { $0.capabilities.contains(.ownRequests) }
        guard known.count == (named ?? known).count else { throw Self.nobodyKnows(request, named ?? []) }
        return try only(known, request)
    }

    /// The store that carries a batch request out in its own way; nil where those do that can change many rows at once.
    func storeKnowing(_ request: NSPersistentStoreRequest, _ target: @autoclosure () throws -> BatchTarget?) throws -> (any RowStore)? {
        guard allStores.contains(where: { $0.capabilities.contains(.ownRequests) }), let target = try target() else { return nil }
        let stores = numbers(of: request.affectedStores) ?? target.stores
        if target.inserts {
            let store = try storeForInserts(of: target.entity, among: stores)
            return store.capabilities.contains(.ownRequests) ? store : nil
        }
        let asked = try self.stores(for: FetchQuery(entity: target.entity, stores: stores))
        return asked.contains { $0.capabilities.contains(.ownRequests) } ? try only(asked, request) : nil
    }

    private func only(_ stores: [any RowStore], _ request: NSPersistentStoreRequest) throws -> any RowStore {
        guard let store = stores.first else { throw Self.nobodyKnows(request, allStores) }
        guard stores.count > 1 else { return store }
        throw CocoaError.coreData(
            .coreData,
            "A request of class \(type(of: request)) is for one store, and \(stores.count) could be meant: name it in affectedStores.",
            userInfo: [NSAffectedStoresErrorKey: stores]
        )
    }

    private static func nobodyKnows(_ request: NSPersistentStoreRequest, _ stores: [any RowStore]) -> CocoaError {
        .coreData(
            .persistentStoreUnsupportedRequestType,
            "No store that is asked knows requests of class \(type(of: request)): an NSIncrementalStore may.",
            userInfo: [NSAffectedStoresErrorKey: stores]
        )
    }
}

/// The objects that a batch request is about.
struct BatchTarget {
    let entity: NSEntityDescription
    /// Whether it makes them.
    var inserts = false
    /// The only stores that they are in, where that is known.
    var stores: Set<Int32>?
}
