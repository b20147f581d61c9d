import CoreData

/// Changes of others on their way into main, in order: one part a turn of its queue, and whoever waits for that queue comes in between.
final class MergeTurns: Sendable {
    private struct State {
        var waiting: ArraySlice<BatchSave> = []
        var isUnderWay = false
    }
    private let state = Guarded(State())

    func add(_ parts: [BatchSave], to main: StackContext) {
        let isFirst = state.with { state in
            state.waiting += parts
            defer { state.isUnderWay = !state.waiting.isEmpty }
            return !state.isUnderWay && !state.waiting.isEmpty
        }
        if isFirst { mergeNext(into: main) }
    }

    private func mergeNext(into main: StackContext) {
        main.perform { [self] in
            guard let part = next() else { return }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: part.info, into: [main])
            mergeNext(into: main)
        }
    }

    private func next() -> BatchSave? {
        state.with { state in
            let part = state.waiting.popFirst()
            if part == nil { state.isUnderWay = false }
            return part
        }
    }

    /// They are of a store that is there no more.
    func forget() { state.with { $0.waiting = [] } }
}
