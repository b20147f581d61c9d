import Foundation

/// Lets saves pass, and knows when none is under way. Closed, it refuses new ones, and lets those end that have begun.
final class SaveGate: Sendable {
    private struct State {
        var count = 0
        var refusal: CoreDataStack.Error?
        var whenEmpty: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Guarded(State())

    /// Runs a save of one layer.
    ///
    /// - Parameter isOnTheWay: whether it is part of one that has been let in already.
    /// - Throws: why the gate is closed; what `save` throws.
    func pass<Result>(isOnTheWay: Bool, _ save: () throws -> Result) throws -> Result {
        if isOnTheWay { enter() } else { try begin() }
        defer { leave() }
        return try save()
    }

    /// A save begins, which ends with `leave()`, after all layers.
    ///
    /// - Throws: why the gate is closed.
    func begin() throws {
        let refusal = state.with { state in
            if state.refusal == nil { state.count += 1 }
            return state.refusal
        }
        if let refusal { throw refusal }
    }

    /// A save that was let in goes on elsewhere.
    func enter() { state.with { $0.count += 1 } }

    func leave() {
        let waiting: [CheckedContinuation<Void, Never>] = state.with { state in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.whenEmpty = [] }
            return state.whenEmpty
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Closes the gate; from then on new saves throw `refusal`.
    ///
    /// - Throws: why it is closed already.
    func close(_ refusal: CoreDataStack.Error) throws {
        let earlier = state.with { state in
            defer { if state.refusal == nil { state.refusal = refusal } }
            return state.refusal
        }
        if let earlier { throw earlier }
    }

    /// Closes the gate, until it is opened because that was too early; false where it was closed for good before.
    ///
    /// - Throws: why it is closed for now.
    func closeForGood() throws -> Bool {
        do {
            try close(.stackWasClosed)
            return true
        } catch CoreDataStack.Error.stackWasClosed {
            return false
        }
    }

    var isClosedForGood: Bool { state.with { $0.refusal == .stackWasClosed } }

    /// Waits until every save that has begun is in the store, or has failed. The gate must be closed.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.with { state in
                if state.count > 0 { state.whenEmpty.append(continuation) }
                return state.count == 0
            }
            if isEmpty { continuation.resume() }
        }
    }

    func open() { state.with { $0.refusal = nil } }
}
