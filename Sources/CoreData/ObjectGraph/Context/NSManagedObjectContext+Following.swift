import Foundation
import Synchronization

/// Whether anybody may be listening to the notification that carries object IDs.
enum SavedObjectIDs {
    static let areAskedFor = Atomic(false)
    static let notificationName = Notification.Name("NSManagedObjectContextDidSaveObjectIDsNotification")
}

/// What a context tells others after a save, beyond DidSave.
extension NSManagedObjectContext: SaveFollower {
    func setFollowsParent(_ follows: Bool) {
        guard let parentLink else { misuse("Set parent or persistentStoreCoordinator before automaticallyMergesChangesFromParent.") }
        parentLink.followsSaves = follows
        guard parent == nil else { return }
        persistentStoreCoordinator?.followers.withLock { follows ? $0.add(self) : $0.remove(self) }
    }

    func follow(_ saved: SavedReferences) { if mayConcern(saved) { merge(later: saved) } }

    private func merge(later saved: SavedReferences) {
        if let news { news.add(saved) } else { perform { self.merge(saved) } }
    }

    /// Whether a merge may have something to do, here or in a child that follows. Asked by whoever has saved, on whichever thread: that
    /// wakes nobody.
    private func mayConcern(_ saved: SavedReferences) -> Bool {
        // NB: what a context is busy with may have begun before the save: it may be about to register an object as it was.
        guard concurrencyType == .privateQueueConcurrencyType, queue.isIdle, let registry = identityMap.registry else { return true }
        if !saved.inserted.isEmpty || !saved.replaced.isEmpty || parentLink?.generation != nil { return true }
        // Of objects that were new in the save, which may have another key here still.
        if saved.areCorrections { return true }
        if !watchers.wanted(saved.updated).isEmpty || saved.mayLackRelated && !watchers.related(saved.deleted).isEmpty { return true }
        if registry.mayHold(anyOf: saved.updated) || registry.mayHold(anyOf: saved.deleted) { return true }
        return childContexts.contains { (saved.areCorrections || $0.automaticallyMergesChangesFromParent) && $0.mayConcern(saved) }
    }

    func announceIDs(_ groups: [ChangeFreezer.Objects]) {
        guard SavedObjectIDs.areAskedFor.load(ordering: .relaxed) else { return }
        var sets: [NotificationKey: Any] = [:]
        sets[.insertedObjectIDs] = Self.ids(groups.flatMap(\.inserted))
        sets[.updatedObjectIDs] = Self.ids(groups.flatMap { $0.updated + $0.unchanged })
        sets[.deletedObjectIDs] = Self.ids(groups.flatMap(\.deleted))
        post(SavedObjectIDs.notificationName, sets)
    }

    static func ids(_ objects: [NSManagedObject]) -> Set<NSManagedObjectID>? {
        objects.isEmpty ? nil : Set(objects.map(\.objectID))
    }

    /// A save is done: contexts that follow the coordinator, and the children, merge it.
    ///
    /// - Parameter unwritten: objects without a change to be written that children may know otherwise nevertheless: new ones that were changed once
    ///   more, and those whose changes came to nothing.
    func tellFollowers(
        _ changes: ChangeSet,
        _ receipt: SaveReceipt,
        _ parent: any GraphParent,
        _ corrections: SavedReferences,
        unwritten: [RowReference]
    ) {
        let siblings = parent.isStoreSide ? persistentStoreCoordinator?.followers.withLock { $0.others(than: self) } ?? [] : []
        let children = childContexts
        guard !siblings.isEmpty || !children.isEmpty else { return }
        if !siblings.isEmpty {
            let saved = SavedReferences(changes, receipt)
            for sibling in siblings { sibling.follow(saved) }
        }
        let followsSaves = children.contains(where: \.automaticallyMergesChangesFromParent)
        var ours = followsSaves ? SavedReferences(changes, receipt).corrected(by: corrections) : nil
        ours?.updated += unwritten
        for child in children {
            // What a policy changed here comes down whether or not the child asked to follow: it believes that its values were saved.
            let saved = child.automaticallyMergesChangesFromParent ? ours : corrections
            if let saved, !saved.isEmpty { tell(child, saved) }
        }
    }

    /// Objects that were never saved are gone for good. A child may have saved them into this context, and takes them for saved.
    func tellFollowers(ofLost objects: [NSManagedObject]) {
        guard hasHadChildren, !objects.isEmpty else { return }
        let references = objects.map(\.rowReference)
        let lost = SavedReferences(deleted: references, dropped: references)
        for child in childContexts where child.automaticallyMergesChangesFromParent { tell(child, lost) }
    }

    /// A child has heard of what it is told of.
    func tell(_ child: NSManagedObjectContext, _ saved: SavedReferences) {
        guard child.mayConcern(saved) else { return }
        passNames(to: child)
        child.merge(later: saved)
    }

    /// What a merge policy has changed comes down whether or not a child asked to follow: it believes that its values were saved.
    func tellChildren(of corrections: SavedReferences) {
        guard !corrections.isEmpty else { return }
        let corrections = SavedReferences().corrected(by: corrections)
        for child in childContexts { tell(child, corrections) }
    }

    /// A child has saved into this context: its siblings that follow merge it.
    func tellChildren(of changes: ChangeSet, but saver: NSManagedObjectContext?) {
        let followers = childContexts.filter { $0 !== saver && $0.automaticallyMergesChangesFromParent }
        guard !followers.isEmpty else { return }
        let saved = SavedReferences(changes, nil)
        for follower in followers { tell(follower, saved) }
    }
}

extension SavedReferences {
    /// - Parameter receipt: the keys that inserts got; nil where they keep theirs.
    init(_ changes: ChangeSet, _ receipt: SaveReceipt?) {
        for (index, group) in changes.groups.enumerated() {
            let entity = Int32(group.entity.index)
            let store = receipt?.groups[index].store ?? group.store
            inserted += (receipt?.groups[index].insertedKeys.map { $0 } ?? group.inserts.map(\.key))
                .map { RowReference(key: $0, entity: entity, store: store) }
            updated += group.updates.map { RowReference(key: $0.key, entity: entity, store: store) }
            deleted += group.deletes.map { RowReference(key: $0.key, entity: entity, store: store) }
        }
    }
}
