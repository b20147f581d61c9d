/// What children have saved into a context and is on its way to the store, while the context drops what it has changed itself.
///
/// To whoever saved it, it is saved: a rollback or a reset in between must not lose it. What refers to an object that is dropped, since just the
/// context had inserted it, goes back to where it came from. Saves that nobody takes further are dropped.
struct KeptChildSaves {
    private let context: NSManagedObjectContext
    private let parts: [ChildSave.Part]
    /// What they have inserted.
    private let insertions: Set<RowReference>
    private var withdrawn: [NSManagedObject] = []
    private var gone = GoneObjects()
    private var kept: [ChildSave.Part] = []
    private var returned: [ReturnedSave] = []

    init(of context: NSManagedObjectContext) {
        self.context = context
        parts = Self.takeParts(of: context)
        insertions = Set(parts.flatMap { $0.changes.insertedReferences.map { context.forwarded($0).identity } })
    }

    private static func takeParts(of context: NSManagedObjectContext) -> [ChildSave.Part] {
        guard context.hasHadChildren else { return [] }
        if !context.isSaving {
            do { try context.takeIncoming() } catch { context.logFailure("taking what a child context saved during a save", error) }
        }
        let all = context.children.withLock { [isSaving = context.isSaving] in $0.saves.takeHeld(isSaving: isSaving) }
        for part in all where !part.save.goesOn { part.save.endAll(.discarded) }
        return all.filter(\.save.goesOn).map { part in
            ChildSave.Part(save: part.save, changes: part.changes.forwarded(context.forwarded), isSingle: part.isSingle)
        }
    }

    var isEmpty: Bool { parts.isEmpty }

    /// What saves that have gone back had changed.
    var givenBack: [RowReference] { returned.flatMap(\.changes.updatedReferences) }

    /// Takes a new object, which stays registered, out of the unsaved changes, if it will come back.
    mutating func withdraw(_ object: NSManagedObject) -> Bool {
        guard !insertions.isEmpty, insertions.contains(object.rowReference.identity) else { return false }
        context.tracker.forget(object)
        object.setChangedSlots(SlotMask())
        object.existingExtras?.forgetObjects()
        withdrawn.append(object)
        return true
    }

    /// What just the context itself has inserted.
    func own(of objects: some Sequence<NSManagedObject>) -> [RowReference] {
        objects.filter { $0.state.contains(.inserted) }.map(\.rowReference).filter { !insertions.contains($0.identity) }
    }

    /// The saves are among the unsaved changes again; the context has nothing else of its own now.
    ///
    /// - Parameter dropped: the objects that are gone for good.
    mutating func comeBack(without dropped: [RowReference]) {
        guard !isEmpty else { return }
        gone.add(dropped, SaveFailure.referenceToDropped(), in: context)
        for part in parts { comeBack(part) }
        context.children.withLock { [kept, isSaving = context.isSaving] in $0.saves.hold(kept, isSaving: isSaving) }
        context.leave(withdrawn.filter { $0.state.isDisjoint(with: .pending) && !$0.state.contains(.detached) })
        context.sendDown(returned)
    }

    /// As a whole, or, where objects are gone, as what it consists of, which may not all be able to stay.
    private mutating func comeBack(_ part: ChildSave.Part) {
        for part in gone.isEmpty ? [part] : part.divided(in: context) {
            if let cause = gone.cause(of: [part], in: context) { giveBack(part, cause) } else { receive(part) }
        }
    }

    private mutating func receive(_ part: ChildSave.Part) {
        // What a child itself has changed in a save of others goes on with what there still is.
        let changes = part.save.parts.isEmpty ? part.changes : gone.rest(of: part.changes, in: context)
        do {
            context.tellChildren(of: try context.receiveSilently(changes))
            kept.append(ChildSave.Part(save: part.save, changes: changes, isSingle: part.isSingle))
        } catch {
            giveBack(part, SaveFailure.reported(error))
        }
    }

    private mutating func giveBack(_ part: ChildSave.Part, _ cause: any Error) {
        // It goes back as a whole.
        part.save.endAll(.returned(cause))
        part.save.end(.returning(cause))
        gone.add(part.changes, cause, in: context)
        if let save = ReturnedSave(part.save, part.changes, cause, from: context) { returned.append(save) }
    }
}
