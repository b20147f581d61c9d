import Foundation
import Predicates

extension NSManagedObjectContext {
    /// Carries out a fetch, over the stores and this context's unsaved changes.
    ///
    /// Unsaved changes count exactly, in predicate, order, limit and offset, as if they were saved; also those of other objects that predicate
    /// and order read across relationships. One statement is run, and where unsaved changes of related objects count, one for each
    /// relationship that has not been read yet. Objects that the context has already keep their values.
    ///
    /// - Throws: a `CocoaError` where a key is unknown or a store cannot be read.
    /// - Precondition: the request's entity is in the model of the context's coordinator.
    public func fetch<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] {
        try reading(request) { try results(of: request, $0) }
    }

    /// Runs what reads the results of a request.
    func reading<Result, Found>(
        _ request: NSFetchRequest<Result>,
        member: StaticString = #function,
        _ body: (NSEntityDescription) throws -> Found
    ) throws -> Found {
        checkReading(member)
        hearNews()
        takeBackReturnedSaves()
        catchUp()
        renewNames()
        readAhead.forgetMembers()
        return try logging(request) { try whileMeetingNames { try body(entity(of: request, Result.self)) } }
    }

    private func results<Result>(of request: NSFetchRequest<Result>, _ entity: NSEntityDescription) throws -> [Result] {
        if request.resultType == .dictionaryResultType { return try cast(fetchDictionaries(request, entity)) }
        try DictionaryQuery.requireNone(of: request, entity)
        switch request.resultType {
        case .managedObjectResultType:
            let objects = try fetchObjects(request, entity)
            return cast(objects, entity)
        case .managedObjectIDResultType: return try cast(fetchIDs(request, entity))
        case .countResultType: return try cast([NSNumber(value: count(request, entity))])
        default: misuse("A fetch request has a resultType of which there is none: \(request.resultType.rawValue).")
        }
    }

    /// How many results a fetch would give.
    ///
    /// - Throws: as `fetch(_:)`.
    public func count<Result>(for request: NSFetchRequest<Result>) throws -> Int {
        try reading(request) { try count(request, $0) }
    }

    private func logging<Result, Found>(_ request: NSFetchRequest<Result>, _ body: () throws -> Found) throws -> Found {
        try FailureLog.noting("A fetch of \(request.entityName ?? "\(Result.self)") failed", body)
    }

    func entity<Result>(of request: NSFetchRequest<Result>, _ type: Result.Type) throws -> NSEntityDescription {
        if let entity = request.entity {
            guard entity.model != nil else {
                misuse(
                    """
                    The entity \(entity.name ?? "") of a fetch request is in no model, or in one that is gone: keep the model as long as its entities. A fetch of \
                    NSPersistentHistoryTransaction or NSPersistentHistoryChange is for NSPersistentHistoryChangeRequest.fetchHistory(withFetch:).
                    """
                )
            }
            return ownEntity(entity)
        }
        if let name = request.entityName {
            let model = parentSource.managedObjectModel
            guard let entity = model.entitiesByName[name] else {
                let hint = model.hint(forEntity: name)
                misuse("The model of the context's coordinator has no entity named \(name), which a request names.\(hint)")
            }
            return entity
        }
        guard let objectClass = type as? NSManagedObject.Type else {
            misuse("A fetch request has no entity. Set entity, or use init(entityName:).")
        }
        return entity(for: objectClass)
    }

    /// Results as the type of the request: checked once per class, not per object.
    func cast<Result>(_ objects: [NSManagedObject], _ entity: NSEntityDescription) -> [Result] {
        guard Result.self is NSManagedObject.Type else { return cast(objects) }
        if !identityMap.gives(Result.self, entity) { requireClass(Result.self, entity) }
        // Every object is of one of the classes that were checked, or of a subclass; arrays of class instances have one representation.
        return unsafeBitCast(objects, to: [Result].self)
    }

    @inline(never) private func requireClass<Result>(_ type: Result.Type, _ entity: NSEntityDescription) {
        for concrete in [entity] + entity.allSubentities where !concrete.isAbstract {
            let objectClass = registry.scope(of: concrete, store: 0).objectClass
            if !(objectClass is Result.Type) {
                misuse(
                    """
                    A fetch of \(concrete.name ?? "?") gives objects of class \(objectClass), not \(Result.self): set managedObjectClassName of \
                    the entity to NSStringFromClass(\(Result.self).self).
                    """
                )
            }
        }
        identityMap.note(that: entity, gives: type)
    }

    private func cast<Result>(_ values: [some NSObject]) -> [Result] {
        values.map { value in
            guard let result = value as? Result else {
                misuse("A fetch request of type NSFetchRequest<\(Result.self)> has a resultType that gives \(type(of: value)).")
            }
            return result
        }
    }

    func query<Result>(_ request: NSFetchRequest<Result>, _ entity: NSEntityDescription) -> FetchQuery {
        FetchQuery(
            entity: entity,
            includesSubentities: request.includesSubentities,
            predicate: request.predicate?.tree,
            sortDescriptors: request.sortDescriptors ?? [],
            limit: max(request.fetchLimit, 0),
            offset: max(request.fetchOffset, 0),
            stores: request.affectedStores.flatMap { persistentStoreCoordinator?.numbers(of: $0) },
            progress: request.progress
        )
    }

    func overlay<Result>(_ request: NSFetchRequest<Result>, _ query: @autoclosure () -> FetchQuery) throws -> FetchOverlay? {
        guard request.includesPendingChanges, tracker.pendingCount > 0 || tracker.hasNews || parent != nil else { return nil }
        // Off the queue, where a fetch is only logged, it is no change that the program makes.
        if isUsableHere { processPendingChanges() } else { endEvent() }
        guard tracker.pendingCount > 0 || parent != nil else { return nil }
        return try FetchOverlay(query(), self)
    }

    /// - Parameter isFresh: whether the context has read nothing before.
    func fetchObjects<Result>(
        _ request: NSFetchRequest<Result>,
        _ entity: NSEntityDescription,
        isFresh: Bool = false
    ) throws -> [NSManagedObject] {
        let paths = try request.prefetchPaths(entity)
        let objects = try identityMap.forwardingTable.consistently {
            let changeCount = registry.changesAbove?.count ?? 0
            var query = query(request, entity)
            query.properties = isFresh ? nil : try heldProperties(request, entity)
            let overlay = try overlay(request, query)
            let isHidden = !isFresh && (overlay?.isSeenAfresh == true || overlay?.affectsAll == true && mustBeSeenAfresh(query))
            let objects =
                try isHidden ? nil : fetchObjects(request, query, paths, overlay, changeCount, isFresh: isFresh)
            return (try objects ?? prefetched(paths, objectsSeenAfresh(request, query)), overlay?.hasTemporaryKeys ?? false)
        }
        if !request.returnsObjectsAsFaults { for object in objects where object.isFault { object.fire() } }
        if identityMap.retainsObjects { identityMap.retained.formUnion(objects) }
        return objects
    }

    /// Nil where what the context has read must not decide.
    private func fetchObjects<Result>(
        _ request: NSFetchRequest<Result>,
        _ query: FetchQuery,
        _ paths: PrefetchPaths,
        _ overlay: FetchOverlay?,
        _ changeCount: Int,
        isFresh: Bool
    ) throws -> [NSManagedObject]? {
        if let own = try overlay?.ownResults() { return try prefetched(paths, own) }
        if overlay == nil, persistentStoreCoordinator?.readsRowsOnDemand(query) == true, let references = try parentSource.references(query)
        {
            return try prefetched(paths, references.map(object(for:)))
        }
        // What stands among objects with unsaved changes has to be compared with them.
        if let count = request.unreadBatchSize, overlay?.isMergedByOrder != true,
            let references = try parentSource.references(overlay?.storeQuery ?? query)
        {
            let objects = returned(objects(for: references, unread: count, paths), overlay)
            return try overlay?.merged(into: objects) ?? objects
        }
        var collector = FetchCollector(
            context: self,
            refreshes: request.shouldRefreshRefetchedObjects,
            changeCount: changeCount,
            isPartial: query.properties != nil
        )
        let residue = try parentSource.fetch(overlay?.storeQuery ?? query) { collector.collect($0) }
        if let residue, residue.readsObjects, !isFresh, mustBeSeenAfresh(query, withUnsaved: request.includesPendingChanges) { return nil }
        let stored = returned(collector.objects, overlay)
        let objects = try residue?.applied(to: stored, query, windows: overlay == nil) ?? stored
        return try prefetched(paths, overlay?.merged(into: objects) ?? objects)
    }

    /// Those that the store has, among them who was used before it was there and is back now.
    private func returned(_ objects: [NSManagedObject], _ overlay: FetchOverlay?) -> [NSManagedObject] {
        guard overlay?.mayGiveMissing == true else { return objects }
        return objects.filter { !$0.isMissing || returnFoundRow(of: $0) }
    }

    private func prefetched(_ paths: PrefetchPaths, _ objects: [NSManagedObject]) throws -> [NSManagedObject] {
        try prefetch(paths, of: objects)
        return objects
    }

    private func fetchIDs<Result>(_ request: NSFetchRequest<Result>, _ entity: NSEntityDescription) throws -> [NSManagedObjectID] {
        guard try overlay(request, query(request, entity)) == nil, let references = try parentSource.references(query(request, entity))
        else {
            return try fetchObjects(request, entity).map(\.objectID)
        }
        let entities = parentSource.managedObjectModel.entitiesInIndexOrder
        return references.map {
            NSManagedObjectID(RowIdentity($0, in: registry.scope(of: entities[Int($0.entity)], store: $0.store).ids(temporary: false)))
        }
    }

    private func count<Result>(_ request: NSFetchRequest<Result>, _ entity: NSEntityDescription) throws -> Int {
        if request.resultType == .dictionaryResultType { return try fetchDictionaries(request, entity).count }
        let count = try identityMap.forwardingTable.consistently {
            guard let overlay = try overlay(request, query(request, entity)) else {
                return (try parentSource.count(query(request, entity)), false)
            }
            guard !overlay.mayCountChangedRows, let stored = try parentSource.count(overlay.unlimitedQuery) else { return (nil, false) }
            return (try overlay.count(stored), overlay.hasTemporaryKeys)
        }
        return try count ?? fetchObjects(request, entity).count
    }
}

extension NSFetchRequest {
    /// How many rows are to be read together when an object is first used; nil where they are read with the fetch.
    fileprivate var unreadBatchSize: Int? {
        if shouldRefreshRefetchedObjects { return nil }
        return fetchBatchSize > 0 ? fetchBatchSize : includesPropertyValues ? nil : 128
    }
}

extension FetchResidue {
    /// Whether values that objects show decide.
    fileprivate var readsObjects: Bool { !predicates.isEmpty || sorts || merges }

    /// Does in memory what the stores left to be done.
    func applied(to objects: [NSManagedObject], _ query: FetchQuery, windows mayWindow: Bool) throws -> [NSManagedObject] {
        var objects = objects
        if !predicates.isEmpty { objects = try objects.filter { try predicates[$0.scope.store]?.holds(for: $0) ?? true } }
        if sorts { objects = objects.sorted { ObjectOrder.precedes($0, $1, query.sortDescriptors) } }
        if merges { objects = ObjectOrder.mergedStores(objects, query.sortDescriptors) }
        guard windows, mayWindow else { return objects }
        let rest = objects.dropFirst(query.offset)
        return Array(query.limit > 0 ? rest.prefix(query.limit) : rest)
    }
}

extension PredicateTree {
    /// Whether a fetch with this predicate has the object among its results.
    ///
    /// - Throws: `CocoaError` 134060 where the predicate cannot be evaluated.
    func holds(for object: NSManagedObject) throws -> Bool {
        do {
            // NB: SQL's meaning of nil, so that an answer does not depend on what has been saved.
            return try evaluate(object, semantics: .sql) == true
        } catch let error as PredicateEvaluationError {
            throw CocoaError.coreData(.coreData, "The predicate of a fetch of \(object.entity.name ?? "?") cannot be evaluated: \(error).")
        }
    }
}

/// The order that sort descriptors say.
enum ObjectOrder {
    static func precedes(_ left: NSManagedObject, _ right: NSManagedObject, _ descriptors: [NSSortDescriptor]) -> Bool {
        for descriptor in descriptors {
            switch descriptor.compare(left, to: right) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return false
    }

    /// One ordered list of two; of equal objects, those of the first come first.
    static func merged(_ first: [NSManagedObject], _ second: [NSManagedObject], _ descriptors: [NSSortDescriptor]) -> [NSManagedObject] {
        guard !first.isEmpty, !second.isEmpty else { return first + second }
        var merged: [NSManagedObject] = []
        merged.reserveCapacity(first.count + second.count)
        var next = 0
        for object in first {
            while next < second.count, precedes(second[next], object, descriptors) {
                merged.append(second[next])
                next += 1
            }
            merged.append(object)
        }
        return merged + second[next...]
    }

    /// One ordered list of those of several stores, which stand one after the other.
    static func mergedStores(_ objects: [NSManagedObject], _ descriptors: [NSSortDescriptor]) -> [NSManagedObject] {
        var all: [NSManagedObject] = []
        var start = 0
        for index in objects.indices where index + 1 == objects.count || objects[index].scope.store != objects[index + 1].scope.store {
            all = merged(all, Array(objects[start...index]), descriptors)
            start = index + 1
        }
        return all
    }
}
