import Foundation

@available(
    *,
    unavailable,
    message: "There is no NSFetchedResultsController yet: fetch, and fetch again when NSManagedObjectContextObjectsDidChange is posted."
)
open class NSFetchedResultsController<ResultType>: NSObject {
    public init(
        fetchRequest: NSFetchRequest<ResultType>,
        managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?,
        cacheName name: String?
    ) { absent() }
    open func performFetch() throws { absent() }
    open var fetchRequest: NSFetchRequest<ResultType> { absent() }
    open var managedObjectContext: NSManagedObjectContext { absent() }
    open var sectionNameKeyPath: String? { absent() }
    open var cacheName: String? { absent() }
    open var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { absent() }
        set { absent() }
    }
    open class func deleteCache(withName name: String?) { absent() }
    open var fetchedObjects: [ResultType]? { absent() }
    open func object(at indexPath: IndexPath) -> ResultType { absent() }
    open func indexPath(forObject object: ResultType) -> IndexPath? { absent() }
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? { absent() }
    open var sectionIndexTitles: [String] { absent() }
    open var sections: [any NSFetchedResultsSectionInfo]? { absent() }
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int { absent() }
}

@available(
    *,
    unavailable,
    message: "There is no NSFetchedResultsController yet: fetch, and fetch again when NSManagedObjectContextObjectsDidChange is posted."
)
public protocol NSFetchedResultsSectionInfo {
    var name: String { get }
    var indexTitle: String? { get }
    var numberOfObjects: Int { get }
    var objects: [Any]? { get }
}

@available(
    *,
    unavailable,
    message: "There is no NSFetchedResultsController yet: fetch, and fetch again when NSManagedObjectContextObjectsDidChange is posted."
)
public enum NSFetchedResultsChangeType: UInt {
    case insert = 1
    case delete = 2
    case move = 3
    case update = 4
}

@available(
    *,
    unavailable,
    message: "There is no NSFetchedResultsController yet: fetch, and fetch again when NSManagedObjectContextObjectsDidChange is posted."
)
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    )
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    )
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    )
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
    func controller(_ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String)
        -> String?
}

@available(
    *,
    unavailable,
    message: "There is no NSFetchedResultsController yet: fetch, and fetch again when NSManagedObjectContextObjectsDidChange is posted."
)
extension NSFetchedResultsControllerDelegate {
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {}
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {}
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {}
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? { nil }
}
