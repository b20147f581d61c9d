/// One save of a child context, as its parent keeps it until it is in the store or goes back.
package final class ChildSave: Sendable {
    package enum Outcome: Sendable {
        case waiting
        case saved
        /// It was taken out again, and is among the unsaved changes of its context once more.
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
    }

    let changes: ChangeSet
    /// The saves of the child's own children that went up with it, in order.
    let parts: [Part]
    weak let source: NSManagedObjectContext?
    private let state = Lock(State())

    init(_ changes: ChangeSet, _ parts: [Part], from source: NSManagedObjectContext?) {
        self.changes = changes
        self.parts = parts
        self.source = source
    }

    package var outcome: Outcome { state.withLock(\.outcome) }

    /// Whether somebody reports what becomes of it, so that nobody else has to.
    var isAwaited: Bool { state.withLock(\.isAwaited) }

    /// What becomes of it is reported by the caller.
    package func beAwaited() { state.withLock { $0.isAwaited = true } }

    func end(_ outcome: Outcome) { state.withLock { $0.outcome = outcome } }

    /// The save, and all saves that are in it.
    func endAll(_ outcome: Outcome) {
        for part in parts { part.save.endAll(outcome) }
        end(outcome)
    }
}

/// What a context is told that keeps the saves of its children.
package struct ChildSaveKeeper: Sendable {
    /// Makes a context to which changes go back whose own is gone.
    let makeContext: @Sendable () -> NSManagedObjectContext?
    /// Hears of each save that went back and that nobody waits for.
    let report: @Sendable (any Error) -> Void
    /// Called before and after saves are on their way back.
    let willReturn: @Sendable () -> Void
    let didReturn: @Sendable () -> Void

    package init(
        makeContext: @escaping @Sendable () -> NSManagedObjectContext?,
        report: @escaping @Sendable (any Error) -> Void,
        willReturn: @escaping @Sendable () -> Void,
        didReturn: @escaping @Sendable () -> Void
    ) {
        (self.makeContext, self.report, self.willReturn, self.didReturn) = (makeContext, report, willReturn, didReturn)
    }
}

/// The saves of children that a context keeps: those that wait for its next save, and those that its save under way is writing.
struct ChildSaves {
    /// Nil for a context that does not keep them.
    var keeper: ChildSaveKeeper?
    var waiting: [ChildSave.Part] = []
    private var inSave: [ChildSave.Part] = []
    /// Saves that have come back to this context, or by it to its children.
    var returned: [ReturnedSave] = []

    var isEmpty: Bool { waiting.isEmpty && inSave.isEmpty && returned.isEmpty }

    mutating func add(_ save: ChildSave) { waiting.append(ChildSave.Part(save: save, changes: save.changes, isSingle: save.parts.isEmpty)) }

    /// A save begins: it takes along what waits.
    mutating func beginSave() { (inSave, waiting) = (inSave + waiting, []) }

    /// The save has succeeded.
    mutating func takeSaved() -> [ChildSave.Part] {
        defer { inSave = [] }
        return inSave
    }

    /// The save is over: what it has not written waits for the next.
    mutating func endSave() { (waiting, inSave) = (inSave + waiting, []) }

    /// What the save under way takes along.
    var parts: [ChildSave.Part] { inSave }

    mutating func takeAll() -> [ChildSave.Part] {
        defer { (waiting, inSave) = ([], []) }
        return inSave + waiting
    }
}

extension NSManagedObjectContext {
    /// From now on the context knows which save of a child has brought which of its unsaved changes.
    package func keepChildSaves(_ keeper: ChildSaveKeeper) { children.withLock { $0.saves.keeper = keeper } }

    var childSaveKeeper: ChildSaveKeeper? { children.withLock(\.saves.keeper) }

    /// Whether saves of children wait in this context.
    package var hasChildSaves: Bool { children.withLock { !$0.saves.waiting.isEmpty } }

    /// The context's latest save into its parent that had changes; nil where the parent keeps none.
    package var keptSave: ChildSave? { (parentLink?.source as? ParentContext)?.keptSave }

    /// Notes what a child has saved; on the queue, or as its guest.
    func keep(_ changes: ChangeSet, from child: NSManagedObjectContext?) -> ChildSave? {
        guard childSaveKeeper != nil else { return nil }
        let save = ChildSave(changes, child?.children.withLock(\.saves.parts) ?? [], from: child)
        children.withLock { $0.saves.add(save) }
        return save
    }

    func beginChildSaves() {
        if hasHadChildren { children.withLock { $0.saves.beginSave() } }
    }

    /// What this context has saved is in the store where that is its parent, else it waits further up.
    func noteChildSavesSaved(_ isInStore: Bool) {
        guard hasHadChildren else { return }
        let saved = children.withLock { $0.saves.takeSaved() }
        if isInStore { for part in saved { part.save.endAll(.saved) } }
    }

    func endChildSaves() {
        if hasHadChildren { children.withLock { $0.saves.endSave() } }
    }

    /// The changes that children have saved are dropped with all others.
    func forgetChildSaves() {
        guard hasHadChildren else { return }
        for part in children.withLock({ $0.saves.takeAll() }) { part.save.endAll(.discarded) }
    }
}
