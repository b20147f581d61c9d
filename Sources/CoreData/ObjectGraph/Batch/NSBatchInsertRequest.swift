import Foundation

/// Inserts objects into a store without making them: from dictionaries, or by a closure that fills in one row after the other.
///
/// What is not given has its default; a mandatory property without a value is an error. To-one relationships are set by object ID; to-many ones follow
/// from the other end. No hook is called, and no rule of validation is asked. Where the values of a uniqueness constraint are there already, in the
/// store or earlier in the request, the merge policy of the context says what happens: the error policy, that nothing is inserted and the request fails
/// with 133021; *object trump*, that what was given is written into the row that is there; *overwrite*, all of it; *store trump* and *rollback*, that
/// the row that is there stays as it is, and the new one is left out. Where the values are those of *two* rows, by two constraints, no row can be both:
/// the request fails with 133021, but for *store trump* and *rollback*, which leave the new one out as before. A member that is there keeps its place
/// in its owner's ordered relationship, unless it gets another owner.
///
/// All rows are collected before the first is written: the closure may use its context, and a request of millions of rows takes the memory for their
/// values. A closure that never returns true never ends.
///
/// Contexts learn of the new objects when they fetch, or by `mergeChanges(fromRemoteContextSave:into:)` with the result's `changedObjectIDs`. Only
/// stores of SQLite, in a file or in memory, can; and an `NSIncrementalStore` whose class knows how: that is handed the request as it is.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    /// The name of the entity.
    open private(set) var entityName: String
    /// The entity, where the request was made with one.
    open private(set) var entity: NSEntityDescription?
    /// The values of each object, by the names of properties. `NSNull` is nil.
    open var objectsToInsert: [[String: Any]]?
    /// Fills an empty dictionary for the next object, or returns true: then there is none, whatever is in the dictionary.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    /// Sets the values of the next object, or returns true: then there is none, whatever was set.
    ///
    /// It is the same instance each time, with all values at their defaults: a means to set them that is not to be kept, deleted, or related to from another object. Its
    /// to-one relationships take saved objects of the context.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    /// What the result's `result` is.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly

    /// A request for the entity of that name in the model of the context that executes it.
    public init(entityName: String, objects dictionaries: [[String: Any]]) {
        (self.entityName, objectsToInsert) = (entityName, dictionaries)
    }

    public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        (entityName, self.entity, objectsToInsert) = (entity.name ?? "", entity, dictionaries)
    }

    private init(entityName: String, _ entity: NSEntityDescription?) { (self.entityName, self.entity) = (entityName, entity) }

    public convenience init(entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init(entityName: entity.name ?? "", entity)
        dictionaryHandler = handler
    }

    public convenience init(entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init(entityName: entity.name ?? "", entity)
        managedObjectHandler = handler
    }

    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init(entityName: entityName, nil)
        dictionaryHandler = handler
    }

    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init(entityName: entityName, nil)
        managedObjectHandler = handler
    }

    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchInsertRequest(entityName: entityName, entity)
        (copy.objectsToInsert, copy.dictionaryHandler, copy.managedObjectHandler) = (
            objectsToInsert, dictionaryHandler, managedObjectHandler
        )
        (copy.resultType, copy.affectedStores) = (resultType, affectedStores)
        return copy
    }
}

extension NSBatchInsertRequest: BatchRequesting {
    func target(in context: NSManagedObjectContext) throws -> BatchTarget? {
        BatchTarget(entity: try entity(entity, entityName, in: context), inserts: true)
    }

    func request(in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> BatchRequest? {
        let entity = try entity(self.entity, entityName, in: context)
        let conflict = BatchRows.Conflict(context.mergePolicy)
        let collector = try BatchRowCollector(entity, notesGiven: conflict == .overwritesGiven) { coordinator.identify($0).reference }
        if let managedObjectHandler {
            try BatchFilling(collector).fill(in: context, managedObjectHandler)
        } else if let dictionaryHandler {
            try BatchFilling(collector).fill(dictionaryHandler)
        } else {
            try BatchFilling(collector).fill(objectsToInsert ?? [])
        }
        guard !collector.isEmpty else { return nil }
        let stores = coordinator.numbers(of: affectedStores)
        return BatchRequest(
            name: "NSBatchInsertRequest",
            change: .insert(collector.rows(conflict, stores: stores)),
            // Rows that several of the request have become are counted once.
            wantsKeys: resultType == .objectIDs || resultType == .count && conflict != .fails
        )
    }

    func result(_ outcome: BatchOutcome) -> NSPersistentStoreResult { NSBatchInsertResult(resultType, outcome) }
}

extension BatchRows.Conflict {
    fileprivate init(_ policy: Any) {
        switch (policy as? NSMergePolicy)?.mergeType ?? .errorMergePolicyType {
        case .errorMergePolicyType: self = .fails
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: self = .keepsStored
        case .mergeByPropertyObjectTrumpMergePolicyType: self = .overwritesGiven
        case .overwriteMergePolicyType: self = .overwritesAll
        }
    }
}

/// What the result of a batch insert says.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// True.
    case statusOnly = 0
    /// The IDs of the new objects, and of those that were there and have been written.
    case objectIDs = 1
    /// Their number.
    case count = 2
}

/// What a batch insert has done.
open class NSBatchInsertResult: NSPersistentStoreResult {
    public let resultType: NSBatchInsertRequestResultType
    private let outcome: BatchOutcome

    init(_ type: NSBatchInsertRequestResultType, _ outcome: BatchOutcome) {
        resultType = type
        self.outcome = outcome
    }

    /// A `Bool`, an array of `NSManagedObjectID` or an `Int`, as the type says.
    open var result: Any? {
        switch resultType {
        case .statusOnly: true
        case .objectIDs: outcome.inserted + outcome.updated
        case .count: outcome.count
        }
    }

    /// What `mergeChanges(fromRemoteContextSave:into:)` wants to know: also who has got a member. Empty where the type is not that of IDs.
    public var changedObjectIDs: [AnyHashable: Any] { outcome.changedObjectIDs }
}
