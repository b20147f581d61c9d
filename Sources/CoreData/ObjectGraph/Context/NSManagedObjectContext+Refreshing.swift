import Foundation

extension NSManagedObjectContext {
    /// Brings an object up to date with its row.
    ///
    /// With `mergeChanges`, its unsaved changes are laid over the newest row and stay unsaved. Without, they are lost and the object becomes a
    /// fault. The newest row is the one in the row cache; nothing is read before the object is used.
    public func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        checkQueue()
        guard object.registeredContext === self, !object.state.contains(.inserted) else { return }
        if flag { refreshMerging(object) } else { refreshToFault(object) }
    }

    private func refreshToFault(_ object: NSManagedObject) {
        tracker.forget(object)
        object.turnIntoFault()
        takeNewestCachedRow(object)
        noteRefresh(object)
    }

    /// A fault keeps its row only as long as the cache knows none that is newer. It holds its row in the cache, so that one which is not there
    /// any more was written since: it is read again when it is next used.
    private func takeNewestCachedRow(_ object: NSManagedObject) {
        guard let newest = parentSource.cachedRow(for: object.rowReference) else { return object.forgetRow() }
        if newest.version == 0 || newest.version >= object.currentRow.version { adopt(newest, object) }
    }

    private func refreshMerging(_ object: NSManagedObject) {
        // A delete stays measured against what it was decided on: others may have put something under the object since.
        guard !object.state.contains(.deleted) else { return }
        if object.isFault {
            // It may have been put into, or taken out of, relationships nevertheless.
            if object.changedSlots.isEmpty, !object.state.contains(.inserted) { takeNewestCachedRow(object) }
            return
        }
        do {
            guard let newest = try parentSource.row(for: object.rowReference) else { return }
            rebase(object, onto: newest, keeping: object.changedSlots)
            forgetStoredMembers(object)
        } catch {
            return logFailure("refreshing \(object.objectID)", error)
        }
        object.awake { $0.awake(fromSnapshotEvents: .refresh) }
        noteRefresh(object)
    }

    /// To-many relationships are read again when they are next used, under their unsaved changes, and fetched properties are fetched again.
    func forgetStoredMembers(_ object: NSManagedObject) {
        object.existingExtras?.forgetStoredMembers()
    }

    private func noteRefresh(_ object: NSManagedObject) { tracker.noteRefresh(of: object) }

    /// Puts an object on another base row: its values become that row's but for `slots`, which keep what the object has.
    func rebase(_ object: NSManagedObject, onto base: Row, keeping slots: SlotMask) {
        let current = object.currentRow
        if slots.isEmpty {
            adopt(base, object)
        } else {
            let row = OwnRow.copy(of: base, replacing: -1)
            object.scope.shape.assign(slots, from: current, to: row)
            object.setRow(Row(row))
            object.state.subtract([.sharedRow, .unsavedRow])
        }
        object.setChangedSlots(slots)
    }

    /// Refreshes every object of the context, keeping unsaved changes.
    public func refreshAllObjects() {
        checkQueue()
        for object in registry.objects {
            refresh(object, mergeChanges: !object.state.isDisjoint(with: .pending))
        }
        processPendingChanges()
    }

    /// Makes the next save fail if the object's row was changed by others, though the object itself is unchanged.
    public func detectConflicts(for object: NSManagedObject) {
        checkQueue()
        guard object.registeredContext === self, object.key > 0 else { return }
        if object.isFault { object.fire() }
        object.state.insert(.locked)
        lockedObjects.append(object)
    }

    /// Drops all unsaved changes: inserted objects go, deleted ones come back, changed ones have their last saved values. Reads nothing.
    public func rollback() {
        checkQueue()
        let objects = tracker.objects.filter { !$0.state.isDisjoint(with: .pending) }
        noteDroppedInsertions(objects)
        tracker.removeAll()
        for object in objects { rollBack(object) }
        unlockObjects()
        for object in objects {
            if object.state.contains(.detached) { tracker.noteDisappearance(of: object) } else { noteRefresh(object) }
        }
        processPendingChanges()
        latestSets = ([], [], [])
    }

    private func rollBack(_ object: NSManagedObject) {
        let wasInserted = object.state.contains(.inserted)
        object.state.subtract([.inserted, .updated, .deleted, .propagated])
        if wasInserted { return unregister(object) }
        if !object.state.contains(.rowless), let base = object.committedRow { adopt(base, object) }
        object.setChangedSlots(SlotMask())
        object.existingExtras?.forgetObjects()
        object.awake { $0.awake(fromSnapshotEvents: .rollback) }
    }

    /// Forgets every object and every unsaved change. Objects that somebody still holds are in no context any more.
    public func reset() {
        checkQueue()
        let objects = registry.objects
        let pending = tracker.objects
        noteDroppedInsertions(pending)
        let ids = objects.map(\.objectID)
        tracker.removeAll()
        unlockObjects()
        for object in objects {
            object.state.subtract([.inserted, .updated, .deleted, .propagated])
            object.existingExtras?.forgetObjects()
            unregister(object)
        }
        identityMap.retained = []
        identityMap.forwarding = KeyForwarding()
        identityMap.awaited.removeAll()
        latestSets = ([], [], [])
        withExtendedLifetime(pending) {}
        post(.NSManagedObjectContextObjectsDidChange, [.invalidatedAllObjects: ids])
    }

    /// What was never saved is gone: a child may take it for saved.
    func noteDroppedInsertions(_ objects: some Sequence<NSManagedObject>) {
        if hasHadChildren, objects.contains(where: { $0.state.contains(.inserted) }) { identityMap.forwardingTable.noteDroppedInsertions() }
    }

    func unlockObjects() {
        for object in lockedObjects { object.state.remove(.locked) }
        lockedObjects = []
    }
}
