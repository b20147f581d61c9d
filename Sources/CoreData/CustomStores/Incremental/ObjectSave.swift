import Foundation

/// One incremental store's part of a save: the changes as objects in a context of their own, which its class is asked to write.
final class ObjectSave {
    private let changes: StoreChanges
    private let call: HookCall
    private let store: NSIncrementalStore
    private let cache: RowCache
    private let context: NSManagedObjectContext
    private var inserted: [[NSManagedObject]] = []
    private(set) var insertedKeys: [ContiguousArray<Int64>] = []
    /// What is to be deleted and others have deleted before.
    private var gone: Set<RowReference> = []
    private var updated: Set<NSManagedObject> = []
    /// What new objects have taken over from deleted ones.
    private var bound: [BoundReference] = []
    /// The permanent references of new objects, by temporary key.
    private var forwarding: [Int64: RowReference] = [:]

    init(_ changes: StoreChanges, _ call: HookCall) {
        (self.changes, self.call, store, cache) = (changes, call, call.store, call.cache)
        context = StagedObjects(call.coordinator).context
    }

    /// Everything that can be found out before the class writes.
    ///
    /// - Throws: `SaveConflicts` where the row cache knows newer rows; an error of the class.
    func prepare() throws {
        try requireNewest()
        try OwnEnds(store).require(changes)
        _ = try context.receiveSilently(staged)
        try propagateDeletes()
        inserted = changes.groups.map { _, group in group.inserts.compactMap { object($0.key, group) } }
        let new = inserted.flatMap { $0 }.filter { $0.key < 0 }
        let deleted = deletedKeys
        for (object, key) in zip(new, try store.permanentKeys(for: new, instead: deleted)) {
            let root = object.entity.rootEntity
            let key = deleted[root.index]?.contains(key) == true ? succeed(key, root.name ?? "") : key
            forwarding[object.key] = RowReference(key: key, entity: object.scope.entityIndex, store: store.number)
        }
        for object in new { if let known = forwarding[object.key] { context.rename(object, store: known.store, key: known.key) } }
        insertedKeys = changes.groups.map { _, group in ContiguousArray(group.inserts.map { forwarding[$0.key]?.key ?? $0.key }) }
        updated = Set(changes.groups.flatMap { _, group in group.updates.compactMap { object($0.key, group) } })
        try updated.formUnion(untoldOwners)
        for object in inserted.joined() { try object.requireReadableValues() }
        for object in updated { try object.requireReadableValues() }
    }

    /// Whose lists gain or lose members, as the class knows them, and did not as the context has read them: the save does not name them.
    private var untoldOwners: [NSManagedObject] {
        get throws {
            try context.tracker.objects.filter { object in
                try object.state.intersection(.pending) == .updated && object.changedSlots.isEmpty && !updated.contains(object)
                    && newest(object.rowReference) != nil
            }
        }
    }

    /// Another key for what a new object takes the place of, so that the two are told apart as long as there are both.
    private func succeed(_ key: Int64, _ root: String) -> Int64 {
        guard let references = store.references, let reference = references.reference(of: key, root: root) else { return key }
        let new = references.reserve(1, after: key, root: root) + 1
        references.bind(new, to: reference, root: root)
        bound.append(BoundReference(root: root, key: new, reference: reference, former: key))
        return new
    }

    /// The save has failed.
    func takeBackReferences() {
        if let references = store.references { for reference in bound.reversed() { reference.takeBack(from: references) } }
    }

    /// The keys of what is deleted, by root entity: an object may take the place of one of these.
    private var deletedKeys: [Int: Set<Int64>] {
        changes.groups.reduce(into: [:]) { keys, change in
            keys[change.group.entity.rootEntity.index, default: []].formUnion(change.group.deletes.lazy.map(\.key))
        }
    }

    /// The rules are followed already, but what is written names nobody who goes.
    private func propagateDeletes() throws {
        let known = context.tracker.objects.count
        context.propagateDeletes()
        if let failure = context.tracker.propagationFailure { throw failure }
        try requireNoneOvertaken(context.tracker.objects.dropFirst(known))
    }

    /// - Throws: `SaveConflicts` of deletes that reach somebody whom the save does not know: others have led him to what goes since it was decided
    ///   on.
    private func requireNoneOvertaken(_ strangers: some Sequence<NSManagedObject>) throws {
        let wanted = Set(strangers.flatMap(\.formerTargets))
        if wanted.isEmpty { return }
        let conflicts = try changes.groups.flatMap { _, group in
            try group.deletes.filter { wanted.contains(group.reference($0.key).identity) }.map {
                conflict($0, group, with: try newest(group.reference($0.key)))
            }
        }
        if !conflicts.isEmpty { throw SaveConflicts(conflicts: conflicts) }
    }

    /// What the store has to delete: not what others have deleted before, nor what a new object takes the place of.
    private var deleted: Set<NSManagedObject> {
        let replaced = bound.reduce(into: [:]) { $0[$1.root, default: Set<Int64?>()].insert($1.former) }
        return Set(
            changes.groups.flatMap { _, group in
                let replaced = replaced[group.entity.rootEntity.name ?? ""] ?? []
                return group.deletes.compactMap { delete in
                    gone.contains(group.reference(delete.key)) || replaced.contains(delete.key) ? nil : object(delete.key, group)
                }
            }
        )
    }

    /// Asks the class to write.
    func execute() throws {
        let request = NSSaveChangesRequest(
            inserted: Set(inserted.flatMap { $0 }),
            updated: updated,
            deleted: deleted,
            locked: Set(changes.groups.flatMap { _, group in group.locks.map { context.object(for: group.reference($0.key)) } })
        )
        request.affectedStores = [store]
        try store.write(request, context)
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
        staged.orders = changes.orders
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
            for delete in group.deletes {
                guard let conflict = try conflict(delete, group) else { continue }
                // Both wanted it gone.
                if conflict.current == nil { gone.insert(group.reference(delete.key)) } else { conflicts.append(conflict) }
            }
            conflicts += try group.locks.compactMap { try conflict($0, group) }
        }
        if !conflicts.isEmpty { throw SaveConflicts(conflicts: conflicts) }
    }

    private func conflict(_ change: some MeasuredChange, _ group: ChangeSet.Group) throws -> RowConflict? {
        guard let newest = try newest(group.reference(change.key)) else { return conflict(change, group, with: nil) }
        // A row that has left the context says no version: a context below has saved it, and there is nothing to measure the change against.
        // NB: a class's versions need not grow, nor fit in ours, and what it gives to what it has saved is known with the next reading only.
        guard let base = change.base, base.version != 0, newest !== base, isChanged(newest, since: base, group) else { return nil }
        return conflict(change, group, with: newest)
    }

    private func isChanged(_ newest: Row, since base: Row, _ group: ChangeSet.Group) -> Bool {
        !newest.agrees(with: base) || store.saved.isSaved(newest.key, root: group.entity.rootEntity.index, after: base)
    }

    /// - Parameter current: nil where the row is gone from the store.
    private func conflict(_ change: some MeasuredChange, _ group: ChangeSet.Group, with current: Row?) -> RowConflict {
        RowConflict(
            reference: group.reference(change.key),
            current: current,
            currentVersion: current?.version ?? 0,
            baseVersion: change.base?.version ?? 0,
            isStoreAhead: current == nil
        )
    }

    /// The row that is at hand, which is what was saved last. Where nobody holds that any more, the class is asked.
    private func newest(_ reference: RowReference) throws -> Row? {
        try NodeReading(call).row(for: reference)
    }

    /// The class has written: rows get their references and versions, and are what is at hand from now on.
    func publish(isOvertaken: Bool) {
        for (index, (_, group)) in changes.groups.enumerated() {
            let root = group.entity.rootEntity.index
            let versions = store.saved.note(group, keys: insertedKeys[index], at: cache.nextMoment()) { [cache] in
                cache.row(root: root, key: $0)?.version ?? 0
            }
            for insert in group.inserts { completeReferences(of: insert.row) }
            for update in group.updates { completeReferences(of: update.row) }
            cache.publish(inserts: group.inserts, keys: insertedKeys[index], root: root)
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

extension NSManagedObject {
    /// Whom the to-one relationships led to that have changed; all, of one that is deleted.
    fileprivate var formerTargets: [RowReference] {
        guard let row = committedRow else { return [] }
        let slots = state.contains(.deleted) ? SlotMask(row.layout.referenceSlots) : changedSlots
        return slots.filter(row.layout.referenceSlots).compactMap { row.reference($0)?.identity }
    }
}
