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
        tracker.willChange = { [unowned controller] in controller.results.willChange(controller) }
        tracker.didChange = { [unowned controller] in controller.results.didChange($0, controller) }
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

    private func didChange(_ change: ResultsChange, _ controller: Controller) {
        if takesSnapshots != false { return tellSnapshot(of: change.changedIDs, controller) }
        if usesDifferences { return tell(change.difference, controller) }
        tellOneByOne(change, controller)
    }

    private func tellOneByOne(_ change: ResultsChange, _ controller: Controller) {
        guard let delegate else { return }
        for (section, index) in change.deletedSections {
            delegate.controller(controller, didChange: SectionInfo(section, controller), atSectionIndex: index, for: .delete)
        }
        for (section, index) in change.insertedSections {
            delegate.controller(controller, didChange: SectionInfo(section, controller), atSectionIndex: index, for: .insert)
        }
        for (object, old) in change.deletions {
            delegate.controller(controller, didChange: object, at: old, for: .delete, newIndexPath: nil)
        }
        for (object, new) in change.insertions {
            delegate.controller(controller, didChange: object, at: nil, for: .insert, newIndexPath: new)
        }
        for (object, old, new) in change.moves {
            delegate.controller(controller, didChange: object, at: old, for: .move, newIndexPath: new)
        }
        for (object, old, new) in change.updates {
            delegate.controller(controller, didChange: object, at: old, for: .update, newIndexPath: new)
        }
        delegate.controllerDidChangeContent(controller)
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

    func sections(_ controller: Controller) -> [any NSFetchedResultsSectionInfo]? {
        list?.sections.map { SectionInfo($0, controller) }
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

    init(_ section: ResultsSection, _ controller: ControllerResults.Controller) {
        (name, numberOfObjects) = (section.name, section.count)
        (list, self.controller) = (controller.results.list, controller)
    }

    var indexTitle: String? { controller.flatMap { $0.results.title(of: name, $0) } }
    var objects: [Any]? { list.map { list in list.section(named: name).map(list.objects(inSection:)) ?? [] } }
}
