import Foundation

/// Keeps the results of a request true to their context, event by event.
// Sendable: used on the context's queue only, but for being released.
final class ResultsTracker: ContextWatcher, @unchecked Sendable {
    private weak var context: NSManagedObjectContext?
    private let request: NSFetchRequest<NSManagedObject>
    private let sectionKeyPath: String?
    /// Nil before the first fetch.
    private(set) var list: ResultsList?
    /// Whether nothing is done about changes.
    var isPaused = false
    /// Whether something has happened that the list does not show: it was paused, or what it has to know could not be read.
    private var isOutdated = false
    /// What has happened since the event that is being told, and the number of the latest event that this has heard of.
    private var (isBusy, waiting, latest) = (false, ChangedObjects(), 0)

    /// Called before and after the list changes.
    var willChange: () -> Void = {}
    var didChange: (ResultsChange) -> Void = { _ in }
    /// The list is gone until the next fetch.
    var didReset: () -> Void = {}
    var hasEnded: @Sendable () -> Void = {}

    init<Result>(_ request: NSFetchRequest<Result>, _ context: NSManagedObjectContext, sectionKeyPath: String?) throws {
        self.context = context
        self.sectionKeyPath = sectionKeyPath
        self.request = request.copied(as: NSManagedObject.self)
        self.request.entity = try context.entity(of: request, Result.self)
        self.request.resultType = .managedObjectResultType
    }

    deinit { context?.watchers.remove(self) }

    /// Fetches anew. The list is another one then.
    ///
    /// - Throws: a fetch's error, or `CocoaError` 134060 where the order scatters sections; the former list stays.
    func fetch() throws {
        guard let context, let entity = request.entity else { return }
        let stores = context.persistentStoreCoordinator?.numbers(of: request.affectedStores)
        let query = ResultsQuery(request, entity, stores: stores, sectionKeyPath: sectionKeyPath)
        let objects = try context.fetch(request)
        if let sectionKeyPath { context.readTargets(on: sectionKeyPath, of: objects, entity) }
        list = try ResultsList(query, objects)
        (isOutdated, waiting, latest) = (false, ChangedObjects(), context.tracker.eventCount)
        context.watchers.add(self, of: Set(query.entities), reading: query.relatedEntities)
    }

    /// Catches up with what happened while the tracker was paused, telling nobody.
    func goOn() {
        // The fetch may end an event, of which nobody is told either.
        defer { isPaused = false }
        guard isOutdated else { return }
        do { try fetch() } catch { context?.logFailure("fetching results again", error) }
    }

    func contextEnded() { hasEnded() }

    func contextWasReset() {
        (list, waiting) = (nil, ChangedObjects())
        didReset()
    }

    func eventEnded(_ event: ChangedObjects) {
        guard list != nil, let context, event.number > latest else { return }
        if isPaused { return isOutdated = true }
        // Whoever is told of an event may cause another, of which those hear first who have not been told of the first.
        for announced in context.tracker.announced where announced.number > latest { waiting.add(announced) }
        latest = event.number
        guard !isBusy else { return }
        isBusy = true
        defer { isBusy = false }
        while let list, !waiting.saysNothing { follow(list, context) }
    }

    private func follow(_ list: ResultsList, _ context: NSManagedObjectContext) {
        var event = ChangedObjects()
        guard let update = update(of: list, &event, context), !update.isEmpty else { return }
        willChange()
        // What whoever was told has changed is out of order, and counts at once.
        let isCurrent = waiting.saysNothing && !context.tracker.hasNews
        let current = isCurrent ? update : self.update(of: list, &event, context)
        didChange(self.list === list ? apply(current, context) : ResultsChange())
    }

    private func apply(_ update: ResultsUpdate?, _ context: NSManagedObjectContext) -> ResultsChange {
        let failures = context.tracker.failedReadCount
        defer { isOutdated = isOutdated || context.tracker.failedReadCount > failures }
        return update?.apply() ?? ResultsChange()
    }

    private func takeWaiting() -> ChangedObjects {
        defer { (waiting, isOutdated) = (ChangedObjects(), false) }
        var event = waiting
        event.isOfUnknown = event.isOfUnknown || isOutdated
        return event
    }

    /// What an event means for the list; nil where that cannot be found out: then the next one brings the list up to date.
    ///
    /// - Parameter event: gets what has happened since.
    private func update(of list: ResultsList, _ event: inout ChangedObjects, _ context: NSManagedObjectContext) -> ResultsUpdate? {
        event.add(takeWaiting())
        // Reading a property cannot throw, and gives nil where it fails.
        let failures = context.tracker.failedReadCount
        do {
            let update = try ResultsUpdate(of: list, candidates(&event, list, context))
            if context.tracker.failedReadCount == failures { return update }
        } catch {
            context.logFailure("following changes of results", error)
        }
        isOutdated = true
        return nil
    }

    /// The objects that the list has to look at.
    private func candidates(
        _ event: inout ChangedObjects,
        _ list: ResultsList,
        _ context: NSManagedObjectContext
    ) throws -> ResultsCandidates {
        var candidates = ResultsCandidates(event, of: list, in: context)
        if candidates.mayBeAny {
            let any = try list.objects + context.fetch(request)
            // The fetch has ended an event, if there was one.
            event.add(takeWaiting())
            candidates = ResultsCandidates(event, of: list, in: context)
            candidates.add(any)
        }
        let objects = candidates.objects
        if objects.contains(where: { $0.state.contains(.rowless) }) { try context.readRows(of: objects) }
        if let sectionKeyPath, list.query.followsSections { context.readTargets(on: sectionKeyPath, of: objects, list.query.entity) }
        return candidates
    }
}

extension NSManagedObjectContext {
    /// Reads what a path along to-one relationships leads to, with one statement for each relationship.
    func readTargets(on keyPath: String, of objects: [NSManagedObject], _ entity: NSEntityDescription) {
        var (objects, entity) = (objects, entity)
        for key in keyPath.split(separator: ".").dropLast() {
            guard case .toOne(let slot, let relationship)? = entity.shape.properties[String(key)] else { return }
            objects = Array(Set(objects.compactMap { $0.target(slot) }))
            // What cannot be read now is read, and its failure told, when it is used.
            try? readRows(of: objects)
            entity = relationship.destination
        }
    }
}
