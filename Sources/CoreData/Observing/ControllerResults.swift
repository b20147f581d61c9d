import Foundation

/// What a controller has fetched, and whom it tells of changes: all of a controller that does not depend on the type of its results.
final class ControllerResults {
    typealias Controller = NSFetchedResultsController<any NSFetchRequestResult>

    private(set) weak var delegate: (any NSFetchedResultsControllerDelegate)?
    private var tracker: ResultsTracker?
    /// Whether the delegate has the method; nil as long as nobody knows: the default of the method says that it has none.
    var takesSnapshots: Bool?
    var takesDifferences: Bool?

    var list: ResultsList? { tracker?.list }

    func setDelegate(_ delegate: (any NSFetchedResultsControllerDelegate)?) {
        guard delegate !== self.delegate || delegate == nil else { return }
        self.delegate = delegate
        (takesSnapshots, takesDifferences) = (nil, nil)
        if delegate == nil { tracker?.isPaused = true } else { tracker?.goOn() }
    }

    func setTracker(_ tracker: ResultsTracker, _ controller: Controller) {
        tracker.isPaused = delegate == nil
        // A delegate may let go of the controller in one call; then the next has nobody to tell.
        tracker.willChange = { [weak controller] in if let controller { controller.results.willChange(controller) } }
        tracker.didChange = { [weak controller, weak tracker] change in
            if let controller { controller.results.didChange(change, of: tracker?.list, controller) }
        }
        self.tracker = tracker
        if takesSnapshots != false { tellSnapshot(of: [], controller) }
    }

    private func tellSnapshot(of changed: [NSManagedObjectID], _ controller: Controller) {
        takesSnapshots = true
        delegate?.controller(controller, didChangeContentWith: snapshot(changed: changed))
    }

    private func tell(_ difference: CollectionDifference<NSManagedObjectID>?, _ controller: Controller) {
        takesDifferences = true
        if let difference { delegate?.controller(controller, didChangeContentWith: difference) }
    }

    private func willChange(_ controller: Controller) {
        // NB: whether a delegate has a method is found out by calling it: with what is true at the moment.
        if takesSnapshots == nil { tellSnapshot(of: [], controller) }
        guard takesSnapshots == false else { return }
        if takesDifferences == nil, hasNoSections { tell(CollectionDifference([]), controller) }
        if !usesDifferences { delegate?.controllerWillChangeContent(controller) }
    }

    private var hasNoSections: Bool { list?.query.sectionKeyPath == nil }
    private var usesDifferences: Bool { takesDifferences == true && hasNoSections }

    private func didChange(_ change: ResultsChange, of changed: ResultsList?, _ controller: Controller) {
        if takesSnapshots != false { return tellSnapshot(of: change.changedIDs, controller) }
        if usesDifferences { return tell(change.difference, controller) }
        tellOneByOne(change, of: changed, controller)
    }

    private func tellOneByOne(_ change: ResultsChange, of changed: ResultsList?, _ controller: Controller) {
        // A delegate may leave, or fetch anew, in one call; places in a list that is no more are of no use in the next.
        func each<Item>(_ items: [Item], _ tell: (any NSFetchedResultsControllerDelegate, Item) -> Void) {
            for item in items { if let delegate, let changed, changed === list { tell(delegate, item) } }
        }
        each(change.deletedSections) {
            $0.controller(controller, didChange: SectionInfo($1.section, controller), atSectionIndex: $1.index, for: .delete)
        }
        each(change.insertedSections) {
            $0.controller(controller, didChange: SectionInfo($1.section, controller), atSectionIndex: $1.index, for: .insert)
        }
        each(change.deletions) { $0.controller(controller, didChange: $1.object, at: $1.old, for: .delete, newIndexPath: nil) }
        each(change.insertions) { $0.controller(controller, didChange: $1.object, at: nil, for: .insert, newIndexPath: $1.new) }
        each(change.moves) { $0.controller(controller, didChange: $1.object, at: $1.old, for: .move, newIndexPath: $1.new) }
        each(change.updates) { $0.controller(controller, didChange: $1.object, at: $1.old, for: .update, newIndexPath: $1.new) }
        delegate?.controllerDidChangeContent(controller)
    }

    private func snapshot(changed: [NSManagedObjectID]) -> NSDiffableDataSourceSnapshotReference {
        let snapshot = NSDiffableDataSourceSnapshotReference()
        guard let list else { return snapshot }
        var rest = list.objects[...]
        for section in list.sections {
            snapshot.append(section.name, rest.prefix(section.count).map(\.objectID))
            rest = rest.dropFirst(section.count)
        }
        snapshot.reloadItems(withIdentifiers: changed)
        return snapshot
    }
}

/// What a controller answers.
extension ControllerResults {
    func object(at path: IndexPath) -> NSManagedObject {
        guard let list else { misuse("An NSFetchedResultsController has no objects yet: call performFetch() first.") }
        guard let index = list.index(of: path) else { misuse("An NSFetchedResultsController has no object at \(Array(path)).") }
        return list.members.member(at: index)
    }

    func path(of object: Any) -> IndexPath? {
        guard let list, let object = object as? NSManagedObject else { return nil }
        return list.members.index(of: object).map(list.path(at:))
    }

    /// Made once after a change: lists ask for it again for each of their rows.
    func sections(_ controller: Controller) -> [any NSFetchedResultsSectionInfo]? {
        guard let list else { return nil }
        let infos = list.sectionInfos ?? list.sections.map { SectionInfo($0, controller) }
        list.sectionInfos = infos
        return infos
    }

    func indexTitles(_ controller: Controller) -> [String] {
        var seen: Set<String> = []
        return (list?.sections ?? []).compactMap { title(of: $0.name, controller) }.filter { seen.insert($0).inserted }
    }

    func section(forIndexTitle title: String, _ controller: Controller) -> Int {
        guard let index = list?.sections.firstIndex(where: { self.title(of: $0.name, controller) == title }) else {
            misuse("An NSFetchedResultsController has no section with the index title \"\(title)\".")
        }
        return index
    }

    func title(of name: String, _ controller: Controller) -> String? {
        if let delegate { return delegate.controller(controller, sectionIndexTitleForSectionName: name) }
        return controller.sectionIndexTitle(forSectionName: name)
    }
}

/// A section as it was when it was asked for, or told of.
private final class SectionInfo: NSFetchedResultsSectionInfo {
    let name: String
    let numberOfObjects: Int
    private weak var list: ResultsList?
    private weak var controller: ControllerResults.Controller?
    /// The objects, and the list's change count at which they were that.
    private var known: (objects: [Any], changeCount: Int)?

    init(_ section: ResultsSection, _ controller: ControllerResults.Controller) {
        (name, numberOfObjects) = (section.name, section.count)
        (list, self.controller) = (controller.results.list, controller)
    }

    var indexTitle: String? { controller.flatMap { $0.results.title(of: name, $0) } }
    var objects: [Any]? {
        guard let list else { return nil }
        if let known, known.changeCount == list.changeCount { return known.objects }
        let objects: [Any] = list.section(named: name).map(list.objects(inSection:)) ?? []
        known = (objects, list.changeCount)
        return objects
    }
}
