import Synchronization

/// New objects whose saves have gone back, and why, until they are saved again. One for all contexts of a tree.
///
/// A context that has seen such an object may refer to it before it hears of that: what it saves then cannot be saved either.
final class ReturnedReferences: Sendable {
    private struct State {
        var causes: [RowReference: any Error] = [:]
        /// From how many on it is worth looking for some that nobody names.
        var limit = ReturnedReferences.smallestLimit
    }
    private static let smallestLimit = 4096

    private let state = Lock(State())
    private let hasAny = Atomic(false)

    /// - Returns: whether there are so many that it is worth forgetting some.
    func add(_ references: [RowReference], _ cause: any Error) -> Bool {
        guard !references.isEmpty else { return false }
        return change { state in
            for reference in references { state.causes[reference] = cause }
            return state.causes.count > state.limit
        }
    }

    /// They are saved again.
    func remove(_ references: @autoclosure () -> [RowReference]) {
        guard !isEmpty else { return }
        change { state in for reference in references() { state.causes[reference] = nil } }
    }

    /// Forgets those of whose temporary keys nobody can speak any more.
    func removeUnnamed(_ named: KeyRanges) {
        guard !isEmpty else { return }
        change { state in
            state.causes = state.causes.filter { $0.key.key > 0 || named.contains($0.key.key) }
            state.limit = max(Self.smallestLimit, 2 * state.causes.count)
        }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            defer { hasAny.store(!state.causes.isEmpty, ordering: .releasing) }
            return body(&state)
        }
    }

    var isEmpty: Bool { !hasAny.load(ordering: .acquiring) }
    var count: Int { state.withLock(\.causes.count) }

    /// Why the save of an object has gone back.
    subscript(_ reference: RowReference) -> (any Error)? { state.withLock { $0.causes[reference] } }
}
