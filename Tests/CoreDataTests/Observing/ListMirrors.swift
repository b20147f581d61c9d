import CoreData
import Foundation

/// Keeps a list by nothing but what a controller tells. Follows the calls for sections and objects, as a table does.
final class CallMirror: NSObject, NSFetchedResultsControllerDelegate {
    private var sections: [(name: String, ids: [NSManagedObject])] = []
    private var removals: [IndexPath] = []
    private var arrivals: [(IndexPath, NSManagedObject)] = []
    private var (droppedSections, newSections): ([Int], [(Int, String)]) = ([], [])
    /// What was called, in order.
    private(set) var calls: [String] = []
    private(set) var updated: [NSManagedObject] = []

    func start(_ controller: NSFetchedResultsController<Book>) {
        sections = (controller.sections ?? []).map { ($0.name, ($0.objects ?? []).compactMap { $0 as? NSManagedObject }) }
    }

    var text: [String] { sections.map { "\($0.name): \($0.ids.map { ($0 as? Book)?.title ?? "?" })" } }

    func takeCalls() -> [String] {
        defer { calls = [] }
        return calls
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        calls.append("will")
        (removals, arrivals, droppedSections, newSections, updated) = ([], [], [], [], [])
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        calls.append("\(type) section \(sectionInfo.name) \(sectionIndex)")
        if type == .delete { droppedSections.append(sectionIndex) } else { newSections.append((sectionIndex, sectionInfo.name)) }
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {
        let book = anObject as! Book
        let places = [indexPath, newIndexPath].map { $0.map { "\($0.section).\($0.item)" } ?? "-" }.joined(separator: " ")
        calls.append("\(type) \(book.title ?? "?") \(places)")
        if type == .update { return updated.append(book) }
        if let indexPath { removals.append(indexPath) }
        if let newIndexPath { arrivals.append((newIndexPath, book)) }
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        calls.append("did")
        for path in removals.sorted(by: >) { sections[path.section].ids.remove(at: path.item) }
        for index in droppedSections.sorted(by: >) { sections.remove(at: index) }
        for (index, name) in newSections.sorted(by: { $0.0 < $1.0 }) { sections.insert((name, []), at: index) }
        for (path, book) in arrivals.sorted(by: { $0.0 < $1.0 }) { sections[path.section].ids.insert(book, at: path.item) }
    }
}

/// Applies differences.
final class DifferenceMirror: NSObject, NSFetchedResultsControllerDelegate {
    private(set) var ids: [NSManagedObjectID] = []
    private(set) var latest: CollectionDifference<NSManagedObjectID>?

    func start(_ controller: NSFetchedResultsController<Book>) { ids = controller.fetchedObjects?.map(\.objectID) ?? [] }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        latest = diff
        ids = ids.applying(diff) ?? []
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { ids = [] }
}

/// Keeps the latest snapshot.
final class SnapshotMirror: NSObject, NSFetchedResultsControllerDelegate {
    private(set) var snapshots: [NSDiffableDataSourceSnapshotReference] = []

    var sections: [SectionIDs] {
        guard let snapshot = snapshots.last else { return [] }
        return snapshot.sectionIdentifiers.map { section in
            let ids = snapshot.itemIdentifiersInSection(withIdentifier: section).compactMap { $0 as? NSManagedObjectID }
            return SectionIDs(name: section as? String ?? "?", ids: ids)
        }
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) { snapshots.append(snapshot) }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { snapshots = [] }
}

extension NSFetchedResultsController<Book> {
    /// The sections with titles, as a `CallMirror` has them.
    var titles: [String] {
        (sections ?? []).map { section in "\(section.name): \((section.objects ?? []).map { ($0 as? Book)?.title ?? "?" })" }
    }

    /// The sections as a `SnapshotMirror` has them.
    var sectionIDs: [SectionIDs] {
        (sections ?? []).map { section in
            SectionIDs(name: section.name, ids: (section.objects ?? []).compactMap { ($0 as? Book)?.objectID })
        }
    }
}

/// A section's name and the objects in it. IDs of one object are equal whether or not it was saved meanwhile.
struct SectionIDs: Equatable {
    let name: String
    let ids: [NSManagedObjectID]
}

extension NSFetchedResultsController {
    /// One that has fetched, and whose delegate is told of all that happens from now on.
    static func fetched(
        _ request: NSFetchRequest<ResultType>,
        in context: NSManagedObjectContext,
        sections: String? = nil,
        delegate: any NSFetchedResultsControllerDelegate
    ) throws -> NSFetchedResultsController<ResultType> {
        let controller = NSFetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            sectionNameKeyPath: sections,
            cacheName: nil
        )
        controller.delegate = delegate
        try controller.performFetch()
        return controller
    }
}
