import Foundation

/// The objects of a context with unsaved changes, and those that changed in the current event.
///
/// Holds them strongly. An object is in each list at most once; what a save does with it, and what happened to it in the event, stands in its
/// state.
final class ChangeTracker {
    /// Whoever follows the events.
    let watchers = ContextWatchers()
    /// Objects with changes, in the order of their first change. May hold objects that have none any more, but not more than half.
    @exclusivity(unchecked) private(set) var objects: ContiguousArray<NSManagedObject> = []
    /// Those from here on had their first change in the current event.
    @exclusivity(unchecked) private var eventStart = 0
    /// Objects that changed in the current event but are in the list for an earlier one, or in none.
    @exclusivity(unchecked) private var retouched: ContiguousArray<NSManagedObject> = []
    /// Objects whose deletes have not been propagated yet.
    @exclusivity(unchecked) var unpropagated: ContiguousArray<NSManagedObject> = []
    /// While deletes are carried along relationships, when some have been and others not.
    var isPropagating = false
    /// Why deletes could not be propagated: something could not be read.
    @exclusivity(unchecked) var propagationFailure: (any Error)?
    @exclusivity(unchecked) private var deletedInsertions: [NSManagedObject] = []
    /// Objects whose deletes were taken out and may come back: `prepareForDeletion` was called for them.
    var preparedForDeletion: Set<RowReference> = []
    /// Objects whose values were replaced from the store in the current event.
    @exclusivity(unchecked) private var refreshed: ContiguousArray<NSManagedObject> = []
    /// Objects that others inserted and that were merged in the current event.
    @exclusivity(unchecked) private var arrived: ContiguousArray<NSManagedObject> = []
    /// Whether others have changed in the current event what the context has not read, and nobody can tell what.
    @exclusivity(unchecked) private var hasUnknown = false
    /// The indexes of the entities of objects that others have deleted, of which nobody can tell who was related to them.
    @exclusivity(unchecked) private var goneEntities: Set<Int> = []
    /// How many events have ended.
    private(set) var eventCount = 0
    /// How many reads have failed without anybody being told: of properties, which gave nil.
    var failedReadCount = 0
    /// How many of them no save has to make up for any more.
    var madeUpReadCount = 0
    /// Told of the first change of an event: for a main-queue context, whose events may end with the turn.
    @exclusivity(unchecked) var turn: MainTurn?
    /// The rows of the first objects in the list, as a child has handed them over: a save passes them on where nothing has changed since.
    @exclusivity(unchecked) private(set) var received: ContiguousArray<ChangeSet.Insert> = []
    /// The ordered set of a relationship that a program asked for last: it may ask again.
    var latestOrderedSet: MutableOrderedSetProxy?
    /// The ordered sets through which relationships were changed.
    private var orderedSets: [MutableOrderedSetProxy] = []
    /// How many objects have something for the next save.
    @exclusivity(unchecked) private(set) var pendingCount = 0
    /// Unchanged objects that the next save checks for conflicts.
    @exclusivity(unchecked) private(set) var locked: Set<NSManagedObject> = []
    /// What the latest event said, where that was of all unsaved changes and nothing has happened since.
    @exclusivity(unchecked) private(set) var whole: ChangedObjects?
    /// The objects by their values, for fetches.
    let index = PendingIndex()
    /// What is being announced, innermost last: an observer may begin, and end, an event of its own.
    @exclusivity(unchecked) var announced: [ChangedObjects] = []

    /// Whether an object changed since pending changes were last processed.
    @inline(__always) var hasTouched: Bool { eventStart < objects.count || !retouched.isEmpty }

    /// Whether there is something to announce.
    var hasNews: Bool { hasTouched || !refreshed.isEmpty || !arrived.isEmpty || hasUnknown || !goneEntities.isEmpty }

    /// Objects that changed since pending changes were last processed.
    var touched: ContiguousArray<NSManagedObject> {
        // Mostly everything changed in one event: the list is not copied then.
        let first = eventStart == 0 ? objects : ContiguousArray(objects[eventStart...])
        return retouched.isEmpty ? first : first + retouched
    }

    /// A setter ran. Of an object whose delete is saved there is nothing to save any more, or to tell.
    func noteChange(of object: NSManagedObject) {
        if object.state.isSuperset(of: .deletionSaved) { return }
        if object.state.isDisjoint(with: .pending) { mark(object, as: .updated) }
        touch(object)
    }

    func noteInsertion(of object: NSManagedObject) {
        mark(object, as: [.inserted, .insertedNow])
        touch(object)
    }

    /// New objects came from a child, with the rows that are in `inserts`.
    ///
    /// - Precondition: nothing has been noted of any of the objects.
    func noteInsertions(of new: ContiguousArray<NSManagedObject>, as inserts: ContiguousArray<ChangeSet.Insert>) {
        new.forEachBorrowed { $0.state.formUnion([.inserted, .insertedNow, .listed, .touched, .noted]) }
        pendingCount += new.count
        if !hasTouched { beginEvent() }
        // Into an empty list nothing is copied.
        if objects.isEmpty { (objects, received) = (new, inserts) } else { objects += new }
    }

    func noteDeletion(of object: NSManagedObject) {
        if object.state.contains(.inserted) { deletedInsertions.append(object) }
        object.noteChangeForChildren()
        mark(object, as: [.deleted, .deletedNow])
        unpropagated.append(object)
        touch(object)
    }

    /// A delete is taken back: who was told of it is told that the object is there again.
    func noteReturn(of object: NSManagedObject) {
        let (wasInserted, isUntold) = (object.state.contains(.inserted), object.state.contains(.deletedNow))
        forget(object)
        if wasInserted { noteInsertion(of: object) } else { noteChange(of: object) }
        if isUntold { object.state.remove(.deletedNow) } else { object.state.insert(.insertedNow) }
    }

    @inline(__always) private func mark(_ object: NSManagedObject, as change: ObjectState) {
        if object.state.isDisjoint(with: .pending) { pendingCount += 1 }
        object.state.formUnion(change)
        if object.state.contains(.listed) { return }
        if !hasTouched { beginEvent() }
        object.state.insert(.listed)
        objects.append(object)
        if object.state.contains(.touched) { object.state.insert(.noted) } else { begin(object) }
    }

    /// The first change since the last event ended.
    private func beginEvent() {
        whole = nil
        turn?.changesBegan()
    }

    /// The current event concerns the object.
    @inline(__always) private func begin(_ object: NSManagedObject) {
        object.state.formUnion([.touched, .noted])
        object.beginEvent()
    }

    @inline(__always) private func touch(_ object: NSManagedObject) {
        if object.state.contains(.touched) { return object.state.formUnion(.noted) }
        if !hasTouched { beginEvent() }
        retouched.append(object)
        begin(object)
    }

    /// An object's values were replaced from the store. Of one whose delete is saved nobody is told.
    func noteRefresh(of object: NSManagedObject) {
        if object.state.contains(.refreshedNow) || object.state.isSuperset(of: .deletionSaved) { return }
        if !hasNews { beginEvent() }
        object.state.insert(.refreshedNow)
        refreshed.append(object)
    }

    /// What was brought in by others in the current event, which goes on being so when the context's own changes are given up.
    struct Untold {
        let refreshed, arrived: ContiguousArray<NSManagedObject>

        func note(in context: NSManagedObjectContext) {
            let tracker = context.tracker
            for object in refreshed where object.registeredContext === context { tracker.noteRefresh(of: object) }
            for object in arrived where object.registeredContext === context { tracker.noteArrival(of: object) }
        }
    }

    var untold: Untold { Untold(refreshed: refreshed, arrived: arrived) }

    private func endRefreshes() {
        for object in refreshed { object.state.remove(.refreshedNow) }
        refreshed = []
    }

    /// An object went without a delete that is to be saved: whoever knew it is told at the end of the event.
    func noteDisappearance(of object: NSManagedObject) {
        touch(object)
        object.state.insert(.deletedNow)
    }

    /// An object that others saved came into the context: whoever observes is told at the end of the event.
    func noteArrival(of object: NSManagedObject) {
        if !hasNews { beginEvent() }
        arrived.append(object)
    }

    /// Others may have changed anything: whoever follows is to look himself at the end of the event.
    func noteUnknown() {
        if !hasNews { beginEvent() }
        hasUnknown = true
    }

    /// Others have deleted objects of some entities, and who was related to them is not known here.
    func noteGone(_ entities: Set<Int>) {
        if !hasNews { beginEvent() }
        goneEntities.formUnion(entities)
    }

    /// The object takes part in the next save's search for conflicts.
    func noteLock(of object: NSManagedObject) {
        object.state.insert(.locked)
        locked.insert(object)
    }

    func unlock(_ object: NSManagedObject) {
        guard object.state.contains(.locked) else { return }
        object.state.remove(.locked)
        locked.remove(object)
    }

    func unlockAll() { for object in locked { unlock(object) } }

    /// The object has nothing for the next save any more.
    func forget(_ object: NSManagedObject) {
        object.noteChangeForChildren()
        if !object.state.isDisjoint(with: .pending) { pendingCount -= 1 }
        whole = nil
        object.state.subtract(.unsaved.union(.noted))
    }

    /// The objects that were deleted before they were ever saved.
    ///
    /// - Parameter isBeingSaved: tells of an object whether it is on its way to the parent: then it stays among them.
    func takeDeletedInsertions(unless isBeingSaved: (NSManagedObject) -> Bool) -> [NSManagedObject] {
        let deleted = deletedInsertions
        deletedInsertions = deleted.filter(isBeingSaved)
        return deletedInsertions.isEmpty ? deleted : deleted.filter { !isBeingSaved($0) }
    }

    /// Ends the event, whose objects then count as untouched: what it says of them.
    func endEvent() -> ChangedObjects {
        let touched = touched
        index.noteChanges(of: retouched)
        index.noteChanges(of: refreshed)
        var event = ChangedObjects(touched)
        let isWhole = eventStart == 0 && retouched.isEmpty && event.count == objects.count
        whole = isWhole ? event : nil
        touched.forEachBorrowed { $0.state.subtract(.ofEvent) }
        addNewsOfOthers(to: &event)
        eventCount += 1
        event.number = eventCount
        (retouched, arrived, hasUnknown, goneEntities) = ([], [], false, [])
        endRefreshes()
        dropUnchanged()
        eventStart = objects.count
        return event
    }

    /// What has happened since the last event ended.
    var unended: ChangedObjects {
        var event = ChangedObjects(touched)
        addNewsOfOthers(to: &event)
        return event
    }

    private func addNewsOfOthers(to event: inout ChangedObjects) {
        // What a delete of this context, or of others, has reached since it came is told as deleted.
        if !arrived.isEmpty { event.inserted.formUnion(Set(arrived).subtracting(event.deleted)) }
        if !refreshed.isEmpty { event.refreshed = Set(refreshed) }
        (event.isOfUnknown, event.goneEntities) = (hasUnknown, goneEntities)
    }

    /// Objects that have nothing to save any more leave the list, once they are more than half of it.
    private func dropUnchanged() {
        guard (objects.count - pendingCount) * 2 > objects.count else { return }
        index.removeAll()
        let (all, first) = (objects, pendingCount)
        (objects, received) = ([], [])
        objects.reserveCapacity(first)
        all.forEachBorrowed { object in
            if object.state.isDisjoint(with: .pending) { object.state.remove(.listed) } else { objects.append(object) }
        }
    }

    /// Forgets all objects; their states are the caller's to set.
    func removeAll() {
        index.removeAll()
        objects.forEachBorrowed { $0.state.remove(.listed) }
        touched.forEachBorrowed { $0.state.subtract(.ofEvent) }
        (objects, retouched, unpropagated, arrived, deletedInsertions) = ([], [], [], [], [])
        (hasUnknown, goneEntities) = (false, [])
        endRefreshes()
        eventStart = 0
        propagationFailure = nil
        received = []
        pendingCount = 0
        whole = nil
        letOrderedSetsGo()
    }

    /// Keeps an ordered set until the next save: making it anew costs more the more is in it.
    func keep(_ set: MutableOrderedSetProxy) {
        set.isKept = true
        orderedSets.append(set)
    }

    private func letOrderedSetsGo() {
        for set in orderedSets { set.isKept = false }
        (orderedSets, latestOrderedSet) = ([], nil)
    }

    /// The objects in one of the states, each once.
    func objects(_ state: ObjectState) -> [NSManagedObject] { objects.filter { $0.state.contains(state) } }
}
