import Foundation

/// Takes the changes that a child context saved: they become unsaved changes here.
///
/// A row is taken as it is where it was made from the very row that this context has; otherwise just the changed slots are copied, so that
/// two children's changes of different properties both survive. What is deleted here stays deleted. Inverses follow in what is known here;
/// nothing is read.
struct ChangeReception {
    let context: NSManagedObjectContext
    let changes: ChangeSet
    /// Of objects whose rows come from below.
    private let state: ObjectState
    /// Whether they are the context's own, which come back.
    let areOwn: Bool
    /// Whether they count as taken already, so that what a context above has dropped since then is a conflict of this context's next save.
    private let areTaken: Bool
    /// To-one relationships that lead elsewhere now.
    private var relinked: [(object: NSManagedObject, slot: Int, old: RowReference?)] = []
    /// Members of ordered relationships that were taken out of one and put into it again.
    var returned: [(object: NSManagedObject, inverse: NSRelationshipDescription, owner: RowReference)] = []

    /// The newest rows of objects that the context has no values of.
    var newestRows: [RowReference: Row] = [:]

    /// Objects that are not as the child has saved them.
    private(set) var corrections = SavedReferences()

    /// - Parameters:
    ///   - areOwn: whether they are the context's own, which come back: nobody has validated them, and what is deleted was told so.
    ///   - areTaken: whether they count as taken already: whose save they are has been told that it succeeded.
    init(_ changes: ChangeSet, in context: NSManagedObjectContext, areOwn: Bool = false, areTaken: Bool = false) {
        (self.changes, self.context, self.areOwn, self.areTaken) = (changes, context, areOwn, areTaken)
        state = areOwn ? [.sharedRow, .unsavedRow] : [.sharedRow, .unsavedRow, .validated]
    }

    /// - Throws: `SaveConflicts` for objects that were never saved and are not unsaved any more, because a context above dropped them,
    ///   unless the changes count as taken; nothing has changed then.
    mutating func run() throws {
        if !areTaken { try checkUnsaved() }
        try findNewestRows()
        let prepared = context.tracker.preparedForDeletion
        if areOwn { context.tracker.preparedForDeletion.formUnion(deletedIdentities) }
        defer { context.tracker.preparedForDeletion = prepared }
        for group in changes.groups {
            if !group.inserts.isEmpty {
                receiveInserts(group.inserts, context.registry.scope(of: group.entity, store: group.store))
                noteSetSlots(of: group)
            }
        }
        for group in changes.groups { for update in group.updates { receiveUpdate(update, group) } }
        for change in changes.transients { receiveTransients(change) }
        takeOutReturned()
        for order in changes.orders where !order.isWhole { append(order) }
        // What a delete is measured against is chosen before anything is changed about its object.
        let doomed = prepareDeletes()
        for (object, slot, old) in relinked { relink(object, slot, from: old) }
        putInReturned()
        for link in changes.links { receiveLinks(link) }
        for order in changes.orders where order.isWhole { arrange(order) }
        if !context.parentSource.isStoreSide { notePartnersOfDeleted() }
        for group in changes.groups { for delete in group.deletes { receiveDelete(delete, group) } }
        withExtendedLifetime(doomed) {}
    }

    private var deletedIdentities: some Sequence<RowReference> { changes.deletedReferences.lazy.map { context.forwarded($0).identity } }

    private func prepareDeletes() -> [NSManagedObject] {
        changes.groups.flatMap { group in
            group.deletes.compactMap { delete in
                guard delete.reason == .decision, let base = delete.base, let object = existing(reference(delete.key, group)),
                    !object.state.contains(.deleted)
                else { return nil }
                prepare(object, base, changing: nil)
                return object
            }
        }
    }

    private func notePartnersOfDeleted() {
        let deleted = changes.groups.flatMap { group in
            group.deletes.compactMap { context.registeredObject(for: reference($0.key, group)) }
        }
        UnreadPartners.note(for: deleted, in: context)
        UnreadPartners.noteReferrers(to: deleted, in: context)
    }

    func reference(_ key: Int64, _ group: ChangeSet.Group) -> RowReference {
        context.forwarded(RowReference(key: key, entity: Int32(group.entity.index), store: group.store))
    }

    private func checkUnsaved() throws {
        let mayBeDropped = context.identityMap.forwardingTable.hasDroppedInsertions
        var updates: [UnsavedUpdate] = []
        for group in changes.groups {
            for update in group.updates where update.key < 0 || (mayBeDropped && update.base?.version == 0) {
                updates.append(UnsavedUpdate(reference: reference(update.key, group), baseVersion: update.base?.version ?? 0))
            }
        }
        guard !updates.isEmpty else { return }
        let inserted = Set(changes.insertedReferences.map { context.forwarded($0).identity })
        try context.requireUnsaved(updates.filter { !inserted.contains($0.reference.identity) })
    }
}

extension NSManagedObjectContext {
    /// An object that was never in a file, as far as a child knows, is known to a context above, or in a file by now; or it was dropped.
    func requireUnsaved(_ updates: [UnsavedUpdate]) throws {
        let dropped = try updates.filter { try replacement(of: forwarded($0.reference)) == nil && isGone(forwarded($0.reference)) }
        guard !dropped.isEmpty else { return }
        throw SaveConflicts(
            conflicts: dropped.map {
                RowConflict(
                    reference: forwarded($0.reference),
                    current: nil,
                    currentVersion: 0,
                    baseVersion: $0.baseVersion,
                    isStoreAhead: false
                )
            }
        )
    }

    /// - Throws: why the save of an object has gone back which changes that a child saves refer to, and which is not here any more.
    func requireNothingReturned(_ changes: ChangeSet) throws {
        guard !identityMap.forwardingTable.returned.isEmpty else { return }
        var references: Set<RowReference> = []
        changes.forEachRequirement { references.insert(forwarded($0).identity) }
        for reference in changes.insertedReferences { references.remove(forwarded(reference).identity) }
        try requireNoneReturned(references)
    }

    /// As before, of objects.
    func requireNoneReturned(_ references: some Sequence<RowReference>) throws {
        let returned = identityMap.forwardingTable.returned
        guard !returned.isEmpty else { return }
        for reference in references {
            let reference = forwarded(reference).identity
            if let cause = returned[reference], try isGone(reference) { throw cause }
        }
    }

    /// Runs what asks the contexts above for rows: a save that is there while `body` begins may go back before they answer.
    ///
    /// - Throws: what `body` throws; for objects that are gone because their save has gone back, why.
    func tellingWhyGone<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let conflicts as SaveConflicts {
            try requireNoneReturned(conflicts.conflicts.lazy.map(\.reference))
            throw conflicts
        }
    }

    fileprivate func isGone(_ reference: RowReference) throws -> Bool {
        if let known = registeredObject(for: reference), !known.state.isDisjoint(with: .pending) { return false }
        return try parentSource.row(for: reference) == nil
    }
}

extension ChangeReception {
    private mutating func receiveInserts(_ inserts: ContiguousArray<ChangeSet.Insert>, _ scope: EntityScope) {
        guard let identity = scope.identity, !identity.lists(anyOf: inserts) else {
            for insert in inserts {
                if let known = scope.identity?.object(insert.key) { takeAgain(insert, known) } else { takeNew([insert], scope) }
            }
            return
        }
        takeNew(inserts, scope)
    }

    private mutating func takeNew(_ inserts: ContiguousArray<ChangeSet.Insert>, _ scope: EntityScope) {
        var objects = ContiguousArray<NSManagedObject>()
        objects.reserveCapacity(inserts.count)
        for insert in inserts {
            objects.append(Construction.make(scope, insert.row, key: insert.key, state: state.union([.registered, .ownRow])))
        }
        scope.identity?.insert(objects)
        context.tracker.noteInsertions(of: objects, as: inserts)
        let references = scope.shape.layout.referenceSlots
        if !references.isEmpty { for object in objects { noteReferences(object, references) } }
        if context.identityMap.retainsObjects { context.identityMap.retained.formUnion(objects) }
    }

    /// An insert of a row that this context knew: a merge policy in the child brings back what was deleted here or in the store.
    private mutating func takeAgain(_ insert: ChangeSet.Insert, _ object: NSManagedObject) {
        // One that was asked for too early counts as deleted, but nobody has deleted it.
        guard !object.state.contains(.deleted) || object.state.contains(.inaccessible) else { return }
        context.tracker.forget(object)
        object.setRow(insert.row)
        object.state.formUnion([.sharedRow, .unsavedRow])
        object.state.subtract([.fault, .inaccessible])
        context.tracker.noteInsertion(of: object)
        noteReferences(object, object.scope.shape.layout.referenceSlots)
    }

    /// So that a merge policy above knows what the program has set.
    private func noteSetSlots(of group: ChangeSet.Group) {
        guard !group.setSlots.isEmpty else { return }
        let identity = context.registry.scope(of: group.entity, store: group.store).identity
        for (insert, slots) in zip(group.inserts, group.setSlots) { identity?.object(insert.key)?.setChangedSlots(slots) }
    }

    private mutating func noteReferences(_ object: NSManagedObject, _ slots: UnsafeBufferPointer<Int>) {
        for slot in slots where !EntityLayout.isNull(object.row, slot) { relinked.append((object, slot, nil)) }
    }

    private mutating func receiveUpdate(_ update: ChangeSet.Update, _ group: ChangeSet.Group) {
        // A store may never see this very row, but one that a context above merges from it.
        if update.row.isOwn, update.base != nil || !update.slots.isEmpty { EntityLayout.setVersion(update.row.own.bytes, 0) }
        if update.row.isOwn { update.row.own.skipBase() }
        if let survivor = context.replacement(of: reference(update.key, group)) { return give(update, to: context.object(for: survivor)) }
        guard !isNothingOfWhatIsGone(update, reference(update.key, group)) else { return }
        let object = context.object(for: reference(update.key, group))
        guard !object.isDeleted else { return refuse(update, of: object) }
        guard let base = update.base ?? (object.state.contains(.inserted) ? object.currentRow : nil) else { return object.noteChange() }
        let measured = prepare(object, base, changing: update.slots)
        guard !update.slots.isEmpty else {
            // The same values, in the row that will have the version of the save.
            if let base = update.base, object.currentRow === base { adopt(update.row, object) }
            return object.noteChange()
        }
        // The context has what comes back in its rows, yet: there it leads away from where it led before.
        let former = references(update.slots, of: areOwn ? base : object.currentRow)
        if object.currentRow === base { adopt(update.row, object) } else { merge(update, object) }
        if let measured { object.own.base = measured }
        object.setChangedSlots(object.changedSlots.union(update.slots))
        object.noteChange()
        for (slot, reference) in former { relinked.append((object, slot, reference)) }
        // The child has stated again what it had read: the contexts above, and the store, are to hear it, too.
        if former.contains(where: { update.row.equals(base, at: $0.slot) }) { context.noteDisagreement(of: object) }
        noteReturns(of: object, update, former)
    }

    /// Whether the object only counts as changed, for what has been related to it, or is as it was in the store, and has no row any more: a store
    /// that has nothing to write would not find that out. The child hears of it.
    private mutating func isNothingOfWhatIsGone(_ update: ChangeSet.Update, _ reference: RowReference) -> Bool {
        guard !areOwn, let base = update.base, update.agrees(with: stored(base)), newestRows[reference] == nil, isUnknown(reference) else {
            return false
        }
        corrections.deleted.append(reference)
        return true
    }

    private func references(_ slots: SlotMask, of row: Row) -> [(slot: Int, reference: RowReference?)] {
        slots.filter(row.layout.referenceSlots).map { ($0, row.reference($0)) }
    }

    /// The object stays deleted. Where others have deleted it, no save from here will say so: the child hears of it now, and whom it has related
    /// to the object.
    private mutating func refuse(_ update: ChangeSet.Update, of object: NSManagedObject) {
        if object.state.contains(.rowGone) { corrections.deleted.append(object.rowReference) }
        correct(members(references(update.slots, of: update.row).compactMap(\.reference)))
    }

    /// The child's object was merged into this one, and the child does not know it yet.
    private mutating func give(_ update: ChangeSet.Update, to object: NSManagedObject) {
        if object.isFault { object.fire() }
        guard object.state.isDisjoint(with: [.deleted, .inaccessible]), object.scope.shape.layout === update.row.layout else { return }
        let former = references(update.slots, of: object.currentRow)
        merge(update, object)
        object.setChangedSlots(object.changedSlots.union(update.slots))
        object.noteChange()
        for (slot, reference) in former { relinked.append((object, slot, reference)) }
    }

    /// The row as it is: it was made from this context's.
    private func adopt(_ row: Row, _ object: NSManagedObject) {
        // One that came with no changed value is the store's own.
        guard row.isOwn else { return context.adopt(row, object) }
        // The giver does not look at the base any more; here it is what this context's unsaved changes are measured against.
        row.own.rebase(on: object.state.contains(.inserted) ? nil : object.committedRow)
        if object.state.contains(.inserted) { object.state.insert(.amended) }
        object.setRow(row)
        object.state.formUnion([.sharedRow, .unsavedRow])
    }

    private func merge(_ update: ChangeSet.Update, _ object: NSManagedObject) {
        if !object.state.contains(.ownRow) || object.state.contains(.sharedRow) { object.takeOwnRow() }
        object.scope.shape.assign(update.slots, from: update.row, to: object.own)
    }

    /// The inverses of a to-one relationship that a child has set.
    private mutating func relink(_ object: NSManagedObject, _ slot: Int, from old: RowReference?) {
        if let survivor = object.reference(slot).map(context.forwarded).flatMap(context.replacement) {
            object.writeTarget(context.object(for: survivor), slot)
            corrections.updated.append(object.rowReference)
        }
        guard let inverse = object.scope.shape.toOnes[slot]?.inverse else { return }
        let new = object.reference(slot).map(context.forwarded)
        let old = old.map(context.forwarded)
        guard new != old else { return }
        if let old { existing(old)?.unlink(object, along: inverse) }
        guard let new else { return }
        guard let target = existing(new) else { return unlink(object, slot, inverse) }
        target.link(object, along: inverse)
        // Its delete rule has not seen this object yet, and the child does not know what it does.
        guard target.isDeleted else { return }
        context.propagateAgain(target)
        correct([object])
    }
}

extension ChangeReception {
    /// The object of a reference; nil for one that was never saved and that no context above has any more.
    func existing(_ reference: RowReference) -> NSManagedObject? {
        // One of which nobody can tell counts as there: a save that writes a reference to it finds out.
        if context.identityMap.forwardingTable.mayBeDropped(reference), (try? context.isGone(reference)) == true { return nil }
        return context.object(for: reference)
    }

    /// An object refers to one that is gone: the delete rule of that one is followed.
    private func unlink(_ object: NSManagedObject, _ slot: Int, _ inverse: NSRelationshipDescription) {
        if inverse.deleteRule == .cascadeDeleteRule, !object.state.contains(.deleted) {
            context.delete(object)
        } else {
            object.writeTarget(nil, slot)
        }
    }

    func members(_ references: [RowReference]) -> [NSManagedObject] {
        references.compactMap { reference in
            let reference = context.forwarded(reference)
            return existing(context.replacement(of: reference) ?? reference)
        }
    }

    func owner(_ reference: RowReference, _ relationship: NSRelationshipDescription) -> (NSManagedObject, Int)? {
        guard let owner = existing(context.forwarded(reference)), !owner.isDeleted,
            case .toMany(let index, _)? = owner.scope.shape.properties[relationship.name]
        else { return nil }
        return (owner, index)
    }

    private func receiveTransients(_ change: ChangeSet.TransientChange) {
        guard let object = existing(context.forwarded(change.object)), !object.isDeleted else { return }
        if object.isFault { object.fire() }
        for (key, value) in change.values { object.setTransient(value, key) }
        object.noteChange()
    }

    /// Both ends are as the child says, whichever of them is out of date here.
    private mutating func receiveLinks(_ link: ChangeSet.LinkChange) {
        let added = members(link.added)
        guard let (owner, index) = owner(link.owner, link.relationship) else { return correct(added) }
        for member in members(link.removed) {
            owner.unlinkMember(member, index)
            if let inverse = link.relationship.inverse { member.unlink(owner, along: inverse) }
        }
        if added.contains(where: \.isDeleted) { correct([owner]) }
        for member in added where !member.isDeleted {
            owner.linkMember(member, index)
            if let inverse = link.relationship.inverse { member.link(owner, along: inverse) }
        }
    }

    /// One end of a relationship that the child has saved is deleted here: the other end, in the child, does not have it.
    private mutating func correct(_ objects: [NSManagedObject]) {
        corrections.updated += objects.lazy.filter { !$0.isDeleted }.map(\.rowReference)
    }

    /// The child has carried the delete along the relationships that it knew; here, what only this context knows follows. Others may have related
    /// something to the object whom nobody asked, also where its row is the one that the child has read: the topmost context looks.
    private mutating func receiveDelete(_ delete: ChangeSet.Delete, _ group: ChangeSet.Group) {
        let reference = reference(delete.key, group)
        switch delete.reason {
        case .othersDelete: return receiveDeleteOfOthers(reference, delete.base)
        case .missingRow: return lookAgain(for: reference)
        case .decision, .decisionWithoutRow: break
        }
        guard let object = existing(reference), !object.state.contains(.deleted) else { return }
        if object.isFault, !object.state.contains(.rowless) { object.fire() }
        context.vanish(object, .delete)
        // What somebody puts under its key later is his.
        if delete.reason == .decisionWithoutRow { look(for: object) }
        if context.parentSource.isStoreSide { return }
        DeletePropagation(context: context).runWithoutReading(object)
        // So that the contexts above learn what the delete was based on.
        guard isBehind(delete.base, object), let base = delete.base else { return }
        context.adopt(base, object)
        object.state.insert(.savedMeanwhile)
    }

    private func receiveDeleteOfOthers(_ reference: RowReference, _ base: Row?) {
        // Where neither a store nor this context has it, there is nothing to do; written anew here, it does not go with the row that the child
        // knew, if it knew one.
        guard let object = context.registeredObject(for: reference), object.state.isDisjoint(with: [.deleted, .inserted]) else { return }
        if base == nil || isBehind(base, object), context.isThere(object, ifUnreadable: true) { return }
        context.vanish(object, .deleteElsewhere)
    }

    /// The child has found no row; the delete may have been taken back above since: then whom the child has led away leads to the object again.
    private mutating func lookAgain(for reference: RowReference) {
        guard let object = existing(reference), !object.state.contains(.deleted) else { return }
        look(for: object)
        guard object.state.isDisjoint(with: [.deleted, .rowless, .inaccessible]) else { return }
        RelationshipReturn(of: object, .decision).run()
        let targets = object.scope.shape.layout.referenceSlots.compactMap { object.reference($0).map(context.forwarded) }
        corrections.updated += [reference] + targets
    }

    private func look(for object: NSManagedObject) {
        guard object.state.contains(.rowless) else { return }
        do { try object.fireThrowing() } catch { context.logFailure("looking for the row of \(object.objectID)", error) }
    }

    private func isBehind(_ base: Row?, _ object: NSManagedObject) -> Bool {
        guard let base, !object.state.contains(.inserted), let current = object.committedRow else { return false }
        return base.version < max(current.version, 1)
    }
}

extension NSManagedObjectContext {
    /// A deleted object has got relationships that its delete has not been carried along.
    func propagateAgain(_ object: NSManagedObject) {
        object.state.remove(.propagated)
        tracker.unpropagated.append(object)
    }
}
