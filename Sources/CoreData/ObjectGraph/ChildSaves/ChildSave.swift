/// One save of a child context, as its parent keeps it until it is in the store or goes back.
package final class ChildSave: Sendable {
    package enum Outcome: Sendable {
        case waiting
        case saved
        /// It was taken out again, and is on its way back.
        case returning(any Error)
        /// It is among the unsaved changes of its context once more.
        case returned(any Error)
        /// Somebody has thrown it away.
        case discarded
    }

    /// A save as a whole, or what the child itself has done in it.
    struct Part {
        let save: ChildSave
        let changes: ChangeSet
        /// Whether it cannot be divided further.
        var isSingle: Bool
    }

    private struct State {
        var outcome = Outcome.waiting
        var isAwaited = false
        var goesOn = false
        var next: ChildSave?
    }

    let changes: ChangeSet
    /// The saves of the child's own children that went up with it, in order.
    let parts: [Part]
    weak let source: NSManagedObjectContext?
    private let state: Lock<State>

    init(_ changes: ChangeSet, _ parts: [Part], from source: NSManagedObjectContext?, goesOn: Bool) {
        self.changes = changes
        self.parts = parts
        self.source = source
        state = Lock(State(goesOn: goesOn))
    }

    package var outcome: Outcome { state.withLock(\.outcome) }

    /// Whether its context may hear of it yet.
    package var isUnsettled: Bool {
        switch outcome {
        case .waiting, .returning: true
        case .saved, .returned, .discarded: false
        }
    }

    var isReturning: Bool { if case .returning = outcome { true } else { false } }

    /// Whether somebody reports what becomes of it, so that nobody else has to.
    var isAwaited: Bool { state.withLock(\.isAwaited) }

    /// What becomes of it is reported by the caller.
    package func beAwaited(_ isAwaited: Bool = true) { state.withLock { $0.isAwaited = isAwaited } }

    /// Whether whoever saved it takes it on to the store: then it is not the parent's to drop.
    var goesOn: Bool { state.withLock(\.goesOn) }

    /// Nobody takes it on any more: it is one of its parent's unsaved changes, as any other.
    package func stay() { state.withLock { $0.goesOn = false } }

    func end(_ outcome: Outcome) { state.withLock { $0.outcome = outcome } }

    /// The context has saved again: this save keeps that one, as it may come back and must know what was saved since.
    func isFollowed(by next: ChildSave) { state.withLock { $0.next = next } }

    /// This save, and all that its context has saved since.
    var andLater: some Sequence<ChildSave> { sequence(first: self) { $0.state.withLock(\.next) } }

    /// What of it is in a store, or waits to be: without what has gone back or was thrown away of the saves that it consists of.
    func standing(newest: @escaping (RowReference) -> RowReference) -> [ChangeSet] {
        let inParts = parts.flatMap { $0.save.standing(newest: newest) }
        guard isStanding else { return inParts }
        if parts.isEmpty { return [changes] }
        return inParts + [ChangeSetRemainder(of: changes, beyond: parts.map(\.changes), newest: newest) { _ in nil }.changes]
    }

    private var isStanding: Bool {
        switch outcome {
        case .waiting, .saved: true
        case .returning, .returned, .discarded: false
        }
    }

    /// The save, and all saves that are in it.
    func endAll(_ outcome: Outcome) {
        for part in parts { part.save.endAll(outcome) }
        end(outcome)
    }

    // One after the other: a long row of saves would overflow the stack.
    deinit {
        var next = state.withLock { $0.next.take() }
        while var save = next.take(), isKnownUniquelyReferenced(&save) { next = save.state.withLock { $0.next.take() } }
    }
}

extension ChildSave.Part {
    /// The saves that a save consists of, and what the child itself has changed.
    ///
    /// - Parameter context: the one in which they wait: what it knows to be saved was not undone.
    func divided(in context: NSManagedObjectContext) -> [ChildSave.Part] {
        guard !isSingle else { return [self] }
        let parts = save.parts.flatMap { $0.divided(in: context) }
        let parted = parts.map(\.changes)
        let rest = ChangeSetRemainder(of: changes, beyond: parted, newest: context.forwarded, current: context.savedRow).changes
        if rest.changesNothing {
            save.end(.saved)
            return parts
        }
        return parts + [ChildSave.Part(save: save, changes: rest, isSingle: true)]
    }

    /// Whether it is what a context has changed itself that took its children's saves along.
    var isOfContextBetween: Bool { isSingle && !save.parts.isEmpty }
}

extension NSManagedObjectContext {
    /// From now on the context knows which save of a child has brought which of its unsaved changes.
    package func keepChildSaves(_ keeper: ChildSaveKeeper) { children.withLock { $0.saves.keeper = keeper } }

    /// Its own, or that of the contexts above.
    var childSaveKeeper: ChildSaveKeeper? { children.withLock(\.saves.keeper) ?? parent?.childSaveKeeper }

    /// Whether saves of children wait in this context.
    package var hasChildSaves: Bool { children.withLock { !$0.saves.waiting.isEmpty } }

    /// What the context has saved, and is neither in the store nor has come back yet.
    package var unsettledSaves: [ChildSave] { children.withLock(\.saves.unsettled) }

    /// The context's latest save into its parent that had changes; nil where the parent keeps none.
    package var keptSave: ChildSave? { (parentLink?.source as? ParentContext)?.keptSave }

    /// Notes what a child has saved; on the queue, or as its guest.
    func keep(_ changes: ChangeSet, from child: NSManagedObjectContext?) -> ChildSave? {
        let made: ChildSave? = child?.children.withLock { links in
            let save = ChildSave(changes, links.saves.parts, from: child, goesOn: links.saves.goesOn || links.saves.noted != nil)
            links.saves.noteSaved(save)
            if links.saves.noted == nil { return save }
            // From the beginning: it may have ended before its own save has.
            save.beAwaited()
            links.saves.noted?.append(save)
            return save
        }
        let save = made ?? ChildSave(changes, [], from: nil, goesOn: false)
        return children.withLock { links in
            guard links.saves.keeper != nil || save.goesOn else { return nil }
            links.saves.add(save)
            return save
        }
    }

    /// - Throws: why what a child saves would not be taken on. Where the child itself sees to that, it was asked before.
    func admitSave(of child: NSManagedObjectContext?) throws {
        guard let keeper = children.withLock(\.saves.keeper) else { return }
        let goesOn = child?.children.withLock { $0.saves.goesOn || $0.saves.noted != nil } ?? false
        if !goesOn { try keeper.admit() }
    }

    func beginChildSaves() {
        if hasHadChildren { children.withLock { $0.saves.beginSave() } }
    }

    /// What this context has saved is in the store where that is its parent, else it waits further up.
    /// - Parameter deleted: what the save has deleted.
    /// - Returns: what of it no child knows of, though one has decided on a delete: only who asks a store finds all that a delete rule takes along.
    @discardableResult
    func noteChildSavesSaved(_ isInStore: Bool, deleted: [NSManagedObject] = []) -> SavedReferences {
        guard hasHadChildren else { return SavedReferences() }
        let saved = children.withLock { $0.saves.takeSaved() }
        if isInStore { for part in saved { part.save.endAll(.saved) } }
        guard !deleted.isEmpty, parentSource.isStoreSide else { return SavedReferences() }
        let known = Set(saved.lazy.flatMap(\.changes.deletedReferences).map { self.forwarded($0).identity })
        guard !known.isEmpty else { return SavedReferences() }
        return SavedReferences(deleted: deleted.map(\.rowReference).filter { !known.contains($0.identity) })
    }

    /// Without unsaved changes, what children have saved has come to nothing, as where one deletes what it has inserted.
    package func endChildSavesOfNothing() {
        guard hasHadChildren, !hasChanges, !isSaving, incoming == nil else { return }
        for part in children.withLock({ $0.saves.takeAll() }) { part.save.endAll(.saved) }
    }

    func endChildSaves() {
        if hasHadChildren { children.withLock { $0.saves.endSave() } }
    }

    /// What the context saves is always taken on to the store.
    package func letSavesGoOn() { children.withLock { $0.saves.goesOn = true } }

    /// Runs a save of which the caller takes what was saved on to the store, and reports what becomes of it.
    ///
    /// - Returns: what was saved, as far as the parent keeps it.
    package func noteSaves<Result>(_ save: () throws -> Result) throws -> (result: Result, saves: [ChildSave]) {
        // An observer of the save may save as well.
        let outer = children.withLock { links in
            defer { links.saves.noted = [] }
            return links.saves.noted
        }
        do {
            return (try save(), takeNotedSaves(outer))
        } catch {
            for save in takeNotedSaves(outer) { save.beAwaited(false) }
            throw error
        }
    }

    private func takeNotedSaves(_ outer: [ChildSave]?) -> [ChildSave] {
        children.withLock { links in
            defer { links.saves.noted = outer }
            return links.saves.noted ?? []
        }
    }

    /// Where the changes that children have saved are dropped with all others: whoever waits for them is told.
    package func giveUpChildSaves() {
        guard hasHadChildren else { return }
        for part in children.withLock({ $0.saves.takeAll() }) { part.save.endAll(.discarded) }
    }
}
