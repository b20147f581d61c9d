import Foundation

/// Deletes all objects that a fetch finds, in the stores, without reading one.
///
/// Delete rules are followed there, as deleting objects does: *nullify* takes the deleted out of the relationships of others, whose versions rise;
/// *cascade* deletes what they lead to, to any depth; *deny* is an error where there is one that denies, and so is taking away what an object has to
/// have. Pairs of many-to-many relationships go. No hook of a deleted object is called, and nothing else is validated.
///
/// Without reading one but where SQL cannot say which: a block, or a comparator in the order of a limit, is evaluated with objects of a context that
/// sees the stores alone, before the transaction, which begins anew should others change one of them meanwhile; `CocoaError` 133020 where they do
/// whenever it tries.
///
/// Contexts learn nothing of it, and what they have of the objects is out of date until
/// `mergeChanges(fromRemoteContextSave:into:)` is told the result's `changedObjectIDs`. Unsaved changes of contexts do not count.
///
/// Only stores of SQLite, in a file or in memory, can; and an `NSIncrementalStore` whose class knows how: that is handed the request as it is.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    /// What the result's `result` is.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly
    /// The request whose results are deleted, a copy of the one that was given: what is changed in it before this request runs, changes what is
    /// deleted. Predicate, order, limit, offset and `includesSubentities` count, its result type does not. Where IDs were given, each access gives
    /// another copy of a request that finds their objects, and changing that changes nothing.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> {
        objectIDs == nil ? fetch : fetch.copied(as: (any NSFetchRequestResult).self)
    }
    private let fetch: NSFetchRequest<any NSFetchRequestResult>
    /// The IDs that were named, in place of a fetch.
    private let objectIDs: [NSManagedObjectID]?

    /// A request that deletes what `fetch`, as it is now, finds.
    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        self.fetch = fetch.copied(as: (any NSFetchRequestResult).self)
        objectIDs = nil
    }

    /// As `init(fetchRequest:)`, for a request of objects of a class. Ours: without it, such a request would have to be cast, which Swift on Linux
    /// cannot.
    public init<Object: NSManagedObject>(fetchRequest fetch: NSFetchRequest<Object>) {
        self.fetch = fetch.copied(as: (any NSFetchRequestResult).self)
        if fetch.entityName == nil { self.fetch.entity = Object.entity() }
        objectIDs = nil
    }

    /// A request that deletes objects by their IDs, which have to be of one entity. Those that are in no store are passed over, and unless
    /// `affectedStores` says otherwise, only the stores that the others are in are asked.
    public init(objectIDs objects: [NSManagedObjectID]) {
        fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: objects.first?.entity.name ?? "")
        fetch.predicate = NSPredicate(format: "SELF IN %@", objects)
        fetch.includesSubentities = false
        objectIDs = objects
    }

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = objectIDs.map(NSBatchDeleteRequest.init(objectIDs:)) ?? NSBatchDeleteRequest(fetchRequest: fetch)
        (copy.resultType, copy.affectedStores) = (resultType, affectedStores)
        return copy
    }
}

extension NSBatchDeleteRequest: BatchRequesting {
    func target(in context: NSManagedObjectContext) throws -> BatchTarget? {
        let holders = holders(in: context)
        if holders?.isEmpty == true || objectIDs?.isEmpty == true { return nil }
        return BatchTarget(entity: try context.entity(of: fetch, NSFetchRequestResult.self), stores: holders)
    }

    /// The stores that the named objects are in, where nobody has said which are meant.
    private func holders(in context: NSManagedObjectContext) -> Set<Int32>? {
        guard affectedStores == nil, let objectIDs else { return nil }
        return Set(objectIDs.compactMap { context.identify($0.identity).reference }.filter { $0.key > 0 }.map(\.store))
    }

    func request(in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> BatchRequest? {
        if let objectIDs {
            guard let first = objectIDs.first else { return nil }
            if let other = objectIDs.first(where: { $0.space.entityName != first.space.entityName }) {
                throw CocoaError.coreData(
                    .coreData,
                    """
                    An NSBatchDeleteRequest has IDs of \(first.space.entityName) and of \(other.space.entityName): make one for each entity. \
                    Nothing was deleted.
                    """
                )
            }
        }
        var query = try context.query(fetch, context.entity(of: fetch, NSFetchRequestResult.self))
        if let stores = coordinator.numbers(of: affectedStores) ?? holders(in: context) { query.stores = stores }
        if objectIDs != nil, query.stores?.isEmpty == true { return nil }
        return BatchRequest(name: "NSBatchDeleteRequest", change: .delete(query), wantsKeys: resultType == .resultTypeObjectIDs)
    }

    func result(_ outcome: BatchOutcome) -> NSPersistentStoreResult { NSBatchDeleteResult(resultType, outcome) }
}

/// What the result of a batch delete says.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// True.
    case resultTypeStatusOnly = 0
    /// The IDs of all that were deleted, also by cascade.
    case resultTypeObjectIDs = 1
    /// Their number.
    case resultTypeCount = 2
}

/// What a batch delete has done.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    public let resultType: NSBatchDeleteRequestResultType
    private let outcome: BatchOutcome

    init(_ type: NSBatchDeleteRequestResultType, _ outcome: BatchOutcome) {
        resultType = type
        self.outcome = outcome
    }

    /// A `Bool`, an array of `NSManagedObjectID` or an `Int`, as the type says.
    open var result: Any? {
        switch resultType {
        case .resultTypeStatusOnly: true
        case .resultTypeObjectIDs: outcome.deleted
        case .resultTypeCount: outcome.count
        }
    }

    /// What `mergeChanges(fromRemoteContextSave:into:)` wants to know: also who has lost a relationship. Empty where the type is not that of IDs.
    public var changedObjectIDs: [AnyHashable: Any] { outcome.changedObjectIDs }
}
