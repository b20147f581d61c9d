import Foundation

/// Saves of children that cannot stay go back, level by level.
extension NSManagedObjectContext {
    /// Saves what children have saved one by one, and then this context's own changes, after saving all at once has failed because of data.
    ///
    /// What cannot be saved leaves this context and goes back to where it came from, with the reason, later and on those contexts' queues.
    /// This context's own changes stay unsaved where they are the reason.
    ///
    /// - Returns: why the context's own changes are still unsaved.
    /// - Throws: what the world refused; all that is left waits in this context then.
    package func saveApart(after error: any Error) throws -> (any Error)? {
        let result = whileMeetingNames {
            // What has come back from above goes down before what refers to it.
            acceptReturned()
            var separate = SeparateSave(self)
            let result = separate.run(after: error)
            sendDown(result.returned)
            return result
        }
        if let failure = result.failure { throw failure }
        return result.ownFailure
    }

    func sendDown(_ returned: [ReturnedSave]) {
        guard let keeper = returned.first?.keeper else { return }
        let children = childContexts
        // The first who hears of it may tell the program, which counts on it that the others do not find any more what has gone back.
        for child in children {
            passNames(to: child)
            child.children.withLock { $0.saves.returned += returned }
        }
        for child in children { child.wakeForReturned(keeper) }
    }

    private func wakeForReturned(_ keeper: ChildSaveKeeper) {
        if let news { return news.note() }
        keeper.willReturn()
        perform {
            self.acceptReturnedSaves()
            keeper.didReturn()
        }
    }

    /// Takes back what this context has saved in vain, and forgets what others have. On the queue.
    package func acceptReturnedSaves() {
        // In a block that a save's wait has let in: after that save.
        guard !isSaving else { return news.map { $0.note() } ?? perform { self.acceptReturnedSaves() } }
        whileMeetingNames(acceptReturned)
    }

    /// Takes back what has come back, before objects are asked for that nobody above has any more. Not in the midst of something, which goes on
    /// with what it began with.
    func takeBackReturnedSaves() {
        guard parentLink != nil, !isSaving, !tracker.isPropagating, !queue.isReceiving, !queue.isGuest else { return }
        if children.withLock({ !$0.saves.returned.isEmpty }) { acceptReturnedSaves() }
    }

    /// The newest row of an object that nobody above has, because the save that inserted it is on its way back: the object is not gone.
    ///
    /// Where it is another context's, what is done to the object here has still to be refused, with the reason.
    func returningRow(of object: NSManagedObject) -> Row? {
        let reference = object.rowReference.identity
        func isSought(_ other: RowReference) -> Bool { forwarded(other).identity == reference }
        let passing = children.withLock(\.saves.returned).first { $0.changes.insertedReferences.contains(where: isSought) }
        if let row = passing?.changes.wholeRow(of: isSought) { return row }
        let saves = unsettledSaves
        guard saves.contains(where: { $0.isReturning && $0.changes.insertedReferences.contains(where: isSought) }) else { return nil }
        return saves.reversed().lazy.compactMap { $0.changes.wholeRow(of: isSought) }.first
    }

    private func acceptReturned() {
        let returned = children.withLock { links in
            defer { links.saves.returned = [] }
            return links.saves.returned
        }
        guard !returned.isEmpty, identityMap.registry != nil else { return }
        catchUp()
        processPendingChanges()
        let own = returned.filter { $0.target === self }
        var foreign = returned.filter { $0.target !== self }
        if !own.isEmpty { restore(own) }
        if !foreign.isEmpty { forget(&foreign) }
        sendDown(foreign)
        processPendingChanges()
    }

    private func restore(_ returned: [ReturnedSave]) {
        restore(ChangeSet.joined(withoutLaterChanges(returned)))
        for returned in returned {
            let error = returned.errorForTarget()
            returned.save.end(.returned(error))
            if !returned.save.isAwaited { returned.keeper.report(error) }
        }
    }

    /// What of each is still to be saved: what the context has saved since, and what does not come back, stays as it was saved.
    ///
    /// - Complexity: O(saves since the earliest of them, and their changes).
    private func withoutLaterChanges(_ returned: [ReturnedSave]) -> [ChangeSet] {
        var rests: [ObjectIdentifier: ChangeSet] = [:]
        let all = Dictionary(returned.map { (ObjectIdentifier($0.save), $0.changes) }) { first, _ in first }
        for save in returned.map(\.save) where rests[ObjectIdentifier(save)] == nil {
            var later = LaterChanges(newest: forwarded)
            for save in save.andLater.reversed() {
                if let changes = all[ObjectIdentifier(save)] { rests[ObjectIdentifier(save)] = later.rest(of: changes) }
                for changes in save.standing(newest: forwarded) { later.add(changes) }
            }
        }
        return returned.map { rests[ObjectIdentifier($0.save)] ?? $0.changes }
    }

    /// Saved changes become unsaved ones, beneath those made since.
    func restore(_ changes: ChangeSet) {
        let later = hasChanges ? frozenChanges() : ChangeSet()
        let withdrawn = withdrawChanges()
        changes.forEachEnd { registeredObject(for: forwarded($0))?.existingExtras?.forgetStoredMembers() }
        // Who asks has all of it, or nothing of it yet.
        queue.whileReceiving {
            receiveWhatIsThere(changes)
            receiveWhatIsThere(later)
        }
        leave(withdrawn.filter { $0.state.isDisjoint(with: .pending) })
    }
}

extension NSManagedObjectContext {
    /// Others' saves have gone back: what they have changed is as it was. Saves of children that depend on them go back too.
    private func forget(_ returned: inout [ReturnedSave]) {
        var gone = GoneObjects()
        for save in returned { gone.add(save.changes, save.error, in: self) }
        withdrawDependents(of: &gone, &returned)
        dismissInsertions(of: returned, gone)
        let changed = returned.flatMap(\.changes.updatedReferences).map(forwarded)
        let back = returned.flatMap(\.changes.deletedReferences).map(forwarded)
        let known = changed.filter { !gone.contains($0, in: self) }
        // Others may have deleted it, too.
        let lost = withoutRow(known + back)
        func isThere(_ reference: RowReference) -> Bool { !lost.contains(reference) }
        merge(SavedReferences(inserted: back.filter(isThere), updated: known.filter(isThere)))
        dismiss(lost)
    }

    private func withdrawDependents(of gone: inout GoneObjects, _ returned: inout [ReturnedSave]) {
        var (left, dependents): ([ChildSave.Part], [ChildSave.Part]) = ([], [])
        for part in children.withLock(\.saves.waiting) {
            guard let cause = gone.cause(of: [part], in: self) else {
                left.append(part)
                continue
            }
            dependents.append(part)
            gone.add(part.changes, cause, in: self)
            part.save.end(.returning(cause))
            if let save = ReturnedSave(part.save, part.changes, cause, from: self) { returned.append(save) }
        }
        guard !dependents.isEmpty else { return }
        let parts = children.withLock { $0.saves.takeAll() }
        let (own, lost) = (changes(beyond: parts.map(\.changes)), DeleteConsequences.objectsWithoutRow(in: self))
        let withdrawn = withdrawChanges()
        let rest = own.changesNothing ? own : DeleteConsequences(of: parts.map(\.changes), and: lost, in: self).removed(from: own)
        for part in left { receiveWhatIsThere(part.changes) }
        receiveWhatIsThere(gone.rest(of: rest, in: self))
        children.withLock { $0.saves.waiting = left + $0.saves.waiting }
        leave(withdrawn.filter { $0.state.isDisjoint(with: .pending) })
    }

    private func dismissInsertions(of returned: [ReturnedSave], _ gone: GoneObjects) {
        let inserted = returned.flatMap(\.changes.insertedReferences)
        // Who has nothing to do with them asks nobody: there may be many, and each would wait for the parent's queue.
        guard inserted.contains(where: { registeredObject(for: $0) != nil }) || refersUnsaved(to: gone) else { return }
        // What its context has saved again meanwhile is there.
        let references = inserted.filter { !isUnsavedAbove($0) }
        guard !references.isEmpty else { return }
        let objects = references.compactMap(registeredObject(for:))
        cutReferences(gone)
        leave(objects)
    }

    private func isUnsavedAbove(_ reference: RowReference) -> Bool {
        guard let parent = parentLink?.source as? ParentContext, parent.context.parent != nil else { return false }
        return parent.cachedRow(for: forwarded(reference)) != nil
    }

    private func refersUnsaved(to gone: GoneObjects) -> Bool {
        var refers = false
        forEachUnsavedReference(to: gone, toOne: { _, _ in refers = true }, toMany: { _, _ in refers = true })
        return refers
    }

    /// Unsaved objects stay, without what is gone.
    private func cutReferences(_ gone: GoneObjects) {
        forEachUnsavedReference(to: gone, toOne: { $0.writeTarget(nil, $1) }, toMany: { $0.forget($1) })
    }

    private func forEachUnsavedReference(
        to gone: GoneObjects,
        toOne: (NSManagedObject, _ slot: Int) -> Void,
        toMany: (ToManyContents, NSManagedObject) -> Void
    ) {
        for object in tracker.objects where !object.state.isDisjoint(with: [.inserted, .updated]) && !object.state.contains(.rowless) {
            for slot in object.scope.shape.layout.referenceSlots {
                if let reference = object.currentRow.reference(slot), gone.contains(reference, in: self) { toOne(object, slot) }
            }
            object.existingExtras?.forEachToMany { contents in
                for member in contents.added.array where gone.contains(member.rowReference, in: self) { toMany(contents, member) }
            }
        }
    }
}

/// Unsaved changes as a whole.
extension NSManagedObjectContext {
    /// All unsaved changes, as a context would get them.
    func frozenChanges() -> ChangeSet {
        readReorderedMembers()
        forwardReferences()
        return ChangeFreezer(tracker, locked: [], isForStores: false).changes
    }

    /// What the context has changed itself, of all that is unsaved.
    func changes(beyond parts: [ChangeSet]) -> ChangeSet {
        ChangeSetRemainder(of: frozenChanges(), beyond: parts, newest: forwarded) { reference in
            registeredObject(for: reference).flatMap { $0.state.contains(.rowless) ? nil : $0.currentRow }
                ?? parentSource.cachedRow(for: reference)
        }.changes
    }

    /// The row of an object without what is unsaved here, as far as anybody knows.
    func savedRow(_ reference: RowReference) -> Row? {
        registeredObject(for: reference).flatMap { $0.state.contains(.rowless) ? nil : $0.committedRow }
            ?? parentSource.cachedRow(for: reference)
    }

    /// Takes all unsaved changes out of the context; gives the new objects, which stay registered, so that they are the same if they come back.
    func withdrawChanges() -> [NSManagedObject] {
        let objects = tracker.objects.filter { !$0.state.isDisjoint(with: .pending) }
        guard !objects.isEmpty else { return [] }
        tracker.removeAll()
        for object in objects { tracker.unlock(object) }
        var inserted: [NSManagedObject] = []
        for object in objects {
            if object.state.contains(.inserted) { inserted.append(object) }
            withdrawChanges(of: object)
        }
        return inserted
    }

    private func withdrawChanges(of object: NSManagedObject) {
        let wasInserted = object.state.contains(.inserted)
        object.state.subtract([.inserted, .updated, .deleted, .propagated])
        if !wasInserted, !object.state.contains(.rowless), let base = object.committedRow { adopt(base, object) }
        object.setChangedSlots(SlotMask())
        object.existingExtras?.forgetObjects()
    }

    /// Receives changes, but for those of objects that are not there any more.
    ///
    /// - Parameter endsEvent: whether who observes is told; otherwise the event goes on, and nobody is called.
    func receiveWhatIsThere(_ changes: ChangeSet, endsEvent: Bool = true) {
        func take(_ changes: ChangeSet) throws {
            let corrections = try receiveSilently(changes.forwarded(forwarded), areOwn: true)
            if endsEvent { processPendingChanges() }
            tellChildren(of: corrections)
        }
        guard !changes.changesNothing else { return }
        do {
            try take(changes)
        } catch let conflicts as SaveConflicts {
            let gone = Set(conflicts.conflicts.map { forwarded($0.reference).identity })
            do {
                try take(changes.without { gone.contains(forwarded($0).identity) })
            } catch {
                logFailure("taking changes back", error)
            }
        } catch {
            logFailure("taking changes back", error)
        }
    }

    /// Objects that were never saved leave the context.
    func leave(_ objects: [NSManagedObject]) {
        for object in objects where !object.state.contains(.detached) { vanish(object, .returned) }
    }
}

extension NSManagedObjectContext {
    /// Drops all unsaved changes, what children have saved among them, and tells the children, who believe it to be saved.
    package func throwAwayChanges() {
        if !isSaving {
            do { try takeIncoming() } catch { logFailure("taking what a child context saved during a save", error) }
        }
        let changes = frozenChanges()
        giveUpChildSaves()
        rollback()
        if let keeper = childSaveKeeper, !changes.changesNothing {
            let discarded = ReturnedSave(discarded: changes, by: self, keeper)
            sendDown([discarded])
        }
        acceptReturnedSaves()
    }
}
