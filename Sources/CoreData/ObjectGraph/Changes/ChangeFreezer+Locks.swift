/// Objects that are not written and have to be in the store as they were read.
extension ChangeFreezer {
    mutating func freezeLocks(_ locked: Set<NSManagedObject>) {
        var undecided: [RowReference: NSManagedObject] = [:]
        for group in groups {
            for object in group.unchanged where !object.isForeign && object.key > 0 {
                if object.state.contains(.locked) {
                    freezeLock(object)
                } else if !object.statedReferences.isEmpty {
                    undecided[object.rowReference] = object
                }
            }
        }
        for object in locked where object.state.isDisjoint(with: .pending) { freezeLock(object) }
        if !undecided.isEmpty { freezeEnds(undecided) }
    }

    private mutating func freezeLock(_ object: NSManagedObject) {
        guard let base = object.committedRow else { return }
        changes.groups[group(of: object)].locks.append(ChangeSet.Delete(key: object.key, base: base))
    }

    /// Locks ends of one-to-one relationships that lead again to where their rows say, while the other end is written: a row may be older than that of
    /// the other end, and what others have saved of it since would remain.
    private mutating func freezeEnds(_ undecided: [RowReference: NSManagedObject]) {
        var ends: [RowReference: NSManagedObject] = [:]
        for (group, objects) in zip(changes.groups, groups) {
            for (update, object) in zip(group.updates, objects.updated) {
                for end in object.partners(update) { ends[end] = undecided[end] }
            }
        }
        for object in ends.values { freezeLock(object) }
    }
}

extension NSManagedObject {
    /// The other ends of the one-to-one relationships that an update changes, before and now.
    fileprivate func partners(_ update: ChangeSet.Update) -> [RowReference] {
        let shape = scope.shape
        return update.slots.filter(shape.layout.referenceSlots).flatMap { slot in
            guard shape.toOnes[slot]?.inverse?.isToMany == false else { return [RowReference]() }
            let references = [update.base?.reference(slot), update.row.reference(slot)].compactMap(\.self)
            return references.map { registeredContext?.forwarded($0) ?? $0 }
        }
    }
}
