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
    /// Whether something happened while that was so.
    private var isOutdated = false
    private var (isBusy, waiting): (Bool, [ChangedObjects]) = (false, [])

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
        (isOutdated, waiting) = (false, [])
        context.watchers.add(self, of: query.relatedEntities.union(query.entities))
    }

    /// Catches up with what happened while the tracker was paused, telling nobody.
    func goOn() {
        isPaused = false
        guard isOutdated else { return }
        do { try fetch() } catch { context?.logFailure("fetching results again", error) }
    }

    func contextEnded() { hasEnded() }

    func contextWasReset() {
        (list, waiting) = (nil, [])
        didReset()
    }

    func eventEnded(_ event: ChangedObjects) {
        guard list != nil else { return }
        if isPaused { return isOutdated = true }
        waiting.append(event)
        // Whoever is told of a change may cause another.
        guard !isBusy else { return }
        isBusy = true
        defer { isBusy = false }
        while !waiting.isEmpty, let list { follow(waiting.removeFirst(), list) }
    }

    private func follow(_ event: ChangedObjects, _ list: ResultsList) {
        guard let context else { return }
        do {
            guard let candidates = try candidates(event, list, context) else { return }
            let update = try ResultsUpdate(of: list, candidates, deleted: event.deleted)
            guard !update.isEmpty else { return }
            willChange()
            didChange(update.apply())
        } catch {
            context.logFailure("following changes of results", error)
        }
    }

    /// What is in the list, what ought to be, and others.
    private func all(_ list: ResultsList, _ context: NSManagedObjectContext, _ others: Set<NSManagedObject>) throws -> [NSManagedObject] {
        let objects = try Array(Set(list.objects + context.fetch(request)).union(others))
        if let sectionKeyPath { context.readTargets(on: sectionKeyPath, of: objects, list.query.entity) }
        return objects
    }

    /// The objects that the list has to look at; nil where there is none.
    private func candidates(_ event: ChangedObjects, _ list: ResultsList, _ context: NSManagedObjectContext) throws -> [NSManagedObject]? {
        var candidates: Set<NSManagedObject> = []
        for changed in [event.inserted, event.updated, event.deleted, event.refreshed] {
            for object in changed where list.query.concerns(object) { candidates.insert(object) }
        }
        if !list.query.relatedEntities.isEmpty {
            guard let owners = RelatedChanges(context: context, pending: event.all).owners(of: list.query.entity, reading: list.query.paths)
            else { return try all(list, context, candidates) }
            candidates.formUnion(owners)
        }
        if event.isOfUnknown { return try all(list, context, candidates) }
        if candidates.isEmpty { return nil }
        // What changed since then is not in order either.
        if context.tracker.hasTouched { candidates.formUnion(context.tracker.touched.filter(list.query.concerns)) }
        let objects = Array(candidates)
        if objects.contains(where: { $0.state.contains(.rowless) }) { try context.readRows(of: objects) }
        if let sectionKeyPath, list.query.followsSections { context.readTargets(on: sectionKeyPath, of: objects, list.query.entity) }
        return objects
    }
}

extension ChangedObjects {
    fileprivate var all: [NSManagedObject] { Array(inserted) + Array(updated) + Array(deleted) + Array(refreshed) }
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
