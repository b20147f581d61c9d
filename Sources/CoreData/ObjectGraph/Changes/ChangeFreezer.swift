import Foundation

/// Freezes a context's changes into a change set, and remembers which object each row came from.
///
/// Changes no object: what becomes of them once the changes are saved is in the effects.
struct ChangeFreezer {
    private(set) var changes = ChangeSet()
    private(set) var effects = SaveEffects()
    /// Parallel to the groups of the change set.
    private(set) var groups: [Objects] = []
    private var indexes: [ObjectIdentifier: Int] = [:]
    /// The scopes of the groups, which keep them.
    private var scopes: ContiguousArray<ObjectIdentifier> = []
    /// The scope that was asked for last, which its group keeps.
    private var latest: (scope: ObjectIdentifier?, group: Int) = (nil, 0)
    /// Rows that are written in place of members' own, by object.
    private var replacedRows: [ObjectIdentifier: OwnRow] = [:]
    /// The orders of relationships that are their own inverses, as far as somebody has changed them.
    private var pairOrders: [ObjectIdentifier: PairOrder] = [:]
    /// Where members say their owner and their position, for the ordered relationships met so far.
    private var memberSlots: [(shape: ObjectIdentifier, index: Int, slots: MemberSlots?)] = []

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
    private let isForStores: Bool
    /// Whether orders are said as such, and not by positions alone.
    private let tellsOrders: Bool

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
        guard isForStores else { return }
        for object in locked where object.state.isDisjoint(with: .pending) { freezeLock(object) }
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

    private mutating func group(of object: NSManagedObject) -> Int {
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

    private func replacedRow(of object: NSManagedObject) -> OwnRow? {
        replacedRows.isEmpty ? nil : replacedRows[ObjectIdentifier(object)]
    }

    /// A row that a store may write into, which is the object's once it is saved.
    private mutating func replaceRow(of object: NSManagedObject) -> OwnRow {
        let copy = object.copiedRow()
        effects.rows.append((object, copy))
        return copy
    }

    private mutating func freezeLock(_ object: NSManagedObject) {
        guard let base = object.committedRow else { return }
        changes.groups[group(of: object)].locks.append(ChangeSet.Delete(key: object.key, base: base))
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
        guard !slots.isEmpty || object.hasChangedToManys else {
            if isForStores, object.state.contains(.locked) || object.isLedToAnew { freezeLock(object) }
            return groups[group].unchanged.append(object)
        }
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

extension ChangeFreezer {
    private mutating func noteToManys(of object: NSManagedObject) {
        guard object.state.contains(.extras) else { return }
        if isForStores { noteChangedToManys(of: object) } else { noteTransients(of: object) }
        object.forEachChangedToMany { index, contents in
            let link = object.toManyLink(index)
            if link.isOrdered, !object.state.contains(.deleted) { noteOrder(of: object, contents) }
            let relationship = object.scope.shape.toManys[index]
            if link.writesLinks {
                noteLinks(object, relationship, contents)
            } else if contents.hasUnplacedAdditions, !object.state.contains(.deleted), relationship.inverse?.isToMany == true {
                note(relationship, object, added: contents.added.array, removed: [])
            }
        }
    }

    private mutating func noteChangedToManys(of object: NSManagedObject) {
        guard object.state.isDisjoint(with: [.inserted, .deleted]), object.key > 0 else { return }
        var relationships = SlotMask()
        object.forEachChangedToMany { index, _ in relationships.insert(index) }
        if relationships.isEmpty { return }
        changes.changedToManys.append(ChangeSet.ToManyChange(owner: object.rowReference, relationships: relationships))
    }

    private mutating func noteTransients(of object: NSManagedObject) {
        guard let extras = object.existingExtras, !extras.transientsBefore.isEmpty, !object.state.contains(.deleted) else { return }
        let values = extras.transients.filter { extras.transientsBefore[$0.key] != nil }
        changes.transients.append(ChangeSet.TransientChange(object: object.rowReference, values: values))
    }

    private mutating func noteOrder(of owner: NSManagedObject, _ contents: ToManyContents) {
        if isForStores { assignPositions(of: owner, contents) }
        if tellsOrders { noteWholeOrder(of: owner, contents) }
    }

    private mutating func noteLinks(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription, _ contents: ToManyContents) {
        let added = owner.state.contains(.deleted) ? [] : (contents.ownerIsNew ? contents.members?.array ?? [] : contents.added.array)
        // Where there is no order here, who was taken out and put in again just stays in: its place in the other end's order is there.
        let removed = contents.removed.array.filter { relationship.isOrdered || !contents.added.contains($0) }
        guard isForStores, relationship.isOrdered, relationship.inverse === relationship else {
            return note(relationship, owner, added: added.filter { !isPlaced($0, with: owner, relationship) }, removed: removed)
        }
        let links = added.filter { !$0.state.contains(.deleted) }.map(\.rowReference)
        notePairs(of: relationship) { $0.addNew(links, of: owner.rowReference) }
        note(relationship, owner, added: [], removed: removed)
    }

    /// Whether a member's own end writes the pair: what was added to an order that nobody has read comes at its end, one after the other.
    private func isPlaced(_ member: NSManagedObject, with owner: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverse, inverse.isOrdered, inverse !== relationship,
            !member.state.isDisjoint(with: .pending), !member.state.contains(.deleted),
            let contents = inverse.toManyIndex.flatMap(member.existingContents)
        else { return false }
        return contents.hasUnplacedAdditions && contents.added.contains(owner)
    }

    private mutating func note(
        _ relationship: NSRelationshipDescription,
        _ owner: NSManagedObject,
        added: [NSManagedObject],
        removed: [NSManagedObject]
    ) {
        let added = added.filter { !$0.state.contains(.deleted) }.map(\.rowReference)
        guard !added.isEmpty || !removed.isEmpty else { return }
        changes.links.append(
            ChangeSet.LinkChange(relationship: relationship, owner: owner.rowReference, added: added, removed: removed.map(\.rowReference))
        )
    }

    /// Both ends of a pair share one position: in which order pairs are added is known once all ends are.
    private mutating func notePairs(of relationship: NSRelationshipDescription, _ note: (inout PairOrder) -> Void) {
        note(&pairOrders[ObjectIdentifier(relationship), default: PairOrder(relationship)])
    }

    /// The order as a context takes it, and who keeps no positions.
    private mutating func noteWholeOrder(of owner: NSManagedObject, _ contents: ToManyContents) {
        let relationship = owner.scope.shape.toManys[contents.index]
        // Without a to-one inverse the order of the additions is that of the links.
        let isWhole = contents.isReordered || relationship.inverse?.isToMany != false
        let members = isWhole ? contents.members : contents.ownerIsNew ? contents.members : contents.added
        guard let members, !members.isEmpty else { return }
        changes.orders.append(
            ChangeSet.OrderChange(
                relationship: relationship,
                owner: owner.rowReference,
                members: members.array.filter { !$0.state.contains(.deleted) }.map(\.rowReference),
                isWhole: isWhole
            )
        )
    }

    /// New positions for the members that need one: in their own rows where those are written anyway, else beside them.
    private mutating func assignPositions(of owner: NSManagedObject, _ contents: ToManyContents) {
        let relationship = owner.scope.shape.toManys[contents.index]
        if relationship.inverse === relationship {
            let members = (contents.members ?? contents.added).array.filter { !$0.state.contains(.deleted) }.map(\.rowReference)
            return notePairs(of: relationship) { $0.add(members, of: owner.rowReference, isReordered: contents.isReordered) }
        }
        guard let members = contents.members else { return append(contents.added, owner, contents.index) }
        let slots = slots(of: members, owner, contents.index)
        var inRows = ChangeSet.RowPositions(owner: owner.rowReference, slot: slots?.position ?? 0)
        var beside: [(member: RowReference, position: Int64)] = []
        let new = contents.newPositions { member, position, isSaved in
            // A row that is written anyway says its position, even the one it had: setting its owner has erased that.
            if let slots, Self.writesPosition(member, slots) { return inRows.rows.append((writableRow(of: member), position)) }
            if !isSaved { beside.append((member.rowReference, position)) }
        }
        effects.orders.append((contents, new))
        if !inRows.rows.isEmpty { changes.rowPositions.append(inRows) }
        guard !beside.isEmpty else { return }
        changes.positions.append(ChangeSet.PositionChange(relationship: relationship, owner: owner.rowReference, positions: beside))
    }

    /// Not read: what was added has no position yet. The store puts it at the end, in the order of the additions rather than of the rows.
    private mutating func append(_ members: MemberList, _ owner: NSManagedObject, _ index: Int) {
        guard members.count > 1, owner.scope.shape.toManys[index].inverse?.isToMany == false else { return }
        for member in members.array where member.state.contains(.ownRow) {
            if member.state.intersection([.sharedRow, .unsavedRow]) == .sharedRow { continue }
            changes.appends.append(ChangeSet.Append(row: writableRow(of: member), member: member.rowReference))
        }
    }

    private typealias MemberSlots = (owner: Int, position: Int)

    /// The slots of a member that say its owner and its position there: the same in all members, also in those of subentities.
    private mutating func slots(of members: MemberList, _ owner: NSManagedObject, _ index: Int) -> MemberSlots? {
        guard let member = members.firstMember else { return nil }
        let shape = owner.withScope { ObjectIdentifier($0.shape) }
        if let known = memberSlots.first(where: { $0.shape == shape && $0.index == index }) { return known.slots }
        let slots = Self.slots(member, owner.scope.shape.toManys[index])
        memberSlots.append((shape, index, slots))
        return slots
    }

    private static func slots(_ member: NSManagedObject, _ relationship: NSRelationshipDescription) -> MemberSlots? {
        guard let inverse = relationship.inverse, case .toOne(let owner, _)? = member.scope.shape.properties[inverse.name],
            let position = member.scope.shape.positionSlots[owner]
        else { return nil }
        return (owner, position)
    }

    /// Whether the member's row is written, with the slot of its position.
    @inline(__always) private static func writesPosition(_ member: NSManagedObject, _ slots: MemberSlots) -> Bool {
        guard member.state.intersection([.sharedRow, .unsavedRow]) != .sharedRow else { return false }
        return member.state.contains(.inserted) || changesPosition(member, slots)
    }

    private static func changesPosition(_ member: NSManagedObject, _ slots: MemberSlots) -> Bool {
        guard member.state.isSuperset(of: [.updated, .ownRow]) else { return false }
        let changed = member.changedSlots
        guard changed.contains(slots.owner) else { return false }
        guard let base = member.committedRow else { return true }
        return !member.currentRow.equals(base, at: slots.owner)
            || (changed.contains(slots.position) && !member.currentRow.equals(base, at: slots.position))
    }

    /// The row of a member that is written: its own, or one in place of what it shares with other contexts.
    @inline(__always) private mutating func writableRow(of member: NSManagedObject) -> Row {
        member.state.contains(.sharedRow) ? Row(writableCopy(of: member)) : member.currentRow
    }

    private mutating func writableCopy(of member: NSManagedObject) -> OwnRow {
        if let known = replacedRow(of: member) { return known }
        let copy = replaceRow(of: member)
        replacedRows[ObjectIdentifier(member)] = copy
        return copy
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
