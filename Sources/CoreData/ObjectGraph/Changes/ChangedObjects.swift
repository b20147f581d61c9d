import Foundation

/// What happened to objects in one event, or in one save, as notifications tell it.
struct ChangedObjects {
    var inserted: Set<NSManagedObject> = []
    var updated: Set<NSManagedObject> = []
    var deleted: Set<NSManagedObject> = []
    var refreshed: Set<NSManagedObject> = []
    /// Whether objects may have changed of which the context knows nothing: only a fetch can say.
    var isOfUnknown = false
    /// The indexes of the entities of objects that others have deleted, of which the context cannot tell who was related to them.
    var goneEntities: Set<Int> = []
    /// Counts the events of a context.
    var number = 0

    /// What happened to an object in the event that ends.
    private enum Kind {
        case insertion, update, deletion
        /// Nothing that anybody could have seen: it came and went, or its changes were given up.
        case none

        @inline(__always) init(_ state: ObjectState) {
            switch state.intersection([.insertedNow, .deletedNow]) {
            case [.insertedNow, .deletedNow]: self = .none
            case .deletedNow: self = .deletion
            case .insertedNow where !state.isDisjoint(with: .pending): self = .insertion
            // What happens to an object after its delete, as that it leaves relationships, is part of the delete.
            default: self = state.contains(.deleted) || state.isDisjoint(with: .pending) ? .none : .update
            }
        }
    }

    init() {}

    init(_ touched: ContiguousArray<NSManagedObject>) {
        var counts = (inserted: 0, updated: 0, deleted: 0)
        touched.forEachBorrowed { object in
            switch Kind(object.state) {
            case .insertion: counts.inserted += 1
            case .update: counts.updated += 1
            case .deletion: counts.deleted += 1
            case .none: break
            }
        }
        // NB: half as much again, so that there are few collisions: each costs a comparison of objects, which is slow on Linux.
        if counts.inserted > 1 { inserted.reserveCapacity(counts.inserted * 3 / 2) }
        if counts.updated > 1 { updated.reserveCapacity(counts.updated * 3 / 2) }
        if counts.deleted > 1 { deleted.reserveCapacity(counts.deleted * 3 / 2) }
        touched.forEachBorrowed { object in
            switch Kind(object.state) {
            case .insertion: inserted.insert(object)
            case .update: updated.insert(object)
            case .deletion: deleted.insert(object)
            case .none: break
            }
        }
    }

    /// How many objects were inserted, updated or deleted.
    var count: Int { inserted.count + updated.count + deleted.count }

    var isEmpty: Bool { count == 0 && refreshed.isEmpty }
    /// Whether whoever follows has nothing to look at either.
    var saysNothing: Bool { isEmpty && goneEntities.isEmpty && !isOfUnknown }

    /// All that something happened to.
    var all: [NSManagedObject] { Array(inserted) + Array(updated) + Array(deleted) + Array(refreshed) }

    /// Adds what has happened since.
    mutating func add(_ later: ChangedObjects) {
        if saysNothing { return self = later }
        inserted.formUnion(later.inserted)
        updated.formUnion(later.updated)
        refreshed.formUnion(later.refreshed)
        // One that was deleted may be back.
        deleted = deleted.subtracting(later.inserted).union(later.deleted)
        goneEntities.formUnion(later.goneEntities)
        isOfUnknown = isOfUnknown || later.isOfUnknown
    }

    func contains(_ object: NSManagedObject) -> Bool { inserted.contains(object) || updated.contains(object) || deleted.contains(object) }

    /// As a notification has them: what there is none of is left out.
    var userInfo: [NSManagedObjectContext.NotificationKey: Any] {
        var sets: [NSManagedObjectContext.NotificationKey: Any] = [:]
        if !inserted.isEmpty { sets[.insertedObjects] = inserted }
        if !updated.isEmpty { sets[.updatedObjects] = updated }
        if !deleted.isEmpty { sets[.deletedObjects] = deleted }
        if !refreshed.isEmpty { sets[.refreshedObjects] = refreshed }
        return sets
    }
}
