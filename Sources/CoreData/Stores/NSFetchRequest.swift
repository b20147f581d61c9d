import Foundation

/// What a fetch can give: managed objects, object IDs, numbers, dictionaries.
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSManagedObjectID: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The form of a fetch's results.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let managedObjectResultType: Self = []
    public static let managedObjectIDResultType = Self(rawValue: 1)
    public static let dictionaryResultType = Self(rawValue: 2)
    public static let countResultType = Self(rawValue: 4)
}

/// Which objects to fetch, in which order, and how much of them.
///
/// NB: the parameter is not constrained to `NSFetchRequestResult` as Apple's is: without Objective-C, `any NSFetchRequestResult` does not
/// conform to its own protocol, and `NSFetchRequest<any NSFetchRequestResult>` could not be written.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The entity to fetch.
    open var entity: NSEntityDescription? {
        didSet { nameAsGiven = nil }
    }
    private var nameAsGiven: String?

    /// The name of the entity, resolved when the request is executed.
    open var entityName: String? { entity?.name ?? nameAsGiven }

    /// Which objects; nil for all of the entity.
    open var predicate: NSPredicate?
    /// The order; nil or empty for none in particular.
    open var sortDescriptors: [NSSortDescriptor]?
    /// At most so many results; 0 for all.
    open var fetchLimit = 0
    /// So many results are passed over.
    open var fetchOffset = 0
    open var resultType: NSFetchRequestResultType = .managedObjectResultType
    /// Whether objects of subentities are results too.
    open var includesSubentities = true
    /// Whether rows are read along, so that firing a result needs no statement.
    open var includesPropertyValues = true
    /// Whether results are faults: their values at hand, `awakeFromFetch` still to come.
    open var returnsObjectsAsFaults = true
    /// Relationships that are read along, as key paths of any length: one statement for each relationship of each level, whatever the number of
    /// objects. The results hold what was read, until they are refreshed. What is at hand is not read again.
    ///
    /// A key that is no relationship makes the fetch throw `CocoaError` 134060.
    open var relationshipKeyPathsForPrefetching: [String]?
    /// Whether unsaved changes of the context count.
    open var includesPendingChanges = true
    open var returnsDistinctResults = false
    /// What dictionaries have: names, descriptions, key paths and expressions; nil for all attributes.
    ///
    /// Of objects, the properties that they hold, by name or description: they are faults, and those that are used for anything else are read
    /// whole, with those fetched along with them. What they hold counts until something is saved, refreshed or merged. In a context with a
    /// parent, with `fetchBatchSize`, and where relationships are prefetched, rows are read whole.
    ///
    /// What is no property makes the fetch throw `CocoaError` 134060.
    open var propertiesToFetch: [Any]?
    open var fetchBatchSize = 0
    /// Whether objects that the context already has take the fetched values.
    open var shouldRefreshRefetchedObjects = false
    open var propertiesToGroupBy: [Any]?
    open var havingPredicate: NSPredicate?
    /// Cancelling it ends the reading; of a copy that an asynchronous fetch has made for itself.
    final var progress: Progress?

    /// A request for the entity of `ResultType`, where that is a class of managed objects; else `entity` is to be set.
    public override init() { super.init() }

    /// A request for the entity of that name in the model of the context that executes it.
    public convenience init(entityName: String) {
        self.init()
        nameAsGiven = entityName
    }

    /// Keeps the entity's name in place of the entity, to be resolved when the request is executed.
    final func releaseEntity() {
        let name = entityName
        entity = nil
        nameAsGiven = name
    }

    open override var description: String { "\(super.description) (\(parts.joined(separator: "; ")))" }

    open override func copy(with zone: NSZone? = nil) -> Any { copied(as: ResultType.self) }

    /// A copy that gives its results as another type. `entity` has to be set where it follows from the type.
    final func copied<Other>(as type: Other.Type) -> NSFetchRequest<Other> {
        let copy = NSFetchRequest<Other>()
        copy.entity = entity
        copy.nameAsGiven = nameAsGiven
        copy.affectedStores = affectedStores
        (copy.predicate, copy.sortDescriptors) = (predicate, sortDescriptors)
        (copy.fetchLimit, copy.fetchOffset, copy.fetchBatchSize) = (fetchLimit, fetchOffset, fetchBatchSize)
        (copy.resultType, copy.includesSubentities) = (resultType, includesSubentities)
        (copy.includesPropertyValues, copy.returnsObjectsAsFaults) = (includesPropertyValues, returnsObjectsAsFaults)
        copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
        (copy.includesPendingChanges, copy.returnsDistinctResults) = (includesPendingChanges, returnsDistinctResults)
        (copy.propertiesToFetch, copy.propertiesToGroupBy) = (propertiesToFetch, propertiesToGroupBy)
        (copy.shouldRefreshRefetchedObjects, copy.havingPredicate) = (shouldRefreshRefetchedObjects, havingPredicate)
        return copy
    }
}

extension NSFetchRequest {
    /// What it asks for, beyond all objects.
    fileprivate var parts: [String] {
        let orders = sortDescriptors?.map { "\($0.key ?? "a comparison"), \($0.ascending ? "ascending" : "descending")" } ?? []
        let numbers = [("limit", fetchLimit), ("offset", fetchOffset), ("batch size", fetchBatchSize)].filter { $0.1 > 0 }
        return [entityName.map { "entity: \($0)" }, predicate.map { "predicate: (\($0.printedFormat))" }].compactMap { $0 }
            + (orders.isEmpty ? [] : ["sortDescriptors: (\(orders.map { "(\($0))" }.joined(separator: ", ")))"])
            + numbers.map { "\($0): \($1)" } + ["type: \(resultType.name)"]
    }
}

extension NSFetchRequestResultType {
    fileprivate var name: String {
        switch self {
        case .managedObjectIDResultType: "NSManagedObjectIDResultType"
        case .dictionaryResultType: "NSDictionaryResultType"
        case .countResultType: "NSCountResultType"
        default: "NSManagedObjectResultType"
        }
    }
}
