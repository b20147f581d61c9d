import DequeModule

/// What a context is told that keeps the saves of its children.
package struct ChildSaveKeeper: Sendable {
    /// Makes a context to which changes go back whose own is gone.
    let makeContext: @Sendable () -> NSManagedObjectContext?
    /// Throws where a save would not be taken on to the store any more.
    let admit: @Sendable () throws -> Void
    /// Hears of each save that went back and that nobody waits for.
    let report: @Sendable (any Error) -> Void
    /// Called before and after saves are on their way back.
    let willReturn: @Sendable () -> Void
    let didReturn: @Sendable () -> Void

    package init(
        makeContext: @escaping @Sendable () -> NSManagedObjectContext?,
        admit: @escaping @Sendable () throws -> Void,
        report: @escaping @Sendable (any Error) -> Void,
        willReturn: @escaping @Sendable () -> Void,
        didReturn: @escaping @Sendable () -> Void
    ) {
        (self.makeContext, self.admit, self.report) = (makeContext, admit, report)
        (self.willReturn, self.didReturn) = (willReturn, didReturn)
    }
}

/// The saves of children that a context keeps: those that wait for its next save, and those that its save under way is writing.
struct ChildSaves {
    /// Nil for a context that does not keep them.
    var keeper: ChildSaveKeeper?
    /// Whether what this context itself saves always goes on to the store.
    var goesOn = false
    /// What it saved last.
    weak var latest: ChildSave?
    private var saved: Deque<Weak> = []
    /// What it has saved since somebody began to take note of that.
    var noted: [ChildSave]?
    var waiting: [ChildSave.Part] = []
    private var inSave: [ChildSave.Part] = []
    /// Saves that have come back to this context, or by it to its children.
    var returned: [ReturnedSave] = []

    private struct Weak {
        weak var save: ChildSave?
        var isUnsettled: Bool { save?.isUnsettled == true }
    }

    /// The context has saved.
    mutating func noteSaved(_ save: ChildSave) {
        latest?.isFollowed(by: save)
        latest = save
        while saved.first?.isUnsettled == false { saved.removeFirst() }
        saved.append(Weak(save: save))
    }

    /// What the context has saved, and is neither in the store nor has come back yet; the earliest first.
    var unsettled: [ChildSave] { saved.filter(\.isUnsettled).compactMap(\.save) }

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

    /// What is among the context's unsaved changes: during a save, the rest waits beside it.
    mutating func takeHeld(isSaving: Bool) -> [ChildSave.Part] {
        guard isSaving else { return takeAll() }
        return takeSaved()
    }

    /// Puts back what is left of what was held.
    mutating func hold(_ parts: [ChildSave.Part], isSaving: Bool) {
        if isSaving { inSave = parts + inSave } else { waiting = parts + waiting }
    }
}
