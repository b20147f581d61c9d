import Foundation

/// Fetches of which a part is decided in memory, while objects that this context has read show values that count no more: others have changed
/// them since. The answer is to be the one that SQL gives, or the contexts above.
extension NSManagedObjectContext {
    /// What a new child of this context finds, as this context's own objects, which keep the values that they show.
    func objectsSeenAfresh<Result>(_ request: NSFetchRequest<Result>, _ query: FetchQuery) throws -> [NSManagedObject] {
        let view = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        view.setParent(self, ParentContext(self, of: view))
        let request = request.copied(as: NSManagedObject.self)
        (request.relationshipKeyPathsForPrefetching, request.fetchBatchSize, request.returnsObjectsAsFaults) = (nil, 0, true)
        return try view.fetchObjects(request, query.entity, isFresh: true).map(ownObject)
    }

    private func ownObject(_ seen: NSManagedObject) -> NSManagedObject {
        seen.state.contains(.rowless) ? object(for: seen.rowReference) : object(for: seen.rowReference, row: seen.currentRow)
    }

    /// Whether objects show values by which a fetch must not be decided: old ones, or unsaved ones where these do not count.
    ///
    /// - Complexity: O(n) in the number of registered objects.
    func mustBeSeenAfresh(_ query: FetchQuery, withUnsaved: Bool = true) -> Bool {
        identityMap.objects.contains { $0.mayShowOldValues || !withUnsaved && !$0.state.isDisjoint(with: .pending) }
            && ReadPaths(query.predicate, query.sortDescriptors).areStored(of: query.entity)
    }
}

extension NSManagedObject {
    fileprivate var mayShowOldValues: Bool { state.isDisjoint(with: .pending) && (!isFault || hasReadMembers) && mayBeStale }

    var hasReadMembers: Bool { scope.shape.toManys.indices.contains { existingContents($0)?.members != nil } }
}
