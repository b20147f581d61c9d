import Foundation

/// A request that changes rows without objects.
protocol BatchRequesting: ContextRequest {
    /// The objects that it is about; nil where there is nothing to do.
    func target(in context: NSManagedObjectContext) throws -> BatchTarget?
    /// What goes down to the stores; nil where there is nothing to do.
    func request(in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> BatchRequest?
    func result(_ outcome: BatchOutcome) -> NSPersistentStoreResult
}

extension BatchRequesting {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        try result(outcome(in: context, collectsIDs: false))
    }

    func outcome(in context: NSManagedObjectContext, collectsIDs: Bool) throws -> BatchOutcome {
        try FailureLog.noting("An \(Self.self) failed") {
            guard let coordinator = try context.connectedCoordinator() else {
                throw CocoaError.coreData(.persistentStoreOperation, "A context without a coordinator cannot carry out an \(Self.self).")
            }
            guard var request = try request(in: context, coordinator) else { return BatchOutcome() }
            if collectsIDs { request.wantsKeys = true }
            request.origin = ChangeOrigin(author: context.transactionAuthor, contextName: context.name)
            return BatchOutcome(try coordinator.executeDeciding(&request), request, coordinator)
        }
    }

    /// The entity of a request in the context's model.
    func entity(_ given: NSEntityDescription?, _ name: String, in context: NSManagedObjectContext) throws -> NSEntityDescription {
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        if let given { request.entity = given }
        return try context.entity(of: request, NSManagedObject.self)
    }
}

extension NSPersistentStoreCoordinator {
    /// Carries a request out, and decides in memory about rows of which a store cannot tell whether they are meant.
    fileprivate func executeDeciding(_ request: inout BatchRequest) throws -> [(store: any RowStore, changes: BatchChanges)] {
        var judge = request.query.map { BatchJudge(self, $0, request.name) }
        while true {
            do {
                return try execute(request)
            } catch let rows as UndecidedRows {
                request.decisions[rows.store] = try judge?.decision(rows)
            }
        }
    }
}

extension NSManagedObjectContext {
    /// A batch request that was carried out, and the IDs of all that it has changed, whatever its result says.
    package typealias BatchExecution = (
        result: NSPersistentStoreResult, inserted: [NSManagedObjectID], updated: [NSManagedObjectID], deleted: [NSManagedObjectID]
    )

    /// As `execute(_:)`, for a batch request.
    package func executeCollectingIDs(_ request: NSPersistentStoreRequest) throws -> BatchExecution {
        checkQueue()
        guard let request = request as? any BatchRequesting else {
            throw CocoaError.coreData(.coreData, "\(type(of: request)) is no batch request.")
        }
        let outcome = try request.outcome(in: self, collectsIDs: true)
        return (request.result(outcome), outcome.inserted, outcome.updated + outcome.related, outcome.deleted)
    }
}

/// What a batch request has done, as its result tells it.
struct BatchOutcome {
    private(set) var count = 0
    private(set) var inserted: [NSManagedObjectID] = []
    private(set) var updated: [NSManagedObjectID] = []
    private(set) var deleted: [NSManagedObjectID] = []
    /// Of rows that merely lost or got a relationship.
    private(set) var related: [NSManagedObjectID] = []

    init() {}

    init(_ parts: [(store: any RowStore, changes: BatchChanges)], _ request: BatchRequest, _ coordinator: NSPersistentStoreCoordinator) {
        for (store, changes) in parts {
            count += changes.count
            guard request.wantsKeys else { continue }
            let ids = { (rows: [BatchChanges.Rows]) in rows.flatMap { $0.ids(coordinator, store.number) } }
            inserted += ids(changes.inserted)
            deleted += ids(changes.deleted)
            updated += ids(changes.updated.filter { !$0.isRelated })
            related += ids(changes.updated.filter(\.isRelated))
        }
    }

    /// In the form of a notification: each object once.
    var changedObjectIDs: [AnyHashable: Any] {
        var lists: [AnyHashable: Any] = [:]
        var known = Set(updated)
        let other = related.filter { known.insert($0).inserted }
        let all = [NSInsertedObjectIDsKey: inserted, NSUpdatedObjectIDsKey: updated + other, NSDeletedObjectIDsKey: deleted]
        for (key, ids) in all where !ids.isEmpty { lists[key] = ids }
        return lists
    }
}

extension BatchChanges.Rows {
    fileprivate func ids(_ coordinator: NSPersistentStoreCoordinator, _ store: Int32) -> [NSManagedObjectID] {
        let space = coordinator.ids(of: coordinator.managedObjectModel.entitiesInIndexOrder[entity], inStoreNumbered: store)
        return keys.map { NSManagedObjectID(RowIdentity(RowReference(key: $0, entity: Int32(entity), store: store), in: space)) }
    }
}
