import Foundation

extension ContextSave {
    /// The changes are in the store: objects get their keys, rows count as committed, and everybody is told.
    func finish(_ saved: Saved) {
        let late = takeLateChanges(saved)
        endFreeze()
        let groups = saved.freezer.groups
        let isInStore = parent.isStoreSide
        // Before the changes count as saved: whoever reads through the context finds them among the unsaved ones, or in the stores.
        context.moveQueryGeneration()
        let amended = context.hasHadChildren ? amendedInsertions(groups) : []
        saved.freezer.effects.apply()
        TakenMembers(context: context).drop(after: saved.freezer.changes.links)
        for (objects, receipt) in zip(groups, saved.receipt.groups) {
            markInserted(objects, receipt, isInStore)
            objects.updated.forEachBorrowed { markSaved($0, isInStore) }
            objects.unchanged.forEachBorrowed { markUnchanged($0) }
            objects.deleted.forEachBorrowed { markDeleted($0) }
        }
        if isInStore, context.hasHadChildren { noteVersions(of: groups, amended) }
        let announced = context.tracker.whole
        context.tracker.removeAll()
        let takenAlong = context.noteChildSavesSaved(isInStore, deleted: groups.flatMap(\.deleted))
        context.tracker.unlockAll()
        let derived = saved.derived.note(in: context.tracker)
        if !context.identityMap.forwarding.isEmpty { context.identityMap.forwarding = KeyForwarding() }
        let corrections = context.forwarded(takeCorrections()).corrected(by: derived).corrected(by: takenAlong)
        context.dropForwardings()
        // From here on the save is over: who is told may change objects and save again.
        context.isSaving = false
        if let late { context.receiveWhatIsThere(late) }
        parent.announceSave()
        callDidSave(groups)
        context.postDidSave((announced ?? ChangedObjects(groups)).userInfo)
        context.announceIDs(groups)
        let unwritten = context.hasHadChildren ? amended + groups.flatMap(\.unchanged) : []
        context.tellFollowers(saved.freezer.changes, saved.receipt, parent, corrections, unwritten: unwritten.map(\.rowReference))
        // Once everybody was told: until then their relationships can be read.
        leave(groups.flatMap(\.deleted))
    }

    /// Takes out what was changed since the save's changes were frozen, which is in no save: the context is as it was then.
    ///
    /// NB: hooks of objects of the parent may have done it, which run on this very thread as the parent takes the changes.
    ///
    /// - Returns: what was taken out, to be put back once the save is over; nil where there is nothing.
    private func takeLateChanges(_ saved: Saved) -> ChangeSet? {
        guard !parent.isStoreSide, context.tracker.hasTouched || context.tracker.eventCount != saved.eventCount else { return nil }
        context.endEvent()
        let late = context.changes(beyond: [saved.freezer.changes])
        if late.changesNothing {
            dropTraces(of: saved.freezer.groups)
            return nil
        }
        // New objects stay registered, and come back with the ones or the others.
        _ = context.withdrawChanges()
        context.receiveWhatIsThere(saved.freezer.changes, endsEvent: false)
        return late
    }

    /// What was changed and changed back, of objects that are not of the save, is nothing that another save could end.
    private func dropTraces(of groups: [ChangeFreezer.Objects]) {
        let objects = ChangedObjects(groups)
        let ofSave = objects.inserted.union(objects.updated).union(objects.deleted)
        context.tracker.objects.forEachBorrowed { object in
            if !object.state.isDisjoint(with: .pending), !ofSave.contains(object) { markUnchanged(object) }
        }
    }

    /// Meanwhile each object of the save says what was saved of it.
    private func callDidSave(_ groups: [ChangeFreezer.Objects]) {
        let hearing = groups.filter { $0.scope.saveHooks.contains(.didSave) }
        if hearing.isEmpty { return }
        for objects in groups {
            note(.insertionSaved, of: objects.inserted)
            note(.updateSaved, of: objects.updated)
            note(.updateSaved, of: objects.unchanged)
        }
        for objects in hearing { objects.forEach { $0.didSave() } }
        for objects in groups { objects.forEach { if !$0.state.isSuperset(of: .deletionSaved) { $0.state.subtract(.ofSave) } } }
    }

    /// Also of those that a save about which others are just being told has saved before.
    private func note(_ saved: ObjectState, of objects: ContiguousArray<NSManagedObject>) {
        objects.forEachBorrowed { $0.state = $0.state.subtracting(.ofSave).union(saved) }
    }

    /// The last that is done about deleted objects.
    private func leave(_ deleted: [NSManagedObject]) {
        propagateAgain(deleted)
        for object in deleted {
            defer { object.state.subtract(.ofSave) }
            if isLeaving(object) { context.vanish(object, .deleteSaved) }
        }
    }

    /// Whoever was related to them while everybody was told follows their delete rules. That calls hooks, which may relate more.
    private func propagateAgain(_ deleted: [NSManagedObject]) {
        while true {
            let related = deleted.filter { !$0.state.contains(.propagated) && isLeaving($0) }
            if related.isEmpty { return }
            DeletePropagation(context: context).runWhereKnown(related)
        }
    }

    /// It may have left already, as by a reset or another save.
    private func isLeaving(_ object: NSManagedObject) -> Bool {
        object.registeredContext === context && object.state.isSuperset(of: .deletionSaved)
    }

    /// So that children's older rows can be told from those that others have saved over.
    private func noteVersions(of groups: [ChangeFreezer.Objects], _ amended: [NSManagedObject]) {
        func note(_ object: NSManagedObject) {
            context.identityMap.savedVersions.note(EntityLayout.version(object.row), of: object.rowReference)
        }
        for objects in groups {
            objects.updated.forEachBorrowed { note($0) }
            // One that came back under its key.
            objects.inserted.forEachBorrowed { if EntityLayout.version($0.row) > 1 { note($0) } }
        }
        for object in amended where EntityLayout.version(object.row) == 1 { note(object) }
    }

    /// New objects of which contexts below may have earlier rows than the one that is saved, which says its version from now on.
    private func amendedInsertions(_ groups: [ChangeFreezer.Objects]) -> [NSManagedObject] {
        groups.flatMap { $0.inserted.filter { $0.state.contains(.amended) } }
    }

    private func markInserted(_ objects: ChangeFreezer.Objects, _ receipt: SaveReceipt.Group, _ isInStore: Bool) {
        guard !objects.inserted.isEmpty else { return }
        let scope = context.registry.scope(of: objects.scope.entity, store: receipt.store)
        objects.scope.identity?.move(objects.inserted, to: scope, keys: receipt.insertedKeys)
        objects.inserted.forEachBorrowed { markSaved($0, isInStore) }
    }

    /// It counts as deleted until everybody was told, but not as a change any more. That its delete was carried along relationships is still known:
    /// what is related to it from now on has not seen that.
    private func markDeleted(_ object: NSManagedObject) {
        let wasPropagated = object.state.intersection(.propagated)
        object.state.subtract(.unsaved)
        object.state.formUnion(wasPropagated.union(.deletionSaved))
    }

    /// A row that was not written, because its changes came to nothing, is dropped for the one it was copied from.
    private func markUnchanged(_ object: NSManagedObject) {
        if !object.state.contains(.rowless), let base = object.committedRow { context.adopt(base, object) }
        markSaved(object, false)
    }

    private func markSaved(_ object: NSManagedObject, _ isInStore: Bool) {
        object.state.subtract([.inserted, .updated, .unsavedRow, .validated, .outdated, .amended])
        if object.state.contains(.ownRow) {
            // What was saved is in the row cache, or in the parent context: whoever writes next copies it.
            object.state.insert(.sharedRow)
            // In a parent, the row is unsaved, and its base is the parent's.
            if isInStore, object.own.base != nil { object.own.rebase(on: nil) }
        }
        object.changedBits = 0
        guard let extras = object.existingExtras else { return }
        extras.highChanges = SlotMask()
        extras.changesBeforeEvent = SlotMask()
        extras.quietChanges = SlotMask()
        extras.transientsBefore = [:]
        extras.forEachToMany { $0.didSave() }
    }
}

extension ChangedObjects {
    /// The objects of a save.
    init(_ groups: [ChangeFreezer.Objects]) {
        self.init()
        inserted = Self.set(groups, \.inserted)
        updated = Self.set(groups, \.updated, \.unchanged)
        deleted = Self.set(groups, \.deleted)
    }

    private static func set(
        _ groups: [ChangeFreezer.Objects],
        _ lists: KeyPath<ChangeFreezer.Objects, ContiguousArray<NSManagedObject>>...
    ) -> Set<NSManagedObject> {
        let count = groups.reduce(0) { count, group in lists.reduce(count) { $0 + group[keyPath: $1].count } }
        var set = Set<NSManagedObject>(minimumCapacity: count)
        for group in groups { for list in lists { for object in group[keyPath: list] { set.insert(object) } } }
        return set
    }
}
