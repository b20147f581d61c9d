import Foundation

/// One incremental store's part of a save: the changes as objects in a context of their own, which its class is asked to write.
final class ObjectSave {
    private let store: NSIncrementalStore
    private let coordinator: NSPersistentStoreCoordinator
    private let changes: StoreChanges
    private let cache: RowCache
    private let context: NSManagedObjectContext
    private var inserted: [[NSManagedObject]] = []
    private(set) var insertedKeys: [ContiguousArray<Int64>] = []
    /// The permanent references of new objects, by temporary key.
    private var forwarding: [Int64: RowReference] = [:]

    init(_ store: NSIncrementalStore, _ coordinator: NSPersistentStoreCoordinator, _ changes: StoreChanges, _ cache: RowCache) {
        (self.store, self.coordinator, self.changes, self.cache) = (store, coordinator, changes, cache)
        context = StagedObjects(coordinator).context
    }

    /// Everything that can be found out before the class writes.
    ///
    /// - Throws: `SaveConflicts` where the row cache knows newer rows; an error of the class.
    func prepare() throws {
        try requireNewest()
        _ = try context.receiveSilently(staged)
        try propagateDeletes()
        inserted = changes.groups.map { _, group in group.inserts.compactMap { object($0.key, group) } }
        let new = inserted.flatMap { $0 }.filter { $0.key < 0 }
        for (object, key) in zip(new, try store.permanentKeys(for: new)) {
            forwarding[object.key] = RowReference(key: key, entity: object.scope.entityIndex, store: store.number)
        }
        for object in new { if let known = forwarding[object.key] { context.rename(object, store: known.store, key: known.key) } }
        insertedKeys = changes.groups.map { _, group in ContiguousArray(group.inserts.map { forwarding[$0.key]?.key ?? $0.key }) }
    }

    /// The rules are followed already, but what is written names nobody who goes.
    private func propagateDeletes() throws {
        context.propagateDeletes()
        if let failure = context.tracker.propagationFailure { throw failure }
    }

    /// Asks the class to write.
    func execute() throws {
        let request = NSSaveChangesRequest(
            inserted: Set(inserted.flatMap { $0 }),
            updated: Set(changes.groups.flatMap { _, group in group.updates.compactMap { object($0.key, group) } }),
            deleted: Set(changes.groups.flatMap { _, group in group.deletes.compactMap { object($0.key, group) } }),
            locked: Set(changes.groups.flatMap { _, group in group.locks.map { context.object(for: group.reference($0.key)) } })
        )
        request.affectedStores = [store]
        _ = try store.execute(request, with: context)
    }

    /// Copies, for the rows are read by others, and may be saved once more.
    private var staged: ChangeSet {
        var staged = ChangeSet()
        staged.groups = changes.groups.map { _, group in
            var copy = ChangeSet.Group(entity: group.entity, store: group.store)
            copy.inserts = ContiguousArray(group.inserts.map { ChangeSet.Insert(row: Self.copy($0.row, base: nil), key: $0.key) })
            copy.updates = ContiguousArray(
                group.updates.map {
                    ChangeSet.Update(row: Self.copy($0.row, base: $0.base), key: $0.key, base: $0.base, slots: $0.slots)
                }
            )
            copy.deletes = group.deletes
            return copy
        }
        staged.links = changes.links
        return staged
    }

    private static func copy(_ row: Row, base: Row?) -> Row {
        let copy = OwnRow.copy(of: row, replacing: -1)
        copy.base = base
        return Row(copy)
    }

    private func object(_ key: Int64, _ group: ChangeSet.Group) -> NSManagedObject? {
        let newest = forwarding[key] ?? group.reference(key)
        return context.registeredObject(for: newest)
    }

    private func requireNewest() throws {
        var conflicts: [RowConflict] = []
        for (_, group) in changes.groups {
            conflicts += try group.updates.compactMap { try conflict($0, group) }
            conflicts += try group.deletes.compactMap { try conflict($0, group) }
            conflicts += try group.locks.compactMap { try conflict($0, group) }
        }
        if !conflicts.isEmpty { throw SaveConflicts(conflicts: conflicts) }
    }

    private func conflict(_ change: some MeasuredChange, _ group: ChangeSet.Group) throws -> RowConflict? {
        guard let base = change.base, let cached = try newest(change.key, group), cached !== base,
            // A class's versions need not grow, nor fit in ours.
            cached.version != base.version || !cached.agrees(with: base)
        else { return nil }
        return RowConflict(
            reference: RowReference(key: change.key, entity: Int32(group.entity.index), store: store.number),
            current: cached,
            currentVersion: cached.version,
            baseVersion: base.version,
            isStoreAhead: false
        )
    }

    /// The row that is at hand, which is what was saved last. Where nobody holds that any more, the class is asked.
    private func newest(_ key: Int64, _ group: ChangeSet.Group) throws -> Row? {
        if let row = cache.row(root: group.entity.rootEntity.index, key: key) { return row }
        return try NodeReading(store, coordinator, cache).row(for: group.reference(key))
    }

    /// The class has written: rows get their references and versions, and are what is at hand from now on.
    func publish(isOvertaken: Bool) {
        for (index, (_, group)) in changes.groups.enumerated() {
            let root = group.entity.rootEntity.index
            for insert in group.inserts { completeReferences(of: insert.row) }
            for update in group.updates { completeReferences(of: update.row) }
            cache.publish(inserts: group.inserts, keys: insertedKeys[index], root: root)
            let versions = ContiguousArray(group.updates.map { update in update.base.map { $0.version + 1 } ?? 0 })
            cache.publish(updates: group.updates, versions: versions, root: root, isOvertaken: isOvertaken)
            for update in group.updates where update.base == nil { cache.forget(root: root, key: update.key) }
            cache.forget(root: root, deletes: group.deletes)
        }
    }

    private func completeReferences(of row: Row) {
        guard row.isOwn else { return }
        for slot in row.layout.referenceSlots {
            guard let reference = row.reference(slot), let permanent = forwarding[reference.key] else { continue }
            row.own.store(.reference(permanent), at: slot)
        }
    }
}
