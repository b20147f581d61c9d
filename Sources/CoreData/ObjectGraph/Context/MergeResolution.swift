import Foundation

/// Resolves one conflict under one of the built-in policies.
struct MergeResolution {
    let conflict: NSMergeConflict
    let policy: NSMergePolicyType

    private var object: NSManagedObject { conflict.sourceObject }
    private var objectWins: Bool { policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType }

    func run() {
        guard let context = object.registeredContext else { return }
        guard let current = conflict.currentRow else { return resolveMissingRow(context) }
        if object.state.contains(.deleted) { return resolveDeletion(current, context) }
        let rollsBack = policy == .rollbackMergePolicyType
        let kept = keptSlots(current)
        // Nothing of it is saved any more.
        if rollsBack { context.tracker.forget(object) }
        context.update(object, to: current, keeping: kept, dropsRelationshipEdits: rollsBack, .mergePolicy)
        // Members that lead to it are saved: who deletes it elsewhere must know.
        if rollsBack, object.hasChangedToManys { context.tracker.noteChange(of: object) }
        context.tracker.unlock(object)
    }

    /// The changes that survive.
    private func keptSlots(_ current: Row) -> SlotMask {
        let changed = object.editedSlots
        switch policy {
        case .rollbackMergePolicyType: return SlotMask()
        // Of one that is merely locked nothing is saved.
        case .overwriteMergePolicyType: return object.state.contains(.updated) ? object.scope.shape.propertySlots : changed
        case .mergeByPropertyStoreTrumpMergePolicyType:
            guard let base = object.committedRow else { return changed }
            var kept = SlotMask()
            changed.forEach { if current.equals(base, at: $0) { kept.insert($0) } }
            return kept
        default: return changed
        }
    }

    /// The row was deleted by others: it comes back under its key, or the object goes.
    private func resolveMissingRow(_ context: NSManagedObjectContext) {
        if objectWins, object.state.isDisjoint(with: [.deleted, .rowless]) {
            context.resurrect(object)
        } else {
            context.vanish(object, .missingRow)
        }
    }

    /// The object is deleted here and was changed by others: the delete stands, or it is taken back.
    private func resolveDeletion(_ current: Row, _ context: NSManagedObjectContext) {
        let isGivenUp = !objectWins && object.state.contains(.propagated)
        let relationships = RelationshipReturn(of: object, .decision)
        if !objectWins { context.tracker.forget(object) }
        if isGivenUp {
            object.state.remove(.propagated)
            // Before what is known of them is brought up to date.
            relationships.takeBackMembers()
        }
        context.update(object, to: current, keeping: SlotMask(), .mergePolicy)
        // What others have put into its relationships meanwhile: its delete rules have not seen that.
        if objectWins { context.propagateAgain(object) }
        guard isGivenUp else { return }
        relationships.returnToTargets()
        // Who was put into its relationships here, and has come back, is saved with it.
        if object.hasChangedToManys { context.tracker.noteChange(of: object) }
    }
}

extension NSManagedObjectContext {
    /// An object whose row is gone is written as a new row under the key that it had.
    func resurrect(_ object: NSManagedObject) {
        // What it has is all that there is of it: a newer row there is none.
        if object.isFault { do { try object.fireKeepingRow() } catch { logFailure("filling a fault for \(object.objectID)", error) } }
        let version = object.committedRow?.version ?? 0
        if !object.state.contains(.ownRow) || object.state.contains(.sharedRow) { object.takeOwnRow() }
        object.own.base = nil
        EntityLayout.setVersion(object.own.bytes, EntityLayout.versionOfReturn(after: version))
        // Who has read the row that is gone looks for the new one.
        parentSource.forgetRows([object.rowReference])
        tracker.forget(object)
        tracker.noteInsertion(of: object)
    }

    /// Turns a store's conflicts into the policy's, has it resolve them, and prepares the next round.
    ///
    /// - Parameter objects: those of the save that met the conflicts.
    func resolve(_ conflicts: SaveConflicts, _ objects: [ChangeFreezer.Objects], isLastRound: Bool) throws {
        let outdated = conflicts.conflicts.compactMap { conflict in
            registeredObject(for: conflict.reference).flatMap { dropTrace($0, conflict) ? nil : NSMergeConflict(conflict, object: $0) }
        }
        let duplicates = conflicts.breaches.map { NSConstraintConflict($0, objects, self) }
        guard let policy = mergePolicy as? NSMergePolicy else {
            misuse("mergePolicy takes an NSMergePolicy, not \(typeName(mergePolicy)).")
        }
        let isForPolicy = !outdated.isEmpty || !duplicates.isEmpty
        if isLastRound { throw outdated.isEmpty && isForPolicy ? NSMergePolicy.unresolved(duplicates) : NSMergePolicy.unresolved(outdated) }
        guard isForPolicy else { return processPendingChanges() }
        try policy.resolve(mergeConflicts: outdated as [Any] + duplicates as [Any])
        for conflict in outdated { layOverCurrentRow(conflict) }
        let isWhole = policy.mergeType == .overwriteMergePolicyType
        try RowReturn(of: outdated.filter { isWhole || $0.currentRow == nil }.map(\.sourceObject), in: self).run()
        if hasHadChildren {
            // What referred to a row that is gone does not any more: the children are told of that too.
            propagateDeletes()
            noteCorrections(corrections(outdated.map(\.sourceObject)))
        }
        processPendingChanges()
    }

    /// Members were taken out of an object that nobody has read, and it turns out that it has no row, as happens where a row referred to one
    /// that is gone: there is nothing to take them out of.
    private func dropTrace(_ object: NSManagedObject, _ conflict: RowConflict) -> Bool {
        guard conflict.current == nil, object.state.contains(.rowless) else { return false }
        var hasAdditions = false
        object.forEachChangedToMany { hasAdditions = hasAdditions || !$1.added.isEmpty }
        if !hasAdditions { vanish(object, .missingRow) }
        return !hasAdditions
    }

    /// What the policy has changed, since the event began.
    ///
    /// - Parameter objects: those that were in conflict. Nobody else tells the children, who have saved changes of it, of one whose row is gone.
    private func corrections(_ objects: [NSManagedObject]) -> SavedReferences {
        let touched = tracker.touched.lazy.filter { !$0.state.contains(.detached) }
        // What goes with a row that others have deleted: no store has told the children.
        let deleted = touched.filter { $0.state.contains(.deleted) && !$0.state.contains(.rowGone) }
        let isGone = { (object: NSManagedObject) in object.state.isSuperset(of: [.deleted, .rowGone]) }
        let there = objects.filter { !isGone($0) } + touched.filter { !$0.state.contains(.deleted) }
        return SavedReferences(updated: there.map(\.rowReference), deleted: (deleted + objects.filter(isGone)).map(\.rowReference))
    }

    /// A policy of the user's own has set what it wants on the object: that goes on top of the current row.
    private func layOverCurrentRow(_ conflict: NSMergeConflict) {
        let object = conflict.sourceObject
        guard let current = conflict.currentRow, object.registeredContext === self, let base = object.committedRow, base !== current,
            base.version != current.version || !current.agrees(with: base)
        else { return }
        update(object, to: current, .mergePolicy)
    }
}
