/// What a change set changes beyond others that went into it: what the context that froze it has done itself.
///
/// Together with the others, in order, it gives the whole again. Takes time in proportion to all of them.
struct ChangeSetRemainder {
    private(set) var changes = ChangeSet()
    private let newest: (RowReference) -> RowReference
    private let seesReversals: Bool
    private var known: [RowReference: Known] = [:]
    private var met: Set<RowReference> = []

    /// What the parts do to one object.
    private struct Known {
        let group: (entity: NSEntityDescription, store: Int32)
        var inserted: Row?
        var updates: [ChangeSet.Update] = []
        var isDeleted = false

        /// What the parts have set by updates.
        var slots: SlotMask { updates.reduce(SlotMask()) { $0.union($1.slots) } }

        /// The row that has the parts' value in a slot; nil where they have set none.
        func row(_ slot: Int) -> Row? { updates.last { $0.slots.contains(slot) }?.row ?? inserted }
    }

    /// - Parameters:
    ///   - newest: gives the permanent form of a reference, where there is one.
    ///   - seesReversals: whether what the parts have done and the whole has not counts as undone by the context.
    ///   - current: gives the row that the context has of an object; nil where it has none.
    init(
        of whole: ChangeSet,
        beyond parts: [ChangeSet],
        newest: @escaping (RowReference) -> RowReference,
        seesReversals: Bool = true,
        current: (RowReference) -> Row?
    ) {
        self.seesReversals = seesReversals
        self.newest = { newest($0).identity }
        for part in parts { for group in part.groups { note(group) } }
        for group in whole.groups { addRest(of: group) }
        if seesReversals { addReversals(current) }
        addLinks(whole, parts)
        addOrders(whole, parts)
        addTransients(whole, parts)
        changes.outdated = whole.outdated
    }

    private mutating func note(_ group: ChangeSet.Group) {
        func change(_ key: Int64, _ body: (inout Known) -> Void) {
            body(&known[newest(group.reference(key)), default: Known(group: (group.entity, group.store))])
        }
        for insert in group.inserts { change(insert.key) { ($0.inserted, $0.isDeleted) = (insert.row, false) } }
        for update in group.updates { change(update.key) { $0.updates.append(update) } }
        for delete in group.deletes { change(delete.key) { $0.isDeleted = true } }
    }

    private mutating func addRest(of group: ChangeSet.Group) {
        var rest = ChangeSet.Group(entity: group.entity, store: group.store)
        for (index, insert) in group.inserts.enumerated() {
            let reference = newest(group.reference(insert.key))
            met.insert(reference)
            guard let known = known[reference], let base = known.inserted else {
                rest.add(insert, setSlots: group.setSlots(index))
                continue
            }
            let slots = differences(insert.row, known, among: Self.slots(of: insert.row))
            if !slots.isEmpty { rest.updates.append(ChangeSet.Update(row: insert.row, key: insert.key, only: slots, on: base)) }
        }
        for update in group.updates {
            let reference = newest(group.reference(update.key))
            met.insert(reference)
            // What the parts have set may be as it was before them, and no change any more.
            let slots =
                known[reference].map { differences(update.row, $0, among: seesReversals ? update.slots.union($0.slots) : update.slots) }
                ?? update.slots
            if !slots.isEmpty { rest.updates.append(ChangeSet.Update(row: update.row, key: update.key, only: slots, on: update.base)) }
        }
        for delete in group.deletes {
            let reference = newest(group.reference(delete.key))
            met.insert(reference)
            if known[reference]?.isDeleted != true { rest.deletes.append(delete) }
        }
        if !rest.isEmpty { changes.groups.append(rest) }
    }

    /// What the parts have done and the whole has not: it was undone. Or others have saved the same meanwhile, and it is no change any more.
    private mutating func addReversals(_ current: (RowReference) -> Row?) {
        for (reference, known) in known where !known.isDeleted && !met.contains(reference) {
            var group = ChangeSet.Group(entity: known.group.entity, store: known.group.store)
            if let row = known.inserted {
                group.deletes.append(ChangeSet.Delete(key: reference.key, base: row))
            } else if let base = current(reference) ?? known.updates.first?.base {
                let slots = differences(base, known, among: known.slots)
                if !slots.isEmpty { group.updates.append(ChangeSet.Update(row: base, key: reference.key, base: base, slots: slots)) }
            }
            if !group.isEmpty { changes.groups.append(group) }
        }
    }

    private static func slots(of row: Row) -> SlotMask {
        let layout = row.layout
        var slots = SlotMask()
        for slot in 0..<layout.count where layout.kinds[slot] != .position { slots.insert(slot) }
        return slots
    }

    private func differences(_ row: Row, _ known: Known, among slots: SlotMask) -> SlotMask {
        var differences = SlotMask()
        slots.forEach { slot in
            guard let other = known.row(slot) else { return differences.insert(slot) }
            if row !== other, !isEqual(row, other, slot) { differences.insert(slot) }
        }
        return differences
    }

    private func isEqual(_ row: Row, _ other: Row, _ slot: Int) -> Bool {
        guard row.layout.kinds[slot] == .reference else { return row.equals(other, at: slot) }
        return row.reference(slot).map(newest) == other.reference(slot).map(newest)
    }
}

extension ChangeSetRemainder {
    private mutating func addLinks(_ whole: ChangeSet, _ parts: [ChangeSet]) {
        // What the parts have said of a pair last: they may have added what the store has already, and taken it out again.
        var said: [ToManyEnd: [RowReference: Bool]] = [:]
        for link in parts.lazy.flatMap(\.links) {
            for member in link.removed { said[end(link), default: [:]][newest(member)] = false }
            for member in link.added { said[end(link), default: [:]][newest(member)] = true }
        }
        for link in whole.links {
            let said = said[end(link)] ?? [:]
            // Who was taken out and put in again is in.
            let returned = link.removed.isEmpty ? [] : Set(link.removed).intersection(link.added)
            let rest = ChangeSet.LinkChange(
                relationship: link.relationship,
                owner: link.owner,
                added: link.added.filter { said[newest($0)] != true },
                removed: link.removed.filter { member in said[newest(member)].map { $0 && !returned.contains(member) } ?? true }
            )
            if !rest.added.isEmpty || !rest.removed.isEmpty { changes.links.append(rest) }
        }
    }

    private func end(_ link: ChangeSet.LinkChange) -> ToManyEnd {
        ToManyEnd(relationship: ObjectIdentifier(link.relationship), owner: newest(link.owner))
    }

    private mutating func addOrders(_ whole: ChangeSet, _ parts: [ChangeSet]) {
        var wholes: [ToManyEnd: [RowReference]] = [:]
        var appended: [ToManyEnd: Set<RowReference>] = [:]
        for order in parts.lazy.flatMap(\.orders) {
            let members = order.members.map(newest)
            if order.isWhole { wholes[end(order)] = members } else { appended[end(order), default: []].formUnion(members) }
        }
        for order in whole.orders {
            if order.isWhole {
                // What was added behind the parts' members comes there anyway.
                let asked = wholes[end(order)] ?? []
                if asked.isEmpty || !order.members.lazy.map(newest).starts(with: asked) { changes.orders.append(order) }
            } else {
                let known = appended[end(order)] ?? []
                let members = order.members.filter { !known.contains(newest($0)) }
                guard !members.isEmpty else { continue }
                changes.orders.append(
                    ChangeSet.OrderChange(relationship: order.relationship, owner: order.owner, members: members, isWhole: false)
                )
            }
        }
    }

    /// Values say nothing about where they come from: what a part has set is taken for its own.
    private mutating func addTransients(_ whole: ChangeSet, _ parts: [ChangeSet]) {
        var known: [RowReference: Set<String>] = [:]
        for change in parts.lazy.flatMap(\.transients) { known[newest(change.object), default: []].formUnion(change.values.keys) }
        for change in whole.transients {
            let keys = known[newest(change.object)] ?? []
            let values = change.values.filter { !keys.contains($0.key) }
            if !values.isEmpty { changes.transients.append(ChangeSet.TransientChange(object: change.object, values: values)) }
        }
    }

    private func end(_ order: ChangeSet.OrderChange) -> ToManyEnd {
        ToManyEnd(relationship: ObjectIdentifier(order.relationship), owner: newest(order.owner))
    }
}
