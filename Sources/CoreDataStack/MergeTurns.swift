import CoreData

/// Changes of others on their way into main, in order: one part a turn of its queue, and whoever waits for that queue comes in between.
final class MergeTurns: Sendable {
    private struct State {
        var waiting: ArraySlice<HistoryPart> = []
        var isUnderWay = false
    }
    private let state = Guarded(State())

    func add(_ parts: [HistoryPart], to main: StackContext) {
        let isFirst = state.with { state in
            state.waiting += parts
            if state.isUnderWay || state.waiting.isEmpty { return false }
            state.isUnderWay = true
            return true
        }
        if isFirst { mergeNext(into: main) }
    }

    private func mergeNext(into main: StackContext) {
        main.perform { [self] in
            guard let part = next() else { return }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: part.changes, into: [main])
            mergeNext(into: main)
        }
    }

    private func next() -> HistoryPart? {
        state.with { state in
            let part = state.waiting.popFirst()
            if part == nil { state.isUnderWay = false }
            return part
        }
    }

    /// They are of a store that is there no more.
    func forget() { state.with { $0.waiting = [] } }
}
