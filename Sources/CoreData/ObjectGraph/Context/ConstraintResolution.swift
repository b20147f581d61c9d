import Foundation

/// Resolves uniqueness conflicts under one of the built-in policies, one after the other: an object that has lost in one of them is
/// represented by its survivor in the next.
final class ConstraintResolution {
    private let policy: NSMergePolicyType
    /// Kept, so that they stay distinct.
    private var lost: [NSManagedObject] = []
    /// By object that lost.
    private var survivors: [ObjectIdentifier: NSManagedObject] = [:]
    /// Objects that got former values back, which others may want by now.
    private var reverted: [NSManagedObject] = []

    init(_ policy: NSMergePolicyType) { self.policy = policy }

    private var objectWins: Bool { policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType }

    func run(_ conflicts: [NSConstraintConflict]) {
        for conflict in conflicts { bringUpToDate(conflict) }
        readMembers(conflicts)
        survivors.reserveCapacity(conflicts.count)
        let context = conflicts.lazy.flatMap(\.conflictingObjects).compactMap(\.registeredContext).first
        for conflict in conflicts { resolve(conflict) }
        guard let context else { return }
        resolveConsequences(context)
        guard !survivors.isEmpty else { return }
        OneWayReferences(to: lost.map { ($0, current($0)) }, in: context).move()
    }

    /// What belongs to rows that are about to be deleted is read for all of them at once.
    private func readMembers(_ conflicts: [NSConstraintConflict]) {
        guard objectWins else { return }
        let losers = conflicts.filter { $0.conflictingObjects.contains { !$0.state.contains(.inserted) } }.compactMap(\.databaseObject)
        for objects in Dictionary(grouping: losers, by: { ObjectIdentifier($0.scope) }).values {
            for (index, relationship) in objects[0].scope.shape.toManys.enumerated() {
                let unread = objects.filter { $0.existingContents(index)?.members == nil }
                unread.first?.registeredContext?.realize(relationship, index, of: unread)
            }
        }
    }

    private func resolve(_ conflict: NSConstraintConflict) {
        let objects = conflict.conflictingObjects
        guard var survivor = (conflict.databaseObject ?? objects.first { !$0.state.contains(.inserted) } ?? objects.first).map(current)
        else { return }
        for object in objects {
            guard survivor.state.isDisjoint(with: [.deleted, .detached]) else { return }
            // What has lost already brings no values into another conflict.
            if !objectWins, survivors[ObjectIdentifier(object)] != nil { continue }
            let object = current(object)
            guard object !== survivor, object.state.isDisjoint(with: [.deleted, .detached]) else { continue }
            survivor = resolve(object, against: survivor, conflict.constraint)
        }
    }

    /// Who wants values that another object was given back is in its way now, and so on along the chain.
    private func resolveConsequences(_ context: NSManagedObjectContext) {
        guard !reverted.isEmpty else { return }
        let wanted = WantedValues(context.tracker.objects)
        var next = 0
        while next < reverted.count {
            let object = reverted[next]
            next += 1
            for (other, constraint) in wanted.competitors(of: object) where other.state.isDisjoint(with: [.deleted, .detached]) {
                _ = resolve(other, against: object, constraint)
            }
        }
    }

    /// The object that stands for another one by now.
    private func current(_ object: NSManagedObject) -> NSManagedObject {
        var object = object
        // One that has lost is deleted, or in no context any more.
        if object.state.isDisjoint(with: [.deleted, .detached]) { return object }
        while let survivor = survivors[ObjectIdentifier(object)] { object = survivor }
        return object
    }

    /// What is written is measured against the row that the conflict is with.
    private func bringUpToDate(_ conflict: NSConstraintConflict) {
        guard let object = conflict.databaseObject, let row = conflict.databaseRow, let context = object.registeredContext,
            let base = object.committedRow, base.version < row.version, object.state.isDisjoint(with: [.inserted, .deleted])
        else { return }
        context.update(object, to: row, .mergePolicy)
    }

    /// Gives the values to one of two objects, and returns it.
    private func resolve(_ object: NSManagedObject, against other: NSManagedObject, _ constraint: [String]) -> NSManagedObject {
        if object.state.contains(.inserted) {
            if objectWins {
                let isWhole = policy == .overwriteMergePolicyType
                object.giveAttributes(isWhole ? object.scope.shape.propertySlots : object.meaningfulSlots, to: other)
            }
            merge(object, into: other)
            return other
        }
        if other.state.contains(.inserted) || objectWins {
            merge(other, into: object)
            return object
        }
        revert(object, constraint)
        return other
    }

    /// The object goes, and what referred to it refers to the survivor.
    private func merge(_ object: NSManagedObject, into survivor: NSManagedObject) {
        guard let context = object.registeredContext else { return }
        let isNew = object.state.contains(.inserted)
        let transfer = RelationshipTransfer(from: object, to: survivor)
        if context.hasHadChildren { context.noteCorrections(SavedReferences(updated: transfer.partners.map(\.rowReference))) }
        transfer.moveAll(takingTargets: isNew && objectWins, all: policy == .overwriteMergePolicyType)
        if context.hasHadChildren {
            context.identityMap.forwardingTable.noteReplacement(of: object.rowReference, by: survivor.rowReference)
            let replacement = SavedReferences.Replacement(lost: object.rowReference, survivor: survivor.rowReference)
            context.noteCorrections(SavedReferences(replaced: [replacement]))
        }
        lost.append(object)
        survivors[ObjectIdentifier(object)] = survivor
        if isNew { context.vanish(object, .replaced) } else { context.delete(object) }
    }

    /// An object that is in the store keeps the values that it has there: those of the constraint, or all under the rollback policy. What
    /// to-one relationships of others lead to it is theirs.
    private func revert(_ object: NSManagedObject, _ constraint: [String]) {
        guard let context = object.registeredContext, let committed = object.committedRow else { return }
        let isWhole = policy == .rollbackMergePolicyType
        let changed = object.changedSlots
        for slot in 0..<committed.layout.count where changed.contains(slot) {
            guard isWhole || constraint.contains(committed.layout.slots[slot].name) else { continue }
            object.revert(slot, to: committed)
        }
        if isWhole {
            context.tracker.forget(object)
            context.update(object, to: committed, keeping: SlotMask(), dropsRelationshipEdits: true, .mergePolicy)
            // Members that lead to it are saved: who deletes it elsewhere must know.
            if object.hasChangedToManys { context.tracker.noteChange(of: object) }
        } else {
            context.tracker.noteRefresh(of: object)
        }
        context.noteCorrections(SavedReferences(updated: [object.rowReference]))
        reverted.append(object)
    }
}
