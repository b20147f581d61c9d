import Foundation

/// Changes that others have saved come into a context that has read the objects already.
extension NSManagedObjectContext {
    /// Merges what another context saved, as its DidSave notification tells, or one that carries object IDs.
    ///
    /// Objects that are registered here take the newest values under their unsaved changes, which stay; inserted ones are registered, or take the
    /// newest values where they were known before: others have written them again under their keys;
    /// deleted ones are deleted here, also with unsaved changes: what refers to them follows by the delete rules, and they stay among the
    /// `deletedObjects` until the next save, which has nothing to write for them. Matched by ID: the other context's objects are not touched, and
    /// it may be on another coordinator with the same file. Objects of stores that this context does not have are ignored. One statement per entity is run.
    /// Posts ObjectsDidChange, with what was merged
    /// under `NSRefreshedObjectsKey`, and `NSManagedObjectContextDidMergeChangesObjectIDs`.
    ///
    /// > Concurrency: called on this context's queue, or anywhere for a context that is not in use meanwhile.
    public func mergeChanges(fromContextDidSave notification: Notification) {
        let sender = notification.object as? NSManagedObjectContext
        let isForeign = sender.map { $0.persistentStoreCoordinator !== persistentStoreCoordinator } ?? true
        performAndWait { merge(SavedReferences(notification.userInfo ?? [:], in: self), isForeign: isForeign) }
    }

    /// Merges what somebody saved elsewhere into contexts, each on its queue: the keys of ObjectsDidChange or the `…ObjectIDs` keys, with arrays or
    /// sets of object IDs, of their URIs, or of objects. What has no row here is skipped.
    public class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any],
        into contexts: [NSManagedObjectContext]
    ) {
        // Parents first: children read what they have.
        for context in contexts.sorted(by: { $0.depth < $1.depth }) {
            context.performAndWait {
                var saved = SavedReferences(changeNotificationData, in: context)
                saved.mayLackRelated = true
                context.merge(saved, isForeign: true)
            }
        }
    }

    var depth: Int { parent.map { $0.depth + 1 } ?? 0 }

    /// - Parameter isForeign: whether the row cache of this context's coordinator knows nothing of the changes yet.
    func merge(_ saved: SavedReferences, isForeign: Bool = false) {
        guard identityMap.registry != nil, !saved.isEmpty else { return }
        moveQueryGeneration()
        catchUp()
        readAhead.forget()
        whileMeetingNames { mergeMet(saved.areCorrections ? withoutDeletesOfWhatIsThere(saved) : saved, isForeign) }
        renewNames()
    }

    private func mergeMet(_ saved: SavedReferences, _ isForeign: Bool) {
        let owners = saved.mayLackRelated ? noteUnseenDeletes(saved.deleted) : []
        if isForeign { parentSource.forgetRows(saved.updated + saved.inserted + saved.deleted + owners) }
        let written = isForeign ? saved.updatedOrInserted : saved.updated.adding(saved.inserted.filter(wasReadUnsaved))
        findAgain(saved.updated)
        let updated = mergeUpdates(written.adding(owners))
        noteUnread(saved.updated)
        let inserted = saved.inserted.map(object(for:))
        // Looked for too early, or written again under its key; unless what tells of it is older than its delete.
        for object in inserted where object.state.contains(.rowGone) && isThere(object, ifUnreadable: false) { becomeFault(object) }
        for object in inserted where object.state.isDisjoint(with: .pending) { tracker.noteArrival(of: object) }
        for replacement in saved.replaced { replace(replacement) }
        let deleted = saved.deleted.compactMap(registeredObject(for:))
        // What leads to them here, and got no further than the context above, which let go of them before it saved, is among no updates.
        if !parentSource.isStoreSide, !saved.areCorrections { UnreadPartners.noteReferrers(to: deleted, in: self) }
        for object in saved.dropped.compactMap(registeredObject(for:)) { DeletePropagation(context: self).withdrawEdits(leadingTo: object) }
        mergeReferrers(to: deleted, isForeign)
        for object in deleted { vanish(object, .deleteElsewhere) }
        processPendingChanges()
        if saved.areCorrections { finish(deleted) }
        postMerge(inserted, updated, deleted)
        for child in childContexts where saved.areCorrections || child.automaticallyMergesChangesFromParent { tell(child, saved) }
    }

    /// Whether a context above may have changed a new object since this one read it there, not saved yet.
    private func wasReadUnsaved(_ reference: RowReference) -> Bool {
        guard parent != nil, let object = registeredObject(for: reference) else { return false }
        return (!object.isFault || object.hasReadMembers) && object.mayBeStale
    }

    /// What this context has heard to be deleted is there nevertheless, as where a merge policy above kept it; unless what tells of it is older than
    /// the delete. What was deleted here stays so.
    private func findAgain(_ references: [RowReference]) {
        for object in references.compactMap(registeredObject(for:))
        where object.state.isSuperset(of: [.deleted, .rowGone]) && object.state.isDisjoint(with: [.inserted, .deletedByDecision]) {
            if isThere(object, ifUnreadable: false) { becomeFault(object) }
        }
    }

    /// Nobody has to save what a context above has found to be gone: the objects leave, as after a save.
    private func finish(_ deleted: [NSManagedObject]) {
        for object in deleted
        where object.registeredContext === self && object.state.isSuperset(of: [.deleted, .rowGone])
            && !object.state.contains(.deletedByDecision)
        {
            vanish(object, .deleteSaved)
        }
    }

    /// What a policy has deleted in a context above may be there again: the save for which it was asked has gone back.
    private func withoutDeletesOfWhatIsThere(_ corrections: SavedReferences) -> SavedReferences {
        let deleted = corrections.deleted.compactMap { registeredObject(for: $0)?.rowReference }
        guard !deleted.isEmpty else { return corrections }
        let there = Set(deleted).subtracting(withoutRow(deleted))
        var corrections = corrections
        corrections.updated += there
        corrections.deleted.removeAll { there.contains(forwarded($0)) }
        return corrections
    }

    /// A save that has gone back has brought changes of these: of which nobody above has a row any more, they leave; who was changed since stays for
    /// the save to refuse, or a rollback to take away.
    func dismissLost(_ references: [RowReference]) {
        dismiss(withoutRow(references.compactMap { registeredObject(for: $0)?.rowReference }))
    }

    func dismiss(_ lost: Set<RowReference>) {
        let known = lost.compactMap(registeredObject(for:))
        for object in known where object.state.intersection(.pending) == .updated { object.state.insert(.savedMeanwhile) }
        let objects = known.filter { $0.state.isDisjoint(with: .pending) }
        guard !objects.isEmpty else { return }
        mergeReferrers(to: objects, false)
        for object in objects { vanish(object, .deleteElsewhere) }
        processPendingChanges()
        finish(objects)
    }

    /// Those of which nobody above has a row, by one statement for each entity; of what can't be read that is not known.
    func withoutRow(_ references: [RowReference]) -> Set<RowReference> {
        var lost: Set<RowReference> = []
        for group in Dictionary(grouping: references, by: \.entity).values {
            do {
                for (reference, row) in zip(group, try parentSource.rows(for: group)) where row == nil { lost.insert(reference) }
            } catch {
                logFailure("looking for what a save that has gone back has changed", error)
            }
        }
        return lost
    }

    /// What leads to deleted objects here may lead elsewhere by now: the context above has let go of it, by a rollback too, or others have saved
    /// that before, and nobody has told. The delete rules are for what leads to them still.
    private func mergeReferrers(to deleted: [NSManagedObject], _ isForeign: Bool) {
        guard !deleted.isEmpty else { return }
        let gone = Set(deleted.map(\.rowReference))
        let referrers = Set(deleted.flatMap { DeletePropagation(context: self).knownReferrers(to: $0) }).subtracting(deleted)
        if isForeign { parentSource.forgetRows(referrers.map(\.rowReference)) }
        // NB: with a newer row under it, an edit that conflicts with what others have saved would be taken for one that does not.
        let changed = parentSource.isStoreSide ? referrers.filter { !$0.state.isDisjoint(with: .pending) } : []
        mergeUpdates(referrers.subtracting(changed).map(\.rowReference))
        let measured = changed.filter { $0.state.isDisjoint(with: [.inserted, .deleted]) }
        forEachNewestRow(of: Array(measured)) { lead($0, elsewhereThan: gone, asIn: $1) }
    }

    /// Relationships without unsaved changes lead where the newest row has them lead. All else stays measured against what was read.
    private func lead(_ object: NSManagedObject, elsewhereThan gone: Set<RowReference>, asIn newest: Row) {
        guard let known = object.committedRow, known.layout === newest.layout else { return }
        let edited = object.editedSlots
        let slots = known.layout.referenceSlots.filter { slot in
            guard !edited.contains(slot), let target = known.reference(slot) else { return false }
            return gone.contains(forwarded(target)) && !known.equals(newest, at: slot)
        }
        guard !slots.isEmpty else { return }
        let base = OwnRow.copy(of: known, replacing: -1)
        base.base = nil
        for slot in slots { base.assign(slot, from: newest) }
        update(object, to: Row(base), .refresh)
    }

    @discardableResult
    private func mergeUpdates(_ references: [RowReference]) -> [NSManagedObject] {
        let known = references.compactMap(registeredObject(for:))
        // A delete stays measured against what it was decided on.
        for object in known where object.state.intersection([.deleted, .inserted]) == .deleted { object.state.insert(.savedMeanwhile) }
        let objects = known.filter(canMerge)
        var (next, met) = (objects, Set(objects.map(\.rowReference)))
        while !next.isEmpty {
            var partners: Set<RowReference> = []
            forEachNewestRow(of: next) { object, row in
                notePartners(of: object, newest: row, &partners)
                update(object, to: row, .refresh)
            }
            next = partners.subtracting(met).compactMap(registeredObject(for:)).filter(canFollow)
            met.formUnion(partners)
        }
        return objects
    }

    private func canMerge(_ object: NSManagedObject) -> Bool {
        object.state.isDisjoint(with: [.inserted, .deleted]) && !(object.state.contains(.rowless) && object.existingExtras == nil)
    }

    // NB: with a newer row under it, an edit that conflicts with what others have saved would be taken for one that does not.
    private func canFollow(_ partner: NSManagedObject) -> Bool {
        canMerge(partner) && !(parentSource.isStoreSide && !partner.state.isDisjoint(with: .pending))
    }

    /// Where the object has led, and where it leads now: those who saved it need not have known that end.
    private func notePartners(of object: NSManagedObject, newest: Row, _ partners: inout Set<RowReference>) {
        guard let known = object.committedRow, known.layout === newest.layout else { return }
        for slot in known.layout.referenceSlots where !known.equals(newest, at: slot) {
            for case let target? in [known.reference(slot), newest.reference(slot)] { partners.insert(forwarded(target)) }
        }
    }

    /// Calls `body` with the objects whose rows are there, of which one statement for each entity reads what is not at hand.
    private func forEachNewestRow(of objects: [NSManagedObject], _ body: (NSManagedObject, Row) -> Void) {
        for group in Dictionary(grouping: objects, by: { ObjectIdentifier($0.scope) }).values {
            do {
                for (object, row) in zip(group, try parentSource.rows(for: group.map(\.rowReference))) {
                    if let row { body(object, row) }
                }
            } catch {
                // Nobody to throw to: the objects keep what they have, and a save finds the conflict.
                logFailure("merging changes", error)
            }
        }
    }

    /// An object that this context believes to be saved was merged into another one, and what is saved refers to that one already.
    private func replace(_ replacement: SavedReferences.Replacement) {
        guard let lost = registeredObject(for: replacement.lost) else { return }
        let survivor = object(for: replacement.survivor)
        // What was changed since then is for the survivor.
        if lost.state.intersection(.pending) == .updated { lost.giveAttributes(lost.editedSlots, to: survivor) }
        let targets = lost.committedRow.map { row in row.layout.referenceSlots.compactMap(row.reference).map(forwarded) } ?? []
        RelationshipTransfer(from: lost, to: survivor).moveUnsaved()
        vanish(lost, .replaced)
        // What was changed and saved since then is the survivor's already.
        mergeUpdates([survivor.rowReference] + targets)
    }

    private func postMerge(_ inserted: [NSManagedObject], _ updated: [NSManagedObject], _ deleted: [NSManagedObject]) {
        var sets: [NotificationKey: Any] = [:]
        sets[.insertedObjectIDs] = Self.ids(inserted)
        sets[.updatedObjectIDs] = Self.ids(updated)
        sets[.refreshedObjectIDs] = Self.ids(updated)
        sets[.deletedObjectIDs] = Self.ids(deleted)
        post(.NSManagedObjectContextDidMergeChangesObjectIDs, sets)
    }
}

extension SavedReferences {
    fileprivate var updatedOrInserted: [RowReference] { updated.adding(inserted) }

    /// Reads the lists of a notification; what is no row of `context`'s stores is left out.
    init(_ info: [AnyHashable: Any], in context: NSManagedObjectContext) {
        typealias Key = NSManagedObjectContext.NotificationKey
        func references(_ keys: Key...) -> [RowReference] {
            keys.flatMap { Self.elements(info[$0.rawValue]) }.compactMap(context.reference(of:))
        }
        inserted = references(.insertedObjects, .insertedObjectIDs)
        updated = references(.updatedObjects, .updatedObjectIDs, .refreshedObjects, .refreshedObjectIDs)
        deleted = references(.deletedObjects, .deletedObjectIDs)
    }

    // NB: a cast of a set tries its elements, and one of a value such as a URL to a class takes microseconds: types are compared first.
    private static func elements(_ list: Any?) -> [Any] {
        guard let list else { return [] }
        if type(of: list) == Set<URL>.self, let set = list as? Set<URL> { return Array(set) }
        switch list {
        case let array as [Any]: return array
        case let set as Set<NSManagedObject>: return Array(set)
        case let set as Set<NSManagedObjectID>: return Array(set)
        case let set as Set<AnyHashable>: return set.map(\.base)
        case let set as NSSet: return set.allObjects
        default: return []
        }
    }
}

extension [RowReference] {
    /// Each once.
    fileprivate func adding(_ others: [RowReference]) -> [RowReference] {
        if others.isEmpty { return self }
        let known = Set(self)
        return self + others.filter { !known.contains($0) }
    }
}

extension NSManagedObjectContext {
    /// The reference here of an object of any context, an ID, or the URI of one; nil where it is of no store of this context.
    fileprivate func reference(of element: Any) -> RowReference? {
        if type(of: element) is AnyClass { return reference(ofInstance: element) }
        switch element {
        case let uri as URL: return persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)?.identity.reference
        case let text as String: return persistentStoreCoordinator?.managedObjectID(for: text)?.identity.reference
        default: return nil
        }
    }

    private func reference(ofInstance element: Any) -> RowReference? {
        switch element {
        case let object as NSManagedObject: reference(of: object.objectID)
        case let id as NSManagedObjectID: identify(id.identity).reference
        case let uri as NSURL: persistentStoreCoordinator?.managedObjectID(for: uri.absoluteString)?.identity.reference
        case let text as NSString: persistentStoreCoordinator?.managedObjectID(for: String(describing: text))?.identity.reference
        default: nil
        }
    }
}
