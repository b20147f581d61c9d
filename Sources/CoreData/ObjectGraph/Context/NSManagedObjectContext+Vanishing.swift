import Foundation

/// Why an object vanishes from a context.
enum Disappearance {
    /// Somebody deletes it here, or a child context has.
    case delete
    /// Others have deleted its row.
    case deleteElsewhere
    /// The row was looked for, and there is none.
    case missingRow
    /// It was deleted before it was ever saved.
    case neverSaved
    /// Its insertion is given up: by a rollback, or a refresh.
    case insertionDropped
    /// A merge policy has put another object in its place, to which everything that is saved refers by now.
    case replaced
    /// The save that brought it has gone back to the child that made it.
    case returned
    /// Its delete is saved.
    case deleteSaved
    /// It was taken for one of another entity than its row is of.
    case wrongEntity
    /// The context forgets everything.
    case reset

    /// Whether the object stays, as a deleted one, until the next save: delete rules apply, and everybody is told.
    fileprivate var waitsForSave: Bool { self == .delete || self == .deleteElsewhere || self == .missingRow }
    /// Whether others have seen to what a store knows of the object.
    fileprivate var rowIsGone: Bool { self == .deleteElsewhere || self == .missingRow }
}

/// The one way out of a context.
extension NSManagedObjectContext {
    /// The object is deleted, to be saved; or it leaves the context, and is in none from now on.
    ///
    /// One whose row is gone is deleted all the same, as Apple's merge does: what refers to it here follows by the delete rules, and the save,
    /// which finds nothing to delete, takes it out.
    func vanish(_ object: NSManagedObject, _ reason: Disappearance) {
        if reason.waitsForSave { delete(object, reason) } else { leave(object, reason) }
    }

    private func delete(_ object: NSManagedObject, _ reason: Disappearance) {
        if object.state.isSuperset(of: .deletionSaved) { return }
        if object.state.contains(.deleted) {
            // A delete that was decided here stays one; where the row was looked for, it has nothing to delete.
            if reason == .missingRow, !object.state.contains(.rowGone) { object.state.formUnion([.rowGone, .deletedByDecision]) }
            if reason == .deleteElsewhere, !object.state.contains(.inserted) { object.state.insert(.savedMeanwhile) }
            return
        }
        if reason != .missingRow, !prepareDeletion(of: object, reason) { return }
        if reason.rowIsGone { object.state.insert(.rowGone) }
        tracker.noteDeletion(of: object)
    }

    /// The object is told, and what it is deleted with, by then, is the newest.
    ///
    /// - Returns: whether it is still there to be deleted: what it does may lead back to it, or even end the context's interest in it.
    private func prepareDeletion(of object: NSManagedObject, _ reason: Disappearance) -> Bool {
        guard !object.state.contains(.beingDeleted) else { return false }
        object.state.insert(.beingDeleted)
        defer { object.state.remove(.beingDeleted) }
        if reason == .delete, object.isFault, !object.state.contains(.rowless), object.mayBeStale {
            do { try bringUpToDate(object) } catch { logFailure("reading \(object.objectID) to delete it", error) }
        }
        if !tracker.preparedForDeletion.contains(object.rowReference.identity) { object.prepareForDeletion() }
        return object.registeredContext === self && !object.state.contains(.deleted)
    }

    private func leave(_ object: NSManagedObject, _ reason: Disappearance) {
        // A child may take what was never saved for saved.
        if object.state.contains(.inserted) { noteDroppedInsertion(of: object) }
        tracker.forget(object)
        tracker.unlock(object)
        // Nobody saves it any more: what has changed in this event need not be told from what had changed before.
        if reason == .replaced { object.setChangedSlots(SlotMask()) }
        if reason == .replaced || reason == .returned {
            object.withdrawFromKnownMembers()
            tracker.noteDisappearance(of: object)
        }
        if reason == .reset {
            object.turnIntoFault()
            object.forgetRow()
        }
        // Or objects that are related to each other would keep each other for ever.
        object.existingExtras?.forgetObjects()
        unregister(object)
        if reason == .returned { object.state.insert(.returned) }
    }

    /// The insertion is given up, but not the object: a fault that finds no row. Nobody refers to it any more.
    func giveUpInsertion(of object: NSManagedObject) {
        DeletePropagation(context: self).withdraw(object)
        OneWayReferences.drop(to: [object], in: self)
        noteDroppedInsertion(of: object)
        tracker.forget(object)
        tracker.noteDisappearance(of: object)
        object.turnIntoFault()
        object.forgetRow()
    }

    private func noteDroppedInsertion(of object: NSManagedObject) {
        if hasHadChildren { identityMap.forwardingTable.noteDropped([object.rowReference]) }
    }

    /// The object is in no context from now on.
    private func unregister(_ object: NSManagedObject) {
        if object.state.contains(.registered) { object.withScope { $0.identity?.remove(object) } }
        object.state.remove(.registered)
        object.state.insert(.detached)
        if identityMap.retainsObjects { identityMap.retained.remove(object) }
    }
}

extension NSManagedObject {
    /// Takes the object out of the to-many relationships that have been read, which changes nothing that is to be saved.
    fileprivate func withdrawFromKnownMembers() {
        guard !state.contains(.rowless) else { return }
        for (slot, relationship) in scope.shape.toOnes.enumerated() {
            guard let index = relationship?.inverse?.toManyIndex, let reference = currentRow.reference(slot),
                let owner = registeredContext?.registeredObject(for: reference)
            else { continue }
            owner.existingContents(index)?.forget(self)
        }
    }
}
