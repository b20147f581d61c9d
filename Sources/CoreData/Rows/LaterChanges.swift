/// What a context has changed and saved since an earlier save of its own, by object and property, not to which values: where the earlier save comes
/// back, these properties stay as they are.
struct LaterChanges {
    private let newest: (RowReference) -> RowReference
    private var deleted: Set<RowReference> = []
    private var slots: [RowReference: SlotMask] = [:]
    private var links: [ToManyEnd: Set<RowReference>] = [:]
    private var orders: Set<ToManyEnd> = []
    private var transients: [RowReference: Set<String>] = [:]

    /// - Parameter newest: gives the permanent form of a reference, where there is one.
    init(newest: @escaping (RowReference) -> RowReference) { self.newest = { newest($0).identity } }

    private func end(_ relationship: NSRelationshipDescription, _ owner: RowReference) -> ToManyEnd {
        ToManyEnd(relationship: ObjectIdentifier(relationship), owner: newest(owner))
    }

    /// - Complexity: O(changes).
    mutating func add(_ changes: ChangeSet) {
        for group in changes.groups { add(group) }
        for link in changes.links {
            links[end(link.relationship, link.owner), default: []].formUnion((link.added + link.removed).map(newest))
        }
        for order in changes.orders where order.isWhole { orders.insert(end(order.relationship, order.owner)) }
        for change in changes.transients { transients[newest(change.object), default: []].formUnion(change.values.keys) }
    }

    private mutating func add(_ group: ChangeSet.Group) {
        // One that was not found, because its save was on its way back, is no decision.
        for delete in group.deletes where [.decision, .decisionWithoutRow].contains(delete.reason) {
            deleted.insert(newest(group.reference(delete.key)))
        }
        for update in group.updates {
            let reference = newest(group.reference(update.key))
            slots[reference] = slots[reference]?.union(update.slots) ?? update.slots
        }
    }
}

extension LaterChanges {
    /// What earlier changes still say: without values, members, transients and orders that were changed again, and without all of what was deleted.
    ///
    /// A new object is as it was, unless it was deleted: whatever builds on it comes back too.
    ///
    /// - Complexity: O(changes).
    func rest(of earlier: ChangeSet) -> ChangeSet {
        var rest = deleted.isEmpty ? earlier : earlier.without { deleted.contains(newest($0)) }
        for index in rest.groups.indices {
            let group = rest.groups[index]
            rest.groups[index].updates = ContiguousArray(group.updates.compactMap { self.rest(of: $0, group.reference($0.key)) })
        }
        let new = Set(rest.insertedReferences.map(newest))
        rest.links = rest.links.compactMap { new.contains(newest($0.owner)) ? $0 : self.rest(of: $0) }
        rest.orders.removeAll { !new.contains(newest($0.owner)) && orders.contains(end($0.relationship, $0.owner)) }
        rest.transients = rest.transients.compactMap { new.contains(newest($0.object)) ? $0 : self.rest(of: $0) }
        return rest
    }

    private func rest(of update: ChangeSet.Update, _ reference: RowReference) -> ChangeSet.Update? {
        guard let others = slots[newest(reference)] else { return update }
        let rest = update.slots.subtracting(others)
        return rest.isEmpty ? nil : ChangeSet.Update(row: update.row, key: update.key, only: rest, on: update.base)
    }

    private func rest(of link: ChangeSet.LinkChange) -> ChangeSet.LinkChange? {
        guard let others = links[end(link.relationship, link.owner)] else { return link }
        let (added, removed) = (link.added.filter { !others.contains(newest($0)) }, link.removed.filter { !others.contains(newest($0)) })
        if added.isEmpty, removed.isEmpty { return nil }
        return ChangeSet.LinkChange(relationship: link.relationship, owner: link.owner, added: added, removed: removed)
    }

    private func rest(of change: ChangeSet.TransientChange) -> ChangeSet.TransientChange? {
        guard let others = transients[newest(change.object)] else { return change }
        let values = change.values.filter { !others.contains($0.key) }
        return values.isEmpty ? nil : ChangeSet.TransientChange(object: change.object, values: values)
    }
}

extension ChangeSet.Update {
    /// A change of just these slots: the row has nothing else that was changed.
    init(row: Row, key: Int64, only slots: SlotMask, on base: Row?) {
        guard let base else {
            self.init(row: row, key: key, base: nil, slots: slots)
            return
        }
        let copy = OwnRow.copy(of: base, replacing: -1)
        slots.forEach { copy.assign($0, from: row) }
        // No store has seen this very row.
        EntityLayout.setVersion(copy.bytes, 0)
        self.init(row: Row(copy), key: key, base: base, slots: slots)
    }
}
