import Foundation

/// Merges into a context what other coordinators of the process save into its stores, as long as somebody who watches it holds this: what a parent or
/// siblings save comes by itself, too. Only where the context asks for that: `automaticallyMergesChangesFromParent`.
// Sendable: nothing changes but the observer, which is set once, before others have this.
final class ForeignSaves: ContextWatcher, @unchecked Sendable {
    private var observer: (any NSObjectProtocol)?

    /// The one of a context, for all who watch it.
    ///
    /// > Concurrency: on the context's queue.
    static func following(_ context: NSManagedObjectContext) -> ForeignSaves {
        if let known = context.watchers.first(ForeignSaves.self) { return known }
        let made = ForeignSaves(context)
        context.watchers.add(made, of: [])
        return made
    }

    private init(_ context: NSManagedObjectContext) {
        observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: nil, queue: nil) {
            [weak context] in
            guard let context, let saver = $0.object as? NSManagedObjectContext, context.isForeign(to: saver) else { return }
            context.merge(later: Self.ids(in: $0))
        }
    }

    deinit { observer.map(NotificationCenter.default.removeObserver) }

    /// On the queue of who has saved: elsewhere his objects may not be asked.
    private static func ids(in notification: Notification) -> [String: Set<NSManagedObjectID>] {
        var ids: [String: Set<NSManagedObjectID>] = [:]
        for (key, name) in [
            (NSInsertedObjectsKey, NSInsertedObjectIDsKey), (NSUpdatedObjectsKey, NSUpdatedObjectIDsKey),
            (NSDeletedObjectsKey, NSDeletedObjectIDsKey),
        ] {
            guard let objects = notification.userInfo?[key] as? Set<NSManagedObject>, !objects.isEmpty else { continue }
            ids[name] = Set(objects.map(\.objectID))
        }
        return ids
    }

    func eventEnded(_ event: ChangedObjects) {}
    func contextWasReset() {}
    func contextEnded() {}
}

extension NSManagedObjectContext {
    /// Whether another context saves into stores of this one through a coordinator of its own.
    fileprivate func isForeign(to saver: NSManagedObjectContext) -> Bool {
        guard automaticallyMergesChangesFromParent, saver.parent == nil, let ours = persistentStoreCoordinator,
            let theirs = saver.persistentStoreCoordinator, ours !== theirs
        else { return false }
        return !Set(ours.persistentStores.map(\.identifier)).isDisjoint(with: theirs.persistentStores.map(\.identifier))
    }

    /// Parents first, each on its queue.
    fileprivate func merge(later ids: [String: Set<NSManagedObjectID>]) {
        perform { [self] in
            Self.mergeChanges(fromRemoteContextSave: ids, into: Array(sequence(first: self, next: \.parent)))
        }
    }
}
