import Foundation
import Logging

extension NSManagedObjectContext {
    /// Carries deletes along relationships, then says what changed since the last event ended.
    func endEvent() {
        if !tracker.unpropagated.isEmpty, propagatesDeletesAtEndOfEvent || isSaving {
            DeletePropagation(context: self).run()
            discardDeletedInsertions()
        }
        guard tracker.hasTouched || !tracker.refreshed.isEmpty || !tracker.arrived.isEmpty else { return }
        postObjectsDidChange(tracker.endEvent())
    }

    /// Objects that were inserted and deleted since the last save go without a trace.
    private func discardDeletedInsertions() {
        for object in tracker.takeDeletedInsertions() where object.state.isSuperset(of: [.inserted, .deleted]) {
            noteDroppedInsertions(CollectionOfOne(object))
            tracker.forget(object)
            unregister(object)
        }
    }

    /// The object is in no context from now on.
    func unregister(_ object: NSManagedObject) {
        if object.state.contains(.registered) { object.scopeReference._withUnsafeGuaranteedRef { $0.identity?.remove(object) } }
        object.state.remove(.registered)
        object.state.insert(.detached)
        if identityMap.retainsObjects { identityMap.retained.remove(object) }
    }

    /// What ObjectsDidChange says of an object.
    private enum Change {
        case insertion, update, deletion

        init(_ state: ObjectState) {
            if !state.isDisjoint(with: [.deleted, .detached]) {
                self = .deletion
            } else {
                self = state.contains(.inserted) ? .insertion : .update
            }
        }
    }

    private func postObjectsDidChange(_ event: ChangeTracker.Event) {
        let (touched, refreshed) = (event.touched, event.refreshed)
        var (inserted, updated, deleted): (Set<NSManagedObject>, Set<NSManagedObject>, Set<NSManagedObject>) = ([], [], [])
        var counts = (inserted: 0, updated: 0, deleted: 0, settled: 0)
        touched.forEachBorrowed { object in
            switch Change(object.state) {
            case .insertion: counts.inserted += 1
            case .update: counts.updated += 1
            case .deletion: counts.deleted += 1
            }
            if object.state.isDisjoint(with: .pending) { counts.settled += 1 }
        }
        // NB: half as much again, so that there are few collisions: each costs a comparison of objects, which is slow on Linux.
        inserted.reserveCapacity(counts.inserted * 3 / 2)
        updated.reserveCapacity(counts.updated * 3 / 2)
        deleted.reserveCapacity(counts.deleted * 3 / 2)
        touched.forEachBorrowed { object in
            switch Change(object.state) {
            case .insertion: inserted.insert(object)
            case .update: updated.insert(object)
            case .deletion: deleted.insert(object)
            }
        }
        // An object that has nothing to save any more is in no save, and if it is gone for good nothing may keep it alive.
        latestSets = counts.settled > 0 ? ([], [], []) : (inserted, updated, deleted)
        inserted.formUnion(event.arrived)
        var sets: [NotificationKey: Any] = [:]
        if !inserted.isEmpty { sets[.insertedObjects] = inserted }
        if !updated.isEmpty { sets[.updatedObjects] = updated }
        if !deleted.isEmpty { sets[.deletedObjects] = deleted }
        if !refreshed.isEmpty { sets[.refreshedObjects] = Set(refreshed) }
        let outer = announcedSets
        announcedSets = [inserted, updated, deleted]
        defer { announcedSets = outer }
        post(.NSManagedObjectContextObjectsDidChange, sets)
    }

    /// Whether ObjectsDidChange is being posted, and says that the object changed.
    func isAnnouncing(_ object: NSManagedObject) -> Bool { announcedSets.contains { $0.contains(object) } }

    func post(_ name: Notification.Name, _ sets: [NotificationKey: Any]) {
        let info = Dictionary(uniqueKeysWithValues: sets.map { (AnyHashable($0.key.rawValue), $0.value) })
        NotificationCenter.default.post(name: name, object: self, userInfo: info.isEmpty ? nil : info)
    }

    func logFailure(_ what: String, _ error: any Error) {
        Logger(label: "CoreData").error("\(name ?? "A context") failed at \(what): \(error)")
    }
}
