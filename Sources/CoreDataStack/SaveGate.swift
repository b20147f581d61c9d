import Foundation

/// Lets saves pass, and knows when none is under way. Closed, it refuses new ones, and lets those end that have begun.
final class SaveGate: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
        var whenEmpty: CheckedContinuation<Void, Never>?
    }
    private let state = Guarded(State())

    /// Runs a save.
    ///
    /// - Parameter isOnTheWay: whether it is part of one that has passed already.
    /// - Throws: `CoreDataStack.Error.storeWasReset` where the gate is closed; what `save` throws.
    func pass(isOnTheWay: Bool, _ save: () throws -> Void) throws {
        let isLetIn = state.with { state in
            guard isOnTheWay || !state.isClosed else { return false }
            state.count += 1
            return true
        }
        guard isLetIn else { throw CoreDataStack.Error.storeWasReset }
        defer { leave() }
        try save()
    }

    /// A save that has passed goes on elsewhere.
    func enter() { state.with { $0.count += 1 } }

    func leave() {
        let waiting: CheckedContinuation<Void, Never>? = state.with { state in
            state.count -= 1
            guard state.count == 0 else { return nil }
            defer { state.whenEmpty = nil }
            return state.whenEmpty
        }
        waiting?.resume()
    }

    /// Closes the gate; false where it is closed already.
    func close() -> Bool {
        state.with { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
    }

    /// Waits until every save that has begun is in the store, or has failed. The gate must be closed.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.with { state in
                if state.count > 0 { state.whenEmpty = continuation }
                return state.count == 0
            }
            if isEmpty { continuation.resume() }
        }
    }

    func open() { state.with { $0.isClosed = false } }
}
