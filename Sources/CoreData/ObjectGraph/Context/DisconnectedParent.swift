import Foundation

/// What a context stands on once it has been disconnected: nothing. Whatever can throw throws.
final class DisconnectedParent: GraphParent {
    let managedObjectModel: NSManagedObjectModel
    let isStoreSide: Bool
    let error: any Error

    init(_ model: NSManagedObjectModel, isStoreSide: Bool, throwing error: any Error) {
        managedObjectModel = model
        self.isStoreSide = isStoreSide
        self.error = error
    }

    func fetch(_ query: FetchQuery, _ body: (RowRun) throws -> Void) throws -> FetchResidue? { throw error }
    func references(_ query: FetchQuery) throws -> [RowReference]? { throw error }
    func count(_ query: FetchQuery) throws -> Int? { throw error }
    func dictionaries(_ query: DictionaryQuery) throws -> [NSDictionary] { throw error }
    func row(for reference: RowReference) throws -> Row? { throw error }
    func cachedRow(for reference: RowReference) -> Row? { nil }
    func rows(for references: [RowReference]) throws -> [Row?] { throw error }
    func forgetRows(_ references: [RowReference]) {}
    func relatedRows(_ relationship: NSRelationshipDescription, owners: [RowReference]) throws -> [RelatedRow] { throw error }
    func permanentKeys(for entity: NSEntityDescription, rows: [Row], store: Int32) throws -> (store: Int32, keys: [Int64]) { throw error }
    func pooledKeys(for entity: NSEntityDescription, count: Int, store: Int32) -> (store: Int32, first: Int64)? { nil }
    func requireUnsaved(_ updates: [UnsavedUpdate]) throws { throw error }
    func save(_ changes: ChangeSet, willCommit: () -> Void) throws -> SaveReceipt { throw error }
    func persistentStore(numbered number: Int32) -> NSPersistentStore? { nil }
    func unsavedRows(of entities: Set<Int>) -> [UnsavedRow] { [] }
}

extension NSManagedObjectContext {
    /// Cuts the context off from its parent or coordinator, for good: every fetch, save and other request throws `error` from now on, objects
    /// that are read have no values, and unsaved changes stay where they are. An addition to Apple's interface.
    ///
    /// > Concurrency: may be called from any thread. What the context is doing at the moment ends undisturbed.
    public func disconnect(throwing error: any Error) { parentLink?.cut(throwing: error) }

    /// - Throws: why this context, or one above it, was disconnected.
    package func requireConnected() throws {
        if let cause = parentLink?.disconnectionCause { throw cause }
        try parent?.requireConnected()
    }

    /// For what goes by the coordinator, which a disconnected context has still.
    ///
    /// - Throws: as `requireConnected()`.
    func connectedCoordinator() throws -> NSPersistentStoreCoordinator? {
        try requireConnected()
        return persistentStoreCoordinator
    }
}
