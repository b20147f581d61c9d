import Foundation

extension NSManagedObject {
    /// The context that the object is registered with; nil after its delete was saved, and after its context is gone.
    public final var managedObjectContext: NSManagedObjectContext? { registeredContext }

    public final var entity: NSEntityDescription { scope.entity }

    /// The object's identity: a temporary ID until its first save, a permanent one from then on. An ID that somebody holds stays as it is.
    /// May be asked for off the queue.
    public final var objectID: NSManagedObjectID {
        // Elsewhere nothing of the object may be written, so the ID is not kept.
        if let context = registeredContext, !context.isUsableHere { return unkeptID }
        if key < 0 { registeredContext?.catchUp() }
        if let id = existingExtras?.objectID { return id }
        let id = scope.foreignID ?? NSManagedObjectID(identity)
        extras.objectID = id
        return id
    }

    private var unkeptID: NSManagedObjectID {
        scope.foreignID ?? NSManagedObjectID(RowIdentity(rowReference, in: scope.unkeptIDs(temporary: key < 0)))
    }

    /// The next save writes a new row; in `didSave()`, whether the save that is over did.
    public final var isInserted: Bool { state.contains(.inserted) || state.intersection(.ofSave) == .insertionSaved }
    /// A setter ran since the last save, also one that set an equal value; in `didSave()`, whether one had before the save that is over.
    public final var isUpdated: Bool { state.contains(.updated) || state.intersection(.ofSave) == .updateSaved }
    /// The next save deletes the row; in `didSave()`, and where a context tells of its save, whether the save that is over did. False from then on,
    /// when `managedObjectContext` is nil.
    public final var isDeleted: Bool { state.contains(.deleted) || state.isSuperset(of: .deletionSaved) }
    /// Whether the object is inserted, updated, or deleted, as the three say.
    public final var hasChanges: Bool { !state.isDisjoint(with: .pending.union(.ofSave)) }

    /// Whether a persistent property differs from what was last fetched or saved. Fires no fault.
    public final var hasPersistentChangedValues: Bool {
        checkReading()
        if state.contains(.inserted) { return true }
        return !effectiveChanges.isEmpty || hasChangedToManys
    }

    /// The changed slots whose values differ from the committed row.
    final var effectiveChanges: SlotMask { changes(from: committedRow) }

    /// The changed slots whose values differ from those of the committed row.
    final func changes(from committed: Row?) -> SlotMask {
        guard let committed else { return changedSlots }
        var slots = currentRow.differences(from: committed, among: changedSlots)
        if slots.isEmpty { return slots }
        for slot in committed.layout.referenceSlots where slots.contains(slot) && leadsToTheSame(as: committed, slot) { slots.remove(slot) }
        return slots
    }

    /// Whether a reference differs from the committed one only in that its target has got a permanent ID since.
    private func leadsToTheSame(as committed: Row, _ slot: Int) -> Bool {
        guard let old = committed.reference(slot), let new = reference(slot), old.key < 0, new.key > 0 else { return false }
        return registeredContext?.forwarded(old) == new
    }

    /// The changed slots that keep their values when another row comes under them. An attribute that was set to the value that it had is no edit:
    /// what others have saved of it counts. A relationship is changed only where it was another, or where the other end said so.
    final var editedSlots: SlotMask {
        guard let committed = committedRow else { return changedSlots }
        let shape = scope.shape
        var slots = changedSlots
        changedSlots.forEach { slot in
            if shape.attributes[slot] != nil, currentRow.equals(committed, at: slot) { slots.remove(slot) }
        }
        return slots
    }

    /// The to-one relationships that were set, also to what they were.
    final var statedReferences: SlotMask { SlotMask(changedSlots.filter(scope.shape.layout.referenceSlots)) }

    final func forEachChangedToMany(_ body: (Int, ToManyContents) -> Void) {
        existingExtras?.forEachToMany { if $0.hasChanges { body($0.index, $0) } }
    }

    final var hasChangedToManys: Bool {
        var hasChanges = false
        existingExtras?.forEachToMany { hasChanges = hasChanges || $0.hasChanges }
        return hasChanges
    }

    /// The persistent properties that differ from what was last fetched or saved, with their new values; nil as `NSNull`.
    public final func changedValues() -> [String: Any] {
        checkReading()
        var values: [String: Any] = [:]
        var changes = state.contains(.inserted) ? slotsOfNew : effectiveChanges
        if let extras = existingExtras { changes = changes.subtracting(extras.quietChanges.subtracting(noticedSlots)) }
        changes.forEach { noteValue(of: $0, in: &values) }
        forEachChangedToMany { index, _ in noteMembers(of: index, in: &values) }
        return values
    }

    /// What was set here, and what others have set of a new object that came from them: it differs from what objects begin with.
    private var slotsOfNew: SlotMask {
        let shape = scope.shape
        return changedSlots.union(currentRow.differences(from: Row(shape.defaults), among: SlotMask(shape.layout.slots.indices)))
    }

    private func noteMembers(of index: Int, in values: inout [String: Any]) {
        let relationship = scope.shape.toManys[index]
        values[relationship.name] = Self.collection(members(of: index), relationship)
    }

    private func noteValue(of slot: Int, in values: inout [String: Any]) {
        guard scope.shape.layout.kinds[slot] != .position else { return }
        let name = scope.shape.layout.slots[slot].name
        values[name] = storedValue(forKey: name) ?? NSNull()
    }

    /// The properties changed since the context last processed its pending changes, with their new values; nil as `NSNull`.
    ///
    /// While ObjectsDidChange is posted: those of the event that it tells of.
    public final func changedValuesForCurrentEvent() -> [String: Any] {
        checkReading()
        guard state.contains(.touched) || registeredContext?.isAnnouncing(self) == true else { return [:] }
        var values: [String: Any] = [:]
        // Of a new object that came from a child nothing was set here.
        let slots = state.contains(.inserted) && changedSlots.isEmpty ? slotsOfNew : slotsOfEvent
        slots.forEach { noteValue(of: $0, in: &values) }
        existingExtras?.toManysOfEvent.forEach { noteMembers(of: $0, in: &values) }
        return values
    }

    /// The persistent values as last fetched or saved, nil as `NSNull`; all of them with nil. Empty for an object never saved.
    public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
        checkReading()
        if state.contains(.fault) { fire() }
        guard let base = committedRow else { return [:] }
        let names = keys ?? scope.shape.properties.filter(\.value.isStored).map(\.key)
        return Dictionary(names.map { ($0, committedValue($0, base) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
    }

    private func committedValue(_ name: String, _ base: Row) -> Any? {
        switch property(named: name) {
        case .attribute(let slot, let attribute): readable(base.value(slot), attribute)
        case .toOne(let slot, _): base.reference(slot).flatMap { registeredContext?.object(for: $0) }
        case .toMany(let index, let relationship):
            realizedContents(index).committed.map { Self.collection($0, relationship) }
        case .transient, .fetched: nil
        }
    }

    /// The IDs of a relationship's objects, read without firing the objects. Always an array.
    public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        switch property(named: key) {
        case .toOne(let slot, _): target(slot).map { [$0.objectID] } ?? []
        case .toMany(let index, _): members(of: index).map(\.objectID)
        default: []
        }
    }

    /// The values that the object has, without firing a fault; off the queue, only its identity.
    final var debugText: String {
        let head =
            "<\(type(of: self)): entity: \(scope.entity.name ?? "?"), id: \(state.contains(.detached) ? "none" : objectID.description)"
        if let context = registeredContext, !context.isUsableHere { return head + ", data: <on the queue of its context>>" }
        if isFault { return head + ", data: <fault>>" }
        let values = scope.shape.attributes.enumerated().compactMap { slot, attribute in
            attribute.map { "\($0.name): \(attributeValue(slot, $0).map(Self.debugText(of:)) ?? "nil")" }
        }
        return head + ", data: {\(values.joined(separator: ", "))}>"
    }

    // NB: a date that is no number traps on Linux where it is printed.
    static func debugText(of value: Any) -> String {
        if let date = value as? Date, date.timeIntervalSinceReferenceDate.isNaN { return "nan" }
        return "\(value)"
    }
}
