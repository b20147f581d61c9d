import Foundation

/// What happened to an object, or a section, of a controller's results.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    case insert = 1
    case delete = 2
    case move = 3
    case update = 4
}

/// A section of a controller's results.
public protocol NSFetchedResultsSectionInfo {
    /// What the section key path gives for the objects of the section; empty where there are no sections.
    var name: String { get }
    /// What stands for the section in an index.
    var indexTitle: String? { get }
    var numberOfObjects: Int { get }
    /// The objects in order, as they are when this is asked for.
    var objects: [Any]? { get }
}

/// Is told how a controller's results change.
///
/// Where there is the method with a snapshot, only that one is called; else, without sections, where there is the one with a difference, only
/// that one; else the others.
///
/// NB: the controller is passed as one of `any NSFetchRequestResult`, as with Apple; it is the very controller, `===`.
/// > Concurrency: called on the queue of the controller's context.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// The results are about to change. They are as they were, as yet.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
    /// A section came or went. A deletion has the index before all changes, an insertion that after them.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    )
    /// Something happened to an object: `indexPath` is its place before all changes, `newIndexPath` that after them. One that was moved has
    /// changed too; one that was updated stays where it is among the others.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    )
    /// All of one event's changes have been told.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
    /// The results have changed, or were fetched: the IDs of all objects, in sections, and those of the objects that have changed.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    )
    /// The results, which have no sections, have changed. An object that was updated is removed and inserted at its place, as one that was
    /// moved is at two.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    )
    /// What stands for a section in an index.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

// What a delegate leaves out.
extension NSFetchedResultsControllerDelegate {
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {}

    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) { controller.results.takesSnapshots = false }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { controller.results.takesDifferences = false }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? { controller.sectionIndexTitle(forSectionName: sectionName) }
}
