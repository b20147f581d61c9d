/// What a child's changes are laid over, and what they are measured against.
extension ChangeReception {
    /// Gives the object a row to lay the changes over, and its values.
    ///
    /// One that has values keeps its row, against which its next save is measured. One without takes the newest row that is at hand, unless somebody
    /// has changed the same as the child since the child read it. The children of one context may do that, and the later save wins; of what
    /// others have saved, the topmost context must hear as of any conflict.
    ///
    /// - Parameter slots: what the child has changed; nil for a delete.
    /// - Returns: what the changes are measured against where that is not the row.
    @discardableResult func prepare(_ object: NSManagedObject, _ base: Row, changing slots: SlotMask?) -> Row? {
        // What is chosen here counts, newer or not.
        defer { if object.isFault { fire(object) } }
        let isPending = !object.state.isDisjoint(with: .pending)
        if !isPending, changes.outdated.contains(object.rowReference) {
            context.adopt(base, object)
            object.state.insert(.outdated)
        } else if object.state.contains(.rowless) || (object.state.contains(.fault) && !isPending) {
            return takeNewestRow(object, base, slots)
        } else if !isPending {
            // A row that has left this context says no version: a context above may have merged it into one of its own.
            let newest = newestRow(object)
            if let newest, newest.version == 0 || object.currentRow.version == 0 { context.adopt(newest, object) }
            takeNewer(base, object, than: newest)
        }
        return nil
    }

    private func fire(_ object: NSManagedObject) {
        do { try object.fireKeepingRow() } catch { context.logFailure("filling a fault for \(object.objectID)", error) }
    }

    private func takeNewestRow(_ object: NSManagedObject, _ base: Row, _ slots: SlotMask?) -> Row? {
        let newest = newestRow(object)
        if object.state.contains(.rowless) { context.adopt(base, object) }
        guard context.parentSource.isStoreSide else {
            if let newest { context.adopt(newest, object) }
            takeNewer(base, object, than: newest)
            return newest.flatMap { isChanged($0, since: base, slots) ? base : nil }
        }
        let saved = context.identityMap.savedVersions[object.rowReference]
        let (seen, base) = (permanent(base), permanent(stored(base)))
        if let newest, [seen, base].contains(where: { !isChanged(newest, since: $0, slots) }) || isOwn(newest, saved, since: base) {
            context.adopt(newest, object)
        } else {
            context.adopt(measurable(base, saved), object)
        }
        takeNewer(base, object, than: newest)
        return nil
    }

    /// The child has read a row that is newer than what is known here. What a context above has yet to save is newer than any.
    private func takeNewer(_ base: Row, _ object: NSManagedObject, than newest: Row?) {
        if newest?.version == 0 { return }
        if base.listing != nil, base.version > object.currentRow.version { context.adopt(base, object) }
    }

    /// Whether a row is not what the child has seen of what it has changed.
    private func isChanged(_ newest: Row, since base: Row, _ slots: SlotMask?) -> Bool {
        guard newest !== base, newest.layout === base.layout else { return false }
        // NB: which version an incremental store's class gives to what it has saved is known with the next reading only.
        let all = base.version == 0 ? SlotMask(0..<newest.layout.count) : nil
        guard let slots = slots ?? all else { return newest.version != base.version }
        return !newest.differences(from: base, among: slots.subtracting(newest.positionSlots)).isEmpty
    }

    /// Whether the context itself has saved all that happened to a row since the child read it; where that was forgotten, it counts as so.
    private func isOwn(_ newest: Row, _ saved: SavedVersions.Run?, since base: Row) -> Bool {
        guard let saved else { return context.identityMap.savedVersions.hasForgotten }
        if saved.last == 0 { return true }
        // NB: a row without a version may be one from before a gap.
        return saved.last == newest.version && (base.version == 0 ? !saved.isBroken : saved.first <= base.version + 1)
    }

    /// What the child has read may have been an unsaved row of a context above, which has given that up since: it was made from what a store has.
    func stored(_ base: Row) -> Row {
        guard base.isOwn, base.listing == nil, let stored = base.own.base else { return base }
        return self.stored(stored)
    }

    /// The row with the references that have become permanent since the child read it, as a store has them.
    private func permanent(_ base: Row) -> Row {
        let slots = base.layout.referenceSlots.filter { base.reference($0).map { $0.key < 0 } == true }
        guard !slots.isEmpty else { return base }
        let row = OwnRow.copy(of: base, replacing: -1)
        row.base = nil
        for slot in slots { if let reference = base.reference(slot) { row.store(.reference(context.forwarded(reference)), at: slot) } }
        return Row(row)
    }

    /// The row as what a store can compare with its own: one that left the child says no version, but the context knows which it saved last,
    /// and that it may be older than the first of those.
    private func measurable(_ base: Row, _ saved: SavedVersions.Run?) -> Row {
        guard base.version == 0, let saved, saved.last != 0 else { return base }
        let row = OwnRow.copy(of: base, replacing: -1)
        row.base = nil
        EntityLayout.setVersion(row.bytes, saved.isBroken ? saved.first - 1 : saved.last)
        return Row(row)
    }

    /// Looks for the newest rows of objects that nothing is known of here, before anything is changed: one statement at most for those of an
    /// entity, and none for those that somebody uses.
    ///
    /// NB: what somebody uses is cached. That it is not any more says that it was written since without being read, or that it left the child
    /// before it was first saved.
    ///
    /// - Throws: a store's error, where the changes are a child's, which has them still.
    mutating func findNewestRows() throws {
        for group in changes.groups {
            let keys =
                group.updates.lazy.filter { $0.base != nil }.map(\.key)
                + group.deletes.lazy.filter { $0.base != nil && $0.reason == .decision }.map(\.key)
            var unknown: [RowReference] = []
            for reference in keys.map({ self.reference($0, group) }) where isUnknown(reference) {
                if let cached = context.parentSource.cachedRow(for: reference) {
                    newestRows[reference] = cached
                } else {
                    unknown.append(reference)
                }
            }
            if unknown.isEmpty { continue }
            for (reference, row) in zip(unknown, try readRows(unknown)) { newestRows[reference] = row }
        }
    }

    /// The rows of one entity in one store; none of the context's own objects where they cannot be read, as of a store that was removed.
    ///
    /// What comes back is nowhere else: it is measured against what it was made from, and the next save finds the conflicts.
    private func readRows(_ references: [RowReference]) throws -> [Row?] {
        do { return try context.parentSource.rows(for: references) } catch  where areOwn {
            context.logFailure("reading what others have saved of changes that come back", error)
            return []
        }
    }

    /// Whether the context has no values of its own of an object that is in a store, or none of which it could tell how new they are.
    func isUnknown(_ reference: RowReference) -> Bool {
        guard reference.key > 0 else { return false }
        guard let object = context.registeredObject(for: reference) else { return true }
        return object.state.contains(.rowless) || (object.state.isDisjoint(with: .pending) && object.currentRow.version == 0)
    }

    private func newestRow(_ object: NSManagedObject) -> Row? {
        newestRows[object.rowReference] ?? context.parentSource.cachedRow(for: object.rowReference)
    }
}

extension Row {
    fileprivate var positionSlots: SlotMask {
        var slots = SlotMask()
        for slot in 0..<layout.count where layout.kinds[slot] == .position { slots.insert(slot) }
        return slots
    }
}
