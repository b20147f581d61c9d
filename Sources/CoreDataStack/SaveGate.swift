import Foundation

/// Lets saves pass, and knows when none is under way. Closed, it refuses new ones, and lets those end that have begun.
final class SaveGate: Sendable {
    private struct State {
        var count = 0
        var refusal: CoreDataStack.Error?
        /// How many are about to close it for good.
        var closers = 0
        var isClosedForGood = false
        var whenEmpty: [CheckedContinuation<Void, Never>] = []
        /// Who waits until it is open again.
        var whenOpen: [CheckedContinuation<Void, Never>] = []

        /// Whether it is closed for a while.
        var isShut: Bool { refusal != nil && refusal != .stackWasClosed }

        mutating func takeWaitingForOpening() -> [CheckedContinuation<Void, Never>] {
            guard !isShut else { return [] }
            defer { whenOpen = [] }
            return whenOpen
        }
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

    /// Runs a task's `begin()`. It gives up its thread before it throws: whoever has closed the gate may need that one, and the task may try again
    /// without a pause.
    ///
    /// - Throws: what `begin` throws.
    static func admit<Admission: Sendable>(_ begin: () throws -> Admission) async throws -> Admission {
        do { return try begin() } catch {
            await Task.yield()
            throw error
        }
    }

    /// - Throws: why the gate is closed.
    func check() throws {
        if let refusal = state.with(\.refusal) { throw refusal }
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

    /// As `beginClosing()`, after whatever keeps it closed for a while.
    func beginClosingOnceOpen() async -> Bool {
        while true {
            await withCheckedContinuation { continuation in
                let isShut = state.with { state in
                    if state.isShut { state.whenOpen.append(continuation) }
                    return state.isShut
                }
                if !isShut { continuation.resume() }
            }
            // It throws only where it is shut again by now.
            if let isFirst = try? beginClosing() { return isFirst }
        }
    }

    var isClosedForGood: Bool { state.with { $0.isClosedForGood } }

    /// Closes the gate, for good if `endClosing` says so; false where it was closed for good before. Several may be at it: each of them sees to
    /// everything that is under way.
    ///
    /// - Throws: why it is closed for now.
    func beginClosing() throws -> Bool {
        let earlier: CoreDataStack.Error? = state.with { state in
            if let refusal = state.refusal, state.closers == 0 { return refusal }
            state.refusal = .stackWasClosed
            state.closers += 1
            return nil
        }
        if let earlier, earlier != .stackWasClosed { throw earlier }
        return earlier == nil
    }

    /// - Parameter isForGood: false where something is still to be saved: unless others are at it, the gate is open again.
    func endClosing(isForGood: Bool) {
        state.with { state in
            state.closers -= 1
            if isForGood { state.isClosedForGood = true }
            if !state.isClosedForGood, state.closers == 0 { state.refusal = nil }
        }
    }

    /// Closes the gate for good, whatever is under way.
    func closeForGood() {
        let waiting = state.with { state in
            (state.refusal, state.isClosedForGood) = (.stackWasClosed, true)
            return state.takeWaitingForOpening()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Whether it is closed for a while.
    var isShut: Bool { state.with { $0.isShut } }

    /// Whether it is closed for good, or will be if nothing fails.
    var isClosing: Bool { state.with { $0.refusal == .stackWasClosed } }

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

    /// Opens the gate, unless it was closed for good meanwhile.
    func open() {
        let waiting = state.with { state in
            if !state.isClosedForGood { state.refusal = nil }
            return state.takeWaitingForOpening()
        }
        for continuation in waiting { continuation.resume() }
    }
}
