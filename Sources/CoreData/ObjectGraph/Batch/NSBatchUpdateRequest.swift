import Foundation

/// Sets properties of all objects that satisfy a predicate, in the stores, without reading one.
///
/// Versions rise as with a save of the objects. No hook is called, and of validation only this is done: a value has to be one that its attribute can
/// hold, and a mandatory property gets no nil. A one-to-one relationship is written at both ends. What SQL cannot say of which objects is evaluated as
/// for `NSBatchDeleteRequest`. Contexts learn nothing of it, and what they have of the objects is out of date until
/// `mergeChanges(fromRemoteContextSave:into:)` is told the result's `changedObjectIDs`. Unsaved changes of contexts do not count.
///
/// Only stores of SQLite, in a file or in memory, can; and an `NSIncrementalStore` whose class knows how: that is handed the request as it is.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    private let given: NSEntityDescription?
    /// The name of the entity.
    open private(set) var entityName: String
    /// The entity.
    ///
    /// - Precondition: the request was made with one.
    open var entity: NSEntityDescription {
        if let given { return given }
        misuse("An NSBatchUpdateRequest knows the entity only by its name, \(entityName): make it with init(entity:).")
    }
    /// Which objects; nil for all of the entity.
    open var predicate: NSPredicate?
    /// Whether objects of subentities are changed too.
    open var includesSubentities = true
    /// What the result's `result` is.
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType
    /// What to set: by the name of a property, or its description, a value, an `NSExpression` that a store can compute from the object's own values
    /// and those that key paths lead to, or for a to-one relationship an object ID. `NSNull` sets to nil.
    open var propertiesToUpdate: [AnyHashable: Any]?

    /// A request for the entity of that name in the model of the context that executes it.
    public init(entityName: String) { (self.entityName, given) = (entityName, nil) }

    public init(entity: NSEntityDescription) { (entityName, given) = (entity.name ?? "", entity) }

    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = given.map(NSBatchUpdateRequest.init(entity:)) ?? NSBatchUpdateRequest(entityName: entityName)
        (copy.predicate, copy.includesSubentities, copy.resultType) = (predicate, includesSubentities, resultType)
        (copy.propertiesToUpdate, copy.affectedStores) = (propertiesToUpdate, affectedStores)
        return copy
    }
}

extension NSBatchUpdateRequest: BatchRequesting {
    func target(in context: NSManagedObjectContext) throws -> BatchTarget? {
        BatchTarget(entity: try entity(given, entityName, in: context))
    }

    func request(in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> BatchRequest? {
        let entity = try entity(given, entityName, in: context)
        let assignments = try assignments(entity, coordinator)
        guard !assignments.isEmpty else {
            throw CocoaError.coreData(.coreData, "An NSBatchUpdateRequest of \(entityName) has no propertiesToUpdate.")
        }
        var query = FetchQuery(entity: entity, includesSubentities: includesSubentities, predicate: predicate?.tree)
        query.stores = coordinator.numbers(of: affectedStores)
        return BatchRequest(
            name: "NSBatchUpdateRequest",
            change: .update(query, assignments),
            wantsKeys: resultType == .updatedObjectIDsResultType
        )
    }

    private func assignments(_ entity: NSEntityDescription, _ coordinator: NSPersistentStoreCoordinator) throws -> [BatchAssignment] {
        var known: Set<String> = []
        return try (propertiesToUpdate ?? [:]).map { key, value in
            guard let name = (key.base as? NSPropertyDescription)?.name ?? key.base as? String else {
                throw CocoaError.coreData(
                    .coreData,
                    "“\(key.base)” is no name of a property of \(entityName) that an NSBatchUpdateRequest could set."
                )
            }
            guard known.insert(name).inserted else {
                throw BatchValue(entity: entity, key: name).error(.coreData, "is set twice, by its name and by its description")
            }
            return try BatchAssignment(name, value, entity) { coordinator.identify($0).reference }
        }.sorted { $0.name < $1.name }
    }

    func result(_ outcome: BatchOutcome) -> NSPersistentStoreResult { NSBatchUpdateResult(resultType, outcome) }
}

/// What the result of a batch update says.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// True.
    case statusOnlyResultType = 0
    /// The IDs of all that satisfied the predicate.
    case updatedObjectIDsResultType = 1
    /// Their number.
    case updatedObjectsCountResultType = 2
}

/// What a batch update has done.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    public let resultType: NSBatchUpdateRequestResultType
    private let outcome: BatchOutcome

    init(_ type: NSBatchUpdateRequestResultType, _ outcome: BatchOutcome) {
        resultType = type
        self.outcome = outcome
    }

    /// A `Bool`, an array of `NSManagedObjectID` or an `Int`, as the type says.
    open var result: Any? {
        switch resultType {
        case .statusOnlyResultType: true
        case .updatedObjectIDsResultType: outcome.updated
        case .updatedObjectsCountResultType: outcome.count
        }
    }

    /// What `mergeChanges(fromRemoteContextSave:into:)` wants to know: also who has lost or got a member. Empty where the type is not that of IDs.
    public var changedObjectIDs: [AnyHashable: Any] { outcome.changedObjectIDs }
}
