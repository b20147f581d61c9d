extension SaveRun {
    /// The transaction is committed: rows get their references, and the cache the rows. Nobody else may be reading the rows.
    func publish() {
        for (place, (_, group)) in changes.groups.enumerated() {
            completeReferences(of: group)
            derived.complete(group, at: place, insertedKeys: insertedKeys[place])
        }
        store.publicationOrder.publish(number) { tellCache(isOvertaken: $0) }
        for (index, (_, group)) in changes.groups.enumerated() { forgetVersions(of: group, updatedVersions[index]) }
        for (root, first, count) in keys.pooled { store.keyPool.put(first, count: count, root: root) }
        if let writtenMetadata { store.didWriteMetadata(edit: writtenMetadata) }
    }

    private func tellCache(isOvertaken: Bool) {
        for (index, (_, group)) in changes.groups.enumerated() {
            let root = group.entity.rootEntity.index
            store.cache.publish(inserts: group.inserts, keys: insertedKeys[index], root: root)
            store.cache.publish(updates: group.updates, versions: updatedVersions[index], root: root, isOvertaken: isOvertaken)
            store.cache.forget(root: root, deletes: group.deletes)
        }
        for (root, keys) in unlistedUpdates { for key in keys { store.cache.forget(root: root, key: key) } }
        for (root, keys) in derived.changedRows(besides: writtenRows) { store.cache.forget(root: root, keys: keys) }
        // A later save may have changed what is derived, and no version tells.
        guard isOvertaken else { return }
        for (entity, keys) in writtenRows where !entity.shape.derivedSlots.isEmpty {
            store.cache.forget(root: entity.rootEntity.index, keys: keys)
        }
    }

    private var writtenRows: [(entity: NSEntityDescription, keys: [Int64])] {
        changes.groups.enumerated().map { ($1.group.entity, $1.group.updates.map(\.key) + insertedKeys[$0]) }
    }

    /// Rows whose versions have become ones that no row can say: the store is asked for them before the next change.
    private func forgetVersions(of group: ChangeSet.Group, _ versions: ContiguousArray<Int32>) {
        for index in versions.indices where versions[index] == 0 && group.updates[index].base != nil {
            EntityLayout.setVersion(group.updates[index].row.bytes, 0)
        }
    }

    private func completeReferences(of group: ChangeSet.Group) {
        let layout = group.entity.shape.layout
        guard !layout.referenceSlots.isEmpty else { return }
        for index in group.inserts.indices { completeReferences(group.inserts[index].row, layout) }
        for index in group.updates.indices { completeReferences(group.updates[index].row, layout) }
    }

    /// Temporary keys in the rows become the permanent ones.
    @inline(__always) private func completeReferences(_ row: Row, _ layout: EntityLayout) {
        guard row.isOwn else { return }
        for slot in layout.referenceSlots {
            let address = row.bytes + Int(layout.ownOffsets[slot])
            let key = address.load(as: Int64.self)
            if key < 0, let permanent = keys.forwarding[key] { address.storeBytes(of: permanent, as: RowReference.self) }
        }
    }
}
