import Foundation

/// Freezes a context's changes into a change set, and remembers which object each row came from.
///
/// Changes no object: what becomes of them once the changes are saved is in the effects.
struct ChangeFreezer {
    var changes = ChangeSet()
    var effects = SaveEffects()
    /// Parallel to the groups of the change set.
    private(set) var groups: [Objects] = []
    private var indexes: [ObjectIdentifier: Int] = [:]
    /// The scopes of the groups, which keep them.
    private var scopes: ContiguousArray<ObjectIdentifier> = []
    /// The scope that was asked for last, which its group keeps.
    private var latest: (scope: ObjectIdentifier?, group: Int) = (nil, 0)
    /// Rows that are written in place of members' own, by object.
    var replacedRows: [ObjectIdentifier: OwnRow] = [:]
    /// The orders of relationships that are their own inverses, as far as somebody has changed them.
    var pairOrders: [ObjectIdentifier: PairOrder] = [:]
    /// Where members say their owner and their position, for the ordered relationships met so far.
    var memberSlots: [(shape: ObjectIdentifier, index: Int, slots: MemberSlots?)] = []

    struct Objects {
        let scope: EntityScope
        var inserted: ContiguousArray<NSManagedObject> = []
        var updated: ContiguousArray<NSManagedObject> = []
        /// Objects whose changes came to nothing: they count as saved, and nothing is written.
        var unchanged: ContiguousArray<NSManagedObject> = []
        var deleted: ContiguousArray<NSManagedObject> = []

        func forEach(_ body: (NSManagedObject) -> Void) {
            for objects in [inserted, updated, unchanged, deleted] { objects.forEachBorrowed(body) }
        }
    }

    /// Whether the changes go to stores, which may write into the rows that they get.
    let isForStores: Bool
    /// Whether orders are said as such, and not by positions alone.
    let tellsOrders: Bool

    init(_ tracker: ChangeTracker, locked: Set<NSManagedObject>, isForStores: Bool, tellsOrders: Bool = true) {
        (self.isForStores, self.tellsOrders) = (isForStores, tellsOrders)
        let objects = tracker.objects
        if locked.isEmpty, passesOn(tracker.received, objects) { return }
        makeRoom(for: objects)
        // Positions come first: a member's position may be a slot of its own row, which is frozen below.
        objects.forEachBorrowed { if !$0.state.isDisjoint(with: .pending) { noteToManys(of: $0) } }
        for order in pairOrders.values {
            changes.links += order.links
            if order.isReordered { changes.positions += order.changes }
        }
        objects.forEachBorrowed { freeze($0) }
        if isForStores { freezeLocks(locked) }
    }

    /// Takes the rows as a child has handed them over, if they are all that there is to save and nobody has touched them since.
    private mutating func passesOn(_ received: ContiguousArray<ChangeSet.Insert>, _ objects: ContiguousArray<NSManagedObject>) -> Bool {
        guard let scope = objects.first?.scope, received.count == objects.count,
            !isForStores || scope.shape.layout.referenceSlots.isEmpty
        else { return false }
        for index in objects.indices where !isUntouched(objects, index, received[index], scope) { return false }
        groups = [Objects(scope: scope, inserted: objects)]
        changes.groups = [ChangeSet.Group(entity: scope.entity, store: scope.store, inserts: received)]
        if !isForStores, scope.shape.hasConstraints { changes.groups[0].setSlots = objects.map(\.changedSlots) }
        return true
    }

    @inline(__always)
    private func isUntouched(
        _ objects: ContiguousArray<NSManagedObject>,
        _ index: Int,
        _ insert: ChangeSet.Insert,
        _ scope: EntityScope
    ) -> Bool {
        let flags: ObjectState = [.inserted, .deleted, .unsavedRow, .extras]
        return objects[index].state.intersection(flags) == [.inserted, .unsavedRow] && objects[index].row == insert.row.bytes
            && objects[index].key == insert.key && objects[index].scopeIdentity == ObjectIdentifier(scope)
            && (!isForStores || (insert.key > 0 && EntityLayout.key(insert.row.bytes) == insert.key))
    }

    /// Makes the groups, with room for what comes: growing them costs more than counting.
    private mutating func makeRoom(for objects: ContiguousArray<NSManagedObject>) {
        var counts: [(inserted: Int, updated: Int, deleted: Int)] = []
        objects.forEachBorrowed { object in
            guard !object.state.isDisjoint(with: .pending) else { return }
            let group = group(of: object)
            if group == counts.count { counts.append((0, 0, 0)) }
            if object.state.contains(.deleted) {
                counts[group].deleted += 1
            } else if object.state.contains(.inserted) {
                counts[group].inserted += 1
            } else {
                counts[group].updated += 1
            }
        }
        for (group, count) in counts.enumerated() {
            groups[group].inserted.reserveCapacity(count.inserted)
            groups[group].updated.reserveCapacity(count.updated)
            groups[group].deleted.reserveCapacity(count.deleted)
            changes.groups[group].inserts.reserveCapacity(count.inserted)
            changes.groups[group].updates.reserveCapacity(count.updated)
            changes.groups[group].deletes.reserveCapacity(count.deleted)
        }
    }

    mutating func group(of object: NSManagedObject) -> Int {
        // Objects of one entity mostly come one after the other.
        let scope = object.scopeIdentity
        if latest.scope == scope { return latest.group }
        // Few groups are searched: objects of several entities mostly come mixed.
        let found = scopes.count <= 8 ? scopes.lastIndex(of: scope) : indexes[scope]
        latest = (scope, found ?? addGroup(of: object.scope))
        return latest.group
    }

    private mutating func addGroup(of scope: EntityScope) -> Int {
        scopes.append(ObjectIdentifier(scope))
        groups.append(Objects(scope: scope))
        changes.groups.append(ChangeSet.Group(entity: scope.entity, store: scope.store))
        indexes[ObjectIdentifier(scope)] = groups.count - 1
        return groups.count - 1
    }

    private mutating func freeze(_ object: NSManagedObject) {
        if object.isForeign {
            // No store and no parent is told of it.
            if object.state.contains(.deleted) {
                groups[group(of: object)].deleted.append(object)
            } else if object.state.contains(.updated) {
                groups[group(of: object)].unchanged.append(object)
            }
        } else if isForStores, object.key < 0, !object.state.contains(.inserted) {
            // A trace of an object that was never saved and that a context above has dropped: no store knows it.
            guard !object.state.isDisjoint(with: .pending) else { return }
            let group = group(of: object)
            if object.state.contains(.deleted) { groups[group].deleted.append(object) } else { groups[group].unchanged.append(object) }
        } else if object.state.contains(.deleted) {
            let group = group(of: object)
            groups[group].deleted.append(object)
            // Others have deleted the row: what is under its key by now, nobody here has decided to delete.
            if isForStores, object.state.contains(.rowGone) { return }
            noteOutdated(object)
            changes.groups[group].deletes.append(
                ChangeSet.Delete(
                    key: object.key,
                    base: object.state.contains(.inaccessible) ? nil : object.committedRow,
                    reason: object.reasonOfDelete
                )
            )
        } else if object.state.contains(.inserted) {
            let group = group(of: object)
            groups[group].inserted.append(object)
            if !isForStores { forgetVersion(ofNew: object) }
            changes.groups[group].inserts.append(ChangeSet.Insert(row: rowOfInsert(object), key: object.key))
            if !isForStores, object.withScope({ $0.shape.hasConstraints }) {
                changes.groups[group].setSlots.append(object.changedSlots)
            }
        } else if object.state.contains(.updated) {
            freezeUpdate(object)
        }
    }

    /// No store has taken the row yet, and it may never see this very one. One that comes back knows which version it has to have.
    @inline(__always) private func forgetVersion(ofNew object: NSManagedObject) {
        if EntityLayout.version(object.row) == 1 { EntityLayout.setVersion(object.row, 0) }
    }

    /// Whether a store would have to write more than a version into the object's row, which came from another context that may be reading it.
    private func isIncomplete(_ object: NSManagedObject) -> Bool {
        if object.key < 0 || EntityLayout.key(object.row) != object.key { return true }
        let shape = object.scope.shape
        if !shape.derivedSlots.isEmpty { return true }
        if shape.layout.referenceSlots.isEmpty { return false }
        let row = object.currentRow
        return shape.layout.referenceSlots.contains { slot in
            guard let reference = row.reference(slot) else { return false }
            return reference.key < 0 || shape.positionSlots[slot].map(row.isNull) == true
        }
    }

    @inline(__always) private mutating func rowOfInsert(_ object: NSManagedObject) -> Row {
        guard isForStores, object.state.contains(.sharedRow) else { return object.currentRow }
        if let known = replacedRow(of: object) { return Row(known) }
        return isIncomplete(object) ? Row(replaceRow(of: object)) : object.currentRow
    }

    func replacedRow(of object: NSManagedObject) -> OwnRow? {
        replacedRows.isEmpty ? nil : replacedRows[ObjectIdentifier(object)]
    }

    /// A row that a store may write into, which is the object's once it is saved.
    mutating func replaceRow(of object: NSManagedObject) -> OwnRow {
        let copy = object.copiedRow()
        effects.rows.append((object, copy))
        return copy
    }

    /// Whether the object's row is one that others have. A store advances its version, also where only a to-many relationship has changed: who
    /// has read the row before would count as up to date, and not know that change.
    private func isForOthers(_ object: NSManagedObject) -> Bool {
        if !object.state.contains(.ownRow) { return true }
        guard object.state.contains(.sharedRow) else { return false }
        return !object.state.contains(.unsavedRow) || (isForStores && isIncomplete(object))
    }

    /// An object whose values are all as they were writes nothing; one whose to-many alone changed advances its version.
    private mutating func freezeUpdate(_ object: NSManagedObject) {
        let base = object.committedRow
        var slots = object.changes(from: base)
        if !isForStores, object.state.contains(.locked) { slots.formUnion(object.statedReferences) }
        object.withScope { $0.shape.addPositions(to: &slots) }
        let group = group(of: object)
        guard !slots.isEmpty || object.hasChangedToManys else { return groups[group].unchanged.append(object) }
        groups[group].updated.append(object)
        noteOutdated(object)
        changes.groups[group].updates.append(
            ChangeSet.Update(row: rowOfUpdate(object, base), key: object.key, base: base, slots: slots)
        )
    }

    /// A store finds that out by itself; a context would take the newest row that it knows.
    @inline(__always) private mutating func noteOutdated(_ object: NSManagedObject) {
        if !isForStores, object.state.contains(.outdated) { changes.outdated.insert(object.rowReference) }
    }

    private mutating func rowOfUpdate(_ object: NSManagedObject, _ base: Row?) -> Row {
        if let known = replacedRow(of: object) { return Row(known) }
        return base != nil && isForOthers(object) ? Row(replaceRow(of: object)) : object.currentRow
    }
}

extension NSManagedObject {
    fileprivate var reasonOfDelete: ChangeSet.DeleteReason {
        switch state.intersection([.rowGone, .deletedByDecision, .inaccessible]) {
        case [.rowGone]: .othersDelete
        case [.rowGone, .inaccessible]: .missingRow
        case [.rowGone, .inaccessible, .deletedByDecision]: .decisionWithoutRow
        default: .decision
        }
    }
}
