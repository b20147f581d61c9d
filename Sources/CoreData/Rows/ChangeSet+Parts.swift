/// Change sets as parts of one another.
extension ChangeSet {
    /// Adds later changes, which go on from these.
    mutating func append(_ later: ChangeSet) {
        groups += later.groups
        appends += later.appends
        orders += later.orders
        links += later.links
        positions += later.positions
        transients += later.transients
        outdated.formUnion(later.outdated)
    }

    static func joined(_ sets: [ChangeSet]) -> ChangeSet {
        guard var joined = sets.first else { return ChangeSet() }
        for set in sets.dropFirst() { joined.append(set) }
        return joined
    }

    var insertedReferences: [RowReference] { groups.flatMap { group in group.inserts.map { group.reference($0.key) } } }
    var updatedReferences: [RowReference] { groups.flatMap { group in group.updates.map { group.reference($0.key) } } }
    var deletedReferences: [RowReference] { groups.flatMap { group in group.deletes.map { group.reference($0.key) } } }

    /// The row of an object as the changes leave it, where they have all of it.
    func wholeRow(of isSought: (RowReference) -> Bool) -> Row? {
        for group in groups {
            if let insert = group.inserts.first(where: { isSought(group.reference($0.key)) }) { return insert.row }
            if let update = group.updates.first(where: { $0.base != nil && isSought(group.reference($0.key)) }) { return update.row }
        }
        return nil
    }

    /// Calls `body` with every object that has to be there for the changes to be made: what they change, and what they refer to.
    func forEachRequirement(_ body: (RowReference) -> Void) {
        for group in groups {
            for insert in group.inserts { Self.forEachReference(of: insert.row, body) }
            for update in group.updates {
                body(group.reference(update.key))
                for slot in update.slots.filter(update.row.layout.referenceSlots) { update.row.reference(slot).map(body) }
            }
        }
        for link in links {
            body(link.owner)
            link.added.forEach(body)
        }
        for order in orders { body(order.owner) }
    }

    /// Calls `body` with every object at one end of a relationship that the changes say something about, before or after.
    func forEachEnd(_ body: (RowReference) -> Void) {
        forEachRequirement(body)
        insertedReferences.forEach(body)
        for link in links { link.removed.forEach(body) }
        for update in groups.lazy.flatMap(\.updates) {
            guard let base = update.base else { continue }
            for slot in update.slots.filter(base.layout.referenceSlots) { base.reference(slot).map(body) }
        }
    }

    private static func forEachReference(of row: Row, _ body: (RowReference) -> Void) {
        for slot in row.layout.referenceSlots { row.reference(slot).map(body) }
    }

    /// The changes but for those of some objects, with nothing that refers to them.
    func without(_ isGone: (RowReference) -> Bool) -> ChangeSet {
        var rest = self
        rest.groups = groups.map { group in
            var rest = Group(entity: group.entity, store: group.store)
            for (index, insert) in group.inserts.enumerated() where !isGone(group.reference(insert.key)) {
                rest.add(Insert(row: insert.row.without(isGone), key: insert.key), setSlots: group.setSlots(index))
            }
            for update in group.updates where !isGone(group.reference(update.key)) {
                rest.updates.append(Update(row: update.row.without(isGone), key: update.key, base: update.base, slots: update.slots))
            }
            for delete in group.deletes where !isGone(group.reference(delete.key)) { rest.deletes.append(delete) }
            return rest
        }
        rest.links = links.filter { !isGone($0.owner) }.map { link in
            LinkChange(
                relationship: link.relationship,
                owner: link.owner,
                added: link.added.filter { !isGone($0) },
                removed: link.removed.filter { !isGone($0) }
            )
        }
        rest.orders = orders.filter { !isGone($0.owner) }
        rest.transients = transients.filter { !isGone($0.object) }
        return rest
    }

    /// Whether there is nothing to do, though there may be empty groups.
    var changesNothing: Bool {
        links.isEmpty && orders.isEmpty && positions.isEmpty && transients.isEmpty && groups.allSatisfy(\.isEmpty)
    }
}

extension ChangeSet.Group {
    func reference(_ key: Int64) -> RowReference { RowReference(key: key, entity: Int32(entity.index), store: store) }

    /// The slots that were set in an insert, where that is known.
    func setSlots(_ index: Int) -> SlotMask? { setSlots.isEmpty ? nil : setSlots[index] }

    mutating func add(_ insert: ChangeSet.Insert, setSlots slots: SlotMask?) {
        inserts.append(insert)
        if let slots { setSlots.append(slots) }
    }
}

extension RowReference {
    /// The reference as a key of tables: a temporary key stands for itself, in whichever store the object is to be.
    var identity: RowReference { key < 0 ? RowReference(key: key, entity: 0, store: 0) : self }
}

extension Row {
    /// The row, or a copy that does not refer to some objects.
    fileprivate func without(_ isGone: (RowReference) -> Bool) -> Row {
        let slots = layout.referenceSlots.filter { reference($0).map(isGone) == true }
        guard !slots.isEmpty else { return self }
        let copy = OwnRow.copy(of: self, replacing: -1)
        if isOwn { copy.base = own.base }
        for slot in slots { copy.storeNull(at: slot) }
        return Row(copy)
    }
}

extension ChangeSet {
    /// The changes, with new objects under the keys that they have got since.
    func forwarded(_ newest: (RowReference) -> RowReference) -> ChangeSet {
        guard groups.contains(where: { group in group.inserts.contains { $0.key < 0 } }) else { return self }
        var changes = self
        var moved: [Group] = []
        for index in groups.indices {
            (changes.groups[index].inserts, changes.groups[index].setSlots) = ([], [])
            for (place, insert) in groups[index].inserts.enumerated() {
                let slots = groups[index].setSlots(place)
                let reference = newest(groups[index].reference(insert.key))
                let renamed = Insert(row: insert.row, key: reference.key)
                if reference.key < 0 || reference.store == groups[index].store {
                    changes.groups[index].add(renamed, setSlots: slots)
                } else if let other = moved.firstIndex(where: { $0.entity === groups[index].entity && $0.store == reference.store }) {
                    moved[other].add(renamed, setSlots: slots)
                } else {
                    moved.append(Group(entity: groups[index].entity, store: reference.store))
                    moved[moved.count - 1].add(renamed, setSlots: slots)
                }
            }
        }
        changes.groups += moved
        return changes
    }
}

extension ChangeSet.Update {
    /// Whether a row has all that it sets.
    func agrees(with other: Row) -> Bool {
        var isSame = true
        slots.forEach { slot in isSame = isSame && row.equals(other, at: slot) }
        return isSame
    }
}
