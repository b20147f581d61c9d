import Foundation

/// Changes that others have saved come into a context that has read the objects already.
extension NSManagedObjectContext {
    /// Merges what another context saved, as its DidSave notification tells, or one that carries object IDs.
    ///
    /// Objects that are registered here take the newest values under their unsaved changes, which stay; inserted ones are registered;
    /// deleted ones are deleted, also with unsaved changes, and need no save. Matched by ID: the other context's objects are not touched, and it
    /// may be on another coordinator with the same file. Objects of stores that this context does not have are ignored. One statement per entity is run. Posts ObjectsDidChange, with what was merged
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
            context.performAndWait { context.merge(SavedReferences(changeNotificationData, in: context), isForeign: true) }
        }
    }

    var depth: Int { parent.map { $0.depth + 1 } ?? 0 }

    /// - Parameter isForeign: whether the row cache of this context's coordinator knows nothing of the changes yet.
    func merge(_ saved: SavedReferences, isForeign: Bool = false) {
        guard identityMap.registry != nil, !saved.isEmpty else { return }
        catchUp()
        if isForeign { parentSource.forgetRows(saved.updated + saved.deleted) }
        let updated = mergeUpdates(saved.updated)
        let inserted = saved.inserted.map(object(for:))
        for object in inserted where object.state.isDisjoint(with: .pending) { tracker.noteArrival(of: object) }
        for replacement in saved.replaced { replace(replacement) }
        let deleted = saved.deleted.compactMap(registeredObject(for:))
        for object in deleted { mergeDelete(of: object) }
        processPendingChanges()
        postMerge(inserted, updated, deleted)
        for child in childContexts where saved.areCorrections || child.automaticallyMergesChangesFromParent { child.follow(saved) }
    }

    private func mergeUpdates(_ references: [RowReference]) -> [NSManagedObject] {
        let objects = references.compactMap(registeredObject(for:))
            .filter { $0.state.isDisjoint(with: [.inserted, .deleted]) && !($0.state.contains(.rowless) && $0.existingExtras == nil) }
        for group in Dictionary(grouping: objects, by: { ObjectIdentifier($0.scope) }).values {
            do {
                for (object, row) in zip(group, try parentSource.rows(for: group.map(\.rowReference))) {
                    if let row { mergeUpdate(of: object, row) }
                }
            } catch {
                // Nobody to throw to: the objects keep what they have, and a save finds the conflict.
                logFailure("merging changes", error)
            }
        }
        return objects
    }

    private func mergeUpdate(of object: NSManagedObject, _ newest: Row) {
        guard newest.layout === object.scope.shape.layout else { return }
        if object.state.contains(.rowless) || object.isFault {
            if object.state.isDisjoint(with: .pending) { adopt(newest, object) }
        } else {
            rebase(object, onto: newest, keeping: object.changedSlots)
            object.awake { $0.awake(fromSnapshotEvents: .refresh) }
        }
        forgetStoredMembers(object)
        tracker.noteRefresh(of: object)
    }

    /// The row is gone, and nothing is left to be saved.
    private func mergeDelete(of object: NSManagedObject) {
        object.withdrawFromRealizedRelationships()
        tracker.noteDisappearance(of: object)
        tracker.forget(object)
        unregister(object)
    }

    /// An object that this context believes to be saved was merged into another one, and what is saved refers to that one already.
    private func replace(_ replacement: SavedReferences.Replacement) {
        guard let lost = registeredObject(for: replacement.lost) else { return }
        let survivor = object(for: replacement.survivor)
        // What was changed since then is for the survivor.
        if lost.state.intersection(.pending) == .updated { lost.giveAttributes(lost.changedSlots, to: survivor) }
        RelationshipTransfer(from: lost, to: survivor).moveUnsaved()
        mergeDelete(of: lost)
    }

    private func postMerge(_ inserted: [NSManagedObject], _ updated: [NSManagedObject], _ deleted: [NSManagedObject]) {
        var sets: [NotificationKey: Any] = [:]
        sets[.insertedObjectIDs] = Self.ids(inserted)
        sets[.updatedObjectIDs] = Self.ids(updated)
        sets[.deletedObjectIDs] = Self.ids(deleted)
        post(.NSManagedObjectContextDidMergeChangesObjectIDs, sets)
    }
}

extension NSManagedObject {
    /// Takes a deleted object out of the relationships that have been read, which changes nothing that is to be saved.
    final func withdrawFromRealizedRelationships() {
        guard !state.contains(.rowless) else { return }
        for (slot, relationship) in scope.shape.toOnes.enumerated() {
            guard let index = relationship?.inverse?.toManyIndex, let reference = currentRow.reference(slot),
                let owner = registeredContext?.registeredObject(for: reference)
            else { continue }
            owner.existingContents(index)?.forget(self)
        }
    }
}

extension SavedReferences {
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

    private static func elements(_ list: Any?) -> [Any] {
        switch list {
        case let set as Set<NSManagedObject>: Array(set)
        case let set as Set<NSManagedObjectID>: Array(set)
        case let set as Set<URL>: Array(set)
        case let array as [Any]: array
        case let set as NSSet: set.allObjects
        default: []
        }
    }
}

extension NSManagedObjectContext {
    /// The reference here of an object of any context, an ID, or the URI of one; nil where it is of no store of this context.
    fileprivate func reference(of element: Any) -> RowReference? {
        switch element {
        case let object as NSManagedObject: reference(of: object.objectID)
        case let id as NSManagedObjectID: identify(id.identity).reference
        case let uri as URL: persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)?.identity.reference
        case let text as String: persistentStoreCoordinator?.managedObjectID(for: text)?.identity.reference
        default: nil
        }
    }
}
