import Synchronization

/// New objects whose saves have gone back, and why, until they are saved again. One for all contexts of a tree.
///
/// A context that has seen such an object may refer to it before it hears of that: what it saves then cannot be saved either.
final class ReturnedReferences: Sendable {
    private let causes = Lock<[RowReference: any Error]>([:])
    private let hasAny = Atomic(false)

    func add(_ references: [RowReference], _ cause: any Error) {
        guard !references.isEmpty else { return }
        causes.withLock { for reference in references { $0[reference] = cause } }
        hasAny.store(true, ordering: .releasing)
    }

    /// They are saved again.
    func remove(_ references: @autoclosure () -> [RowReference]) {
        guard !isEmpty else { return }
        causes.withLock { causes in
            for reference in references() { causes[reference] = nil }
            hasAny.store(!causes.isEmpty, ordering: .releasing)
        }
    }

    var isEmpty: Bool { !hasAny.load(ordering: .acquiring) }

    /// Why the save of an object has gone back.
    subscript(_ reference: RowReference) -> (any Error)? { causes.withLock { $0[reference] } }

    /// Forgets those of which nobody can speak any more.
    func removeAll(where isForgotten: (RowReference) -> Bool) {
        guard !isEmpty else { return }
        causes.withLock { causes in
            causes = causes.filter { !isForgotten($0.key) }
            hasAny.store(!causes.isEmpty, ordering: .releasing)
        }
    }
}
