import Foundation
import Logging

extension NSManagedObjectContext {
    /// Carries deletes along relationships, then says what changed since the last event ended.
    func endEvent() {
        propagateDeletes()
        guard tracker.hasNews else { return }
        if isSaving, tracker.hasTouched { latestSave?.noteChanged(tracker.touched) }
        announce(tracker.endEvent())
    }

    /// Carries deletes along relationships. The event goes on.
    func propagateDeletes() {
        if !tracker.unpropagated.isEmpty, propagatesDeletesAtEndOfEvent || isSaving {
            DeletePropagation(context: self).run()
            let deleted = tracker.takeDeletedInsertions { latestSave?.inserts($0) == true }
            let lost = deleted.filter { $0.state.isSuperset(of: [.inserted, .deleted]) }
            OneWayReferences.drop(to: lost, in: self)
            for object in lost {
                // No file will ever have a row that the others could go on referring to.
                if object.scope.leavesReferences { DeletePropagation(context: self).withdraw(object) }
                vanish(object, .neverSaved)
            }
            tellFollowers(ofLost: lost)
            // Whoever saved them below takes them for saved.
            if isSaving, !lost.isEmpty { noteCorrections(SavedReferences(deleted: lost.map(\.rowReference))) }
        }
    }

    private func announce(_ event: ChangedObjects) {
        guard !event.saysNothing else { return }
        tracker.announced.append(event)
        defer { tracker.announced.removeLast() }
        if !event.isEmpty { post(.NSManagedObjectContextObjectsDidChange, event.userInfo) }
        watchers.tell(event)
    }

    /// Whether ObjectsDidChange is being posted, and says that the object changed.
    func isAnnouncing(_ object: NSManagedObject) -> Bool { tracker.announced.last?.contains(object) ?? false }

    func post(_ name: Notification.Name, _ sets: [NotificationKey: Any]) {
        var info: [AnyHashable: Any] = Dictionary(minimumCapacity: sets.count)
        for (key, set) in sets { info[key.rawValue] = set }
        NotificationCenter.default.post(name: name, object: self, userInfo: info.isEmpty ? nil : info)
    }

    /// A property could not be read: its reader gets nil, or no members, and may ask again.
    func noteFailedRead(_ what: String, _ error: any Error) {
        tracker.failedReadCount += 1
        logFailure(what, error)
    }

    func logFailure(_ what: String, _ error: any Error) {
        Logger(label: "CoreData").error("\(name ?? "A context") failed at \(what): \(error)")
    }
}
