import Foundation

extension NSManagedObjectContext {
    /// Brings an object up to date with its row.
    ///
    /// With `mergeChanges`, its unsaved changes are laid over the newest row and stay unsaved. Without, they are lost and the object becomes a
    /// fault. What other objects' to-one relationships say of it is theirs, and stays unsaved. The newest row is the one in the row cache;
    /// nothing is read before the object is used. What was never saved is lost with its values: a fault without a row. A delete stays.
    /// But where that leaves a fault changed, and others have deleted its row, it is deleted here, too, as if it had been used.
    public func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        checkQueue()
        guard object.registeredContext === self else { return }
        readAhead.forget()
        if flag { refreshMerging(object) } else { refreshToFault(object) }
    }

    private func refreshToFault(_ object: NSManagedObject) {
        switch object.state.intersection([.inserted, .deleted]) {
        case .inserted: giveUpInsertion(of: object)
        case .deleted:
            object.leaveEditedTargets()
            object.turnIntoFault(keepsRelationshipEdits: true)
        case []:
            let partners = relatedUnsaved(to: object)
            // A delete that found it out of date has locked it: what it leads to by now is to be looked at.
            let (lost, meetsDelete) = (object.dropEditsOfOthers(), object.hasLedToDeleted || object.state.contains(.locked))
            tracker.forget(object)
            object.turnIntoFault(keepsRelationshipEdits: true)
            takeNewestCachedRow(object)
            for slot in lost { object.writeTarget(nil, slot) }
            object.noteKeptMembers()
            deleteIfGone(object)
            if meetsDelete { carryDeletesAgain(to: object) }
            for partner in partners where partner.state.isDisjoint(with: [.inserted, .deleted]) { tracker.noteRefresh(of: partner) }
        // It goes without a trace when the event ends.
        default: return
        }
        tracker.noteRefresh(of: object)
    }

    /// Whom the object's unsaved relationships lead to, or have led to: they lose or regain it at their end, where they have many.
    private func relatedUnsaved(to object: NSManagedObject) -> [NSManagedObject] {
        var partners: Set<NSManagedObject> = []
        for slot in object.changedSlots.filter(object.scope.shape.layout.referenceSlots) {
            for case let reference? in [object.currentRow.reference(slot), object.committedRow?.reference(slot)] {
                if let partner = registeredObject(for: forwarded(reference)) { partners.insert(partner) }
            }
        }
        object.existingExtras?.forEachToMany { contents in
            guard object.scope.shape.toManys[contents.index].inverse?.isToMany == true else { return }
            partners.formUnion(contents.added.array + contents.removed.array)
        }
        return Array(partners)
    }

    /// A delete has taken itself out of the object, which was an edit, and is dropped with the others: the object leads to what is deleted again.
    private func carryDeletesAgain(to object: NSManagedObject) {
        do {
            if object.state.contains(.rowless) { try object.fireThrowing() }
            DeletePropagation(context: self).run(to: object)
        } catch {
            logFailure("refreshing \(object.objectID), which refers to a deleted object", error)
        }
    }

    /// A fault keeps its row only as long as the cache knows no other. It holds its row in the cache, so that one which is not there
    /// any more was written since: it is read again when it is next used.
    private func takeNewestCachedRow(_ object: NSManagedObject) {
        guard let newest = parentSource.cachedRow(for: object.rowReference) else { return object.forgetRow() }
        adopt(newest, object)
    }

    private func refreshMerging(_ object: NSManagedObject) {
        // A delete stays measured against what it was decided on: others may have put something under the object since.
        guard object.state.isDisjoint(with: [.inserted, .deleted]) else { return }
        if object.isFault {
            // It may have been put into, or taken out of, relationships nevertheless.
            if object.changedSlots.isEmpty { takeNewestCachedRow(object) }
            return deleteIfGone(object)
        }
        do {
            if let newest = try parentSource.row(for: object.rowReference) { update(object, to: newest, .refresh) }
        } catch {
            logFailure("refreshing \(object.objectID)", error)
        }
    }

    /// A fault that others' relationships lead to is changed. Without a row that could never be saved, however often it is refreshed.
    private func deleteIfGone(_ fault: NSManagedObject) {
        guard fault.state.isSuperset(of: [.updated, .rowless]), shouldDeleteInaccessibleFaults else { return }
        do {
            if try parentSource.row(for: fault.rowReference) == nil { try fault.fireThrowing() }
        } catch {
            logFailure("refreshing \(fault.objectID)", error)
        }
    }

    /// The one way to come up to date with a row: the object's values become the row's but for `slots`, by default those with unsaved changes,
    /// which keep what the object has. To-many relationships and fetched properties are read again when they are next used, under their
    /// unsaved changes. A fault stays one.
    func update(
        _ object: NSManagedObject,
        to newest: Row,
        keeping slots: SlotMask? = nil,
        dropsRelationshipEdits: Bool = false,
        _ event: NSSnapshotEventType
    ) {
        guard newest.layout === object.scope.shape.layout else { return }
        let isFault = object.state.contains(.fault)
        let (kept, former) = (slots ?? object.editedSlots, object.committedRow)
        let dropped = object.changedSlots.subtracting(kept).filter(object.scope.shape.layout.referenceSlots)
        let lost = dropped.map { object.currentRow.reference($0) }
        rebase(object, onto: newest, keeping: kept)
        for (slot, reference) in zip(dropped, lost) { dropEdit(of: object, slot, from: reference) }
        if !kept.isEmpty, let former { leaveNewTargets(object, kept, former, newest) }
        if dropsRelationshipEdits { object.dropToManyEdits() } else { object.existingExtras?.forgetStoredMembers() }
        if tracker.pendingCount > 0 { DeletePropagation(context: self).run(to: object) }
        if !isFault { object.awake { $0.awake(fromSnapshotEvents: event) } }
        tracker.noteRefresh(of: object)
    }

    /// The object does not refer to what it was set to any more: neither that nor what it refers to now has anything about it to save.
    private func dropEdit(of object: NSManagedObject, _ slot: Int, from lost: RowReference?) {
        guard let inverse = object.scope.shape.toOnes[slot]?.inverse else { return }
        let now = object.currentRow.reference(slot).map(forwarded)
        for reference in [lost.map(forwarded), now] {
            guard let target = reference.flatMap(registeredObject(for:)) else { continue }
            if let index = inverse.toManyIndex {
                target.existingContents(index)?.dropEdit(of: object)
            } else if reference != now, !target.state.contains(.rowless) {
                target.unlink(object, along: inverse)
            }
        }
    }

    /// Others have led a relationship elsewhere that was changed here, too: whom it leads to now loses the object with the next save.
    private func leaveNewTargets(_ object: NSManagedObject, _ kept: SlotMask, _ former: Row, _ newest: Row) {
        for slot in kept.filter(object.scope.shape.layout.referenceSlots) {
            let (lost, found) = (former.reference(slot).map(forwarded), newest.reference(slot).map(forwarded))
            let current = object.currentRow.reference(slot).map(forwarded)
            guard let inverse = object.scope.shape.toOnes[slot]?.inverse, lost != found else { continue }
            if let index = inverse.toManyIndex { measureAnew(object, index, lost, found, current) }
            guard let reference = found, reference != current else { continue }
            let target = self.object(for: reference)
            guard !target.state.contains(.deleted) else { continue }
            // What has been read of it is older than that.
            if let index = inverse.toManyIndex {
                target.existingContents(index)?.forgetStored()
            } else if !target.isLinked(to: object, along: inverse) {
                readAnew(target)
            }
            target.unlink(object, along: inverse)
        }
    }

    /// What is to be saved of a member is measured against what others have saved: its former owner has lost it, the new one has it.
    private func measureAnew(
        _ member: NSManagedObject,
        _ index: Int,
        _ former: RowReference?,
        _ new: RowReference?,
        _ current: RowReference?
    ) {
        for owner in [former, new].compactMap({ $0 }).compactMap(registeredObject(for:)) where !owner.state.contains(.deleted) {
            owner.existingContents(index)?.dropEdit(of: member)
            // It is the member that says so to the store: the owner, which may be gone from there, has no change of its own.
            if owner.rowReference == current, current == former { owner.contents(index).add(member) }
        }
    }

    /// Brings an object up to date with its row, whatever the row cache knows; what is unsaved stays.
    func readAnew(_ object: NSManagedObject) {
        parentSource.forgetRows([object.rowReference])
        refresh(object, mergeChanges: true)
    }

    private func rebase(_ object: NSManagedObject, onto base: Row, keeping slots: SlotMask) {
        let current = object.currentRow
        if slots.isEmpty {
            adopt(base, object)
        } else {
            let row = OwnRow.copy(of: base, replacing: -1)
            object.scope.shape.assign(slots, from: current, to: row)
            object.setRow(Row(row))
            object.state.subtract([.sharedRow, .unsavedRow, .validated, .outdated])
        }
        object.setChangedSlots(slots)
    }

    /// Refreshes every object of the context, keeping unsaved changes.
    ///
    /// - Complexity: reads only rows of changed objects that are not at hand, with one statement for each tree of entities.
    public func refreshAllObjects() {
        checkQueue()
        let objects = registry.objects
        withExtendedLifetime(rowsToCompare(with: objects)) {
            for object in objects { refresh(object, mergeChanges: !object.state.isDisjoint(with: .pending)) }
        }
        processPendingChanges()
    }

    /// The newest rows of those with changes, which are at hand as long as somebody keeps them.
    private func rowsToCompare(with objects: [NSManagedObject]) -> [[Row?]] {
        let changed = objects.filter { $0.state.intersection(.pending) == .updated }
        return Dictionary(grouping: changed, by: { $0.scope.root }).values.map { group in
            do { return try parentSource.rows(for: group.map(\.rowReference)) } catch {
                logFailure("refreshing all objects", error)
                return []
            }
        }
    }

    /// Makes the next save fail if the object's row was changed by others, though the object itself is unchanged.
    public func detectConflicts(for object: NSManagedObject) {
        checkQueue()
        guard object.registeredContext === self, object.key > 0 else { return }
        if object.isFault { object.fire() }
        tracker.noteLock(of: object)
    }

    /// Another object, or the store, says that this one refers to it, and its own row, which is older, does not: a save here must not leave it with
    /// that reference. A parent is told what the row says.
    func noteDisagreement(of object: NSManagedObject) {
        guard object.state.isDisjoint(with: [.inserted, .locked, .detached]) else { return }
        if object.key > 0 || !parentSource.isStoreSide { tracker.noteLock(of: object) }
    }

    /// Drops all unsaved changes: inserted objects go, deleted ones come back, changed ones have their last saved values. Reads nothing,
    /// unless a child's save has to go back, or what was changed came with one that did.
    ///
    /// Who was told of a delete is told that the object is inserted. One that others have deleted comes back as a fault, which may find its row
    /// again. In a layer of a `CoreDataStack`, what contexts below have
    /// saved is on its way to the store, and none of the changes that this drops.
    public func rollback() {
        checkQueue()
        readAhead.forget()
        var kept = KeptChildSaves(of: self)
        let objects = tracker.objects.filter { !$0.state.isDisjoint(with: .pending) && !kept.withdraw($0) }
        let dropped = kept.own(of: objects)
        let inserted = objects.filter { $0.state.contains(.inserted) }
        let others = objects.filter { !$0.state.contains(.inserted) }
        let gone = others.filter { $0.state.contains(.rowGone) }
        let told = Set(others.filter(\.state.isToldAsDeleted))
        let behind = others.filter { $0.state.intersection([.savedMeanwhile, .rowGone]) == .savedMeanwhile }
        let maybeLost = behind.filter { $0.state.contains(.updated) }.map(\.rowReference)
        for object in others where !object.state.isDisjoint(with: [.deleted, .rowGone]) {
            RelationshipReturn(of: object, .foundRow).forgetWhatOthersRead()
        }
        for object in inserted { vanish(object, .insertionDropped) }
        for object in others { rollBack(object) }
        let untold = tracker.untold
        tracker.removeAll()
        tracker.unlockAll()
        untold.note(in: self)
        for object in inserted { tracker.noteDisappearance(of: object) }
        tellFollowers(ofLost: inserted)
        for object in others { if told.contains(object) { tracker.noteArrival(of: object) } else { tracker.noteRefresh(of: object) } }
        kept.comeBack(without: dropped)
        dismissLost(maybeLost)
        // Only now: what hooks change, of this object or another, is a change made after the rollback.
        for object in gone { becomeFaultAgain(object) }
        for object in behind where object.registeredContext === self { refresh(object, mergeChanges: false) }
        let hasReturned = Set(gone + behind)
        for object in others where !hasReturned.contains(object) && object.registeredContext === self {
            object.awake { $0.awake(fromSnapshotEvents: .rollback) }
        }
        processPendingChanges()
        dismissLost(kept.givenBack)
    }

    private func rollBack(_ object: NSManagedObject) {
        if !object.state.contains(.rowless), let base = object.committedRow { adopt(base, object) }
        tracker.forget(object)
        object.setChangedSlots(SlotMask())
        object.existingExtras?.forgetObjects()
        object.existingExtras?.restoreTransients()
    }

    /// Others have deleted the object's row, but it may be found again.
    private func becomeFaultAgain(_ object: NSManagedObject) {
        guard object.registeredContext === self, object.state.isDisjoint(with: .pending) else { return }
        object.turnIntoFault()
        object.state.remove(.inaccessible)
        object.forgetRow()
    }

    /// Forgets every object and every unsaved change. Objects that somebody still holds are faults, and in no context any more.
    ///
    /// In a layer of a `CoreDataStack`, what contexts below have saved is on its way to the store, and is among the unsaved changes afterwards.
    public func reset() {
        checkQueue()
        var kept = KeptChildSaves(of: self)
        let objects = registry.objects
        let pending = tracker.objects
        let dropped = kept.own(of: pending)
        let ids = objects.map(\.objectID)
        for object in objects { vanish(object, .reset) }
        tracker.removeAll()
        tracker.unlockAll()
        identityMap.retained = []
        identityMap.forwarding = KeyForwarding()
        identityMap.awaited.removeAll()
        withExtendedLifetime(pending) {}
        moveQueryGeneration()
        kept.comeBack(without: dropped)
        post(.NSManagedObjectContextObjectsDidChange, [.invalidatedAllObjects: ids])
        watchers.tellOfReset()
        if !kept.isEmpty { processPendingChanges() }
    }
}

extension NSManagedObject {
    /// Whether the row that its changes are measured against leads to an object that is deleted here.
    fileprivate var hasLedToDeleted: Bool {
        guard let context = registeredContext, !changedSlots.isEmpty, let base = committedRow else { return false }
        return changedSlots.filter(scope.shape.layout.referenceSlots).contains { slot in
            base.reference(slot).flatMap { context.registeredObject(for: context.forwarded($0)) }?.state.contains(.deleted) == true
        }
    }
}
