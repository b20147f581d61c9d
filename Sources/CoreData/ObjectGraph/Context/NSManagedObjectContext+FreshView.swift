import Foundation

/// Fetches of which a part is decided in memory, while objects that this context has read show values that count no more: others have changed
/// them since. The answer is to be the one that SQL gives, or the contexts above.
extension NSManagedObjectContext {
    /// What a new child of this context finds, or where unsaved changes do not count, a new context on its stores: as this context's own objects,
    /// which keep the values that they show.
    func objectsSeenAfresh<Result>(_ request: NSFetchRequest<Result>, _ query: FetchQuery) throws -> [NSManagedObject] {
        let view = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        if request.includesPendingChanges { view.setParent(self, ParentContext(self, of: view)) } else { view.readStores(of: self) }
        view.registry.awakensObjects = false
        let request = request.copied(as: NSManagedObject.self)
        (request.relationshipKeyPathsForPrefetching, request.fetchBatchSize, request.returnsObjectsAsFaults) = (nil, 0, true)
        // A row of the store's is none of a child's: contexts above may have changed the object.
        let givesRows = request.includesPendingChanges || parent == nil
        return try view.fetchObjects(request, query.entity, isFresh: true).map { ownObject($0, givesRow: givesRows) }
    }

    /// Reads what a context reads that has no unsaved changes, nor any above it.
    private func readStores(of context: NSManagedObjectContext) {
        persistentStoreCoordinator = context.persistentStoreCoordinator
        registry.tellsStores = false
        parentLink?.pin(to: context.generationRead)
    }

    private var generationRead: QueryGeneration? { parent?.generationRead ?? parentLink?.generation }

    private func ownObject(_ seen: NSManagedObject, givesRow: Bool) -> NSManagedObject {
        seen.state.contains(.rowless) || !givesRow
            ? object(for: seen.rowReference) : object(for: seen.rowReference, row: seen.currentRow)
    }

    /// Whether objects show values by which a fetch must not be decided: old ones, or unsaved ones, here or above, where these do not count.
    ///
    /// - Complexity: O(n) in the number of registered objects.
    func mustBeSeenAfresh(_ query: FetchQuery, withUnsaved: Bool = true) -> Bool {
        (!withUnsaved && parent != nil
            || identityMap.objects.contains { $0.mayShowOldValues || !withUnsaved && !$0.state.isDisjoint(with: .pending) })
            && ReadPaths(query.predicate, query.sortDescriptors).areStored(of: query.entity)
    }
}

extension NSManagedObject {
    fileprivate var mayShowOldValues: Bool { state.isDisjoint(with: .pending) && (!isFault || hasReadMembers) && mayBeStale }

    var hasReadMembers: Bool { scope.shape.toManys.indices.contains { existingContents($0)?.members != nil } }
}
