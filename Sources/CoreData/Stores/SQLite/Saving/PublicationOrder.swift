/// The order in which saves were committed. What became of them is told the row cache after their turns at the database, and so perhaps in another
/// order.
final class PublicationOrder: Sendable {
    private struct State {
        var committed = 0
        var published = 0
    }
    private let state = Lock(State())

    /// The number of a save that is committed. Called in its turn.
    func next() -> Int {
        state.withLock {
            $0.committed += 1
            return $0.committed
        }
    }

    /// Runs `body`, one at a time, with whether a later save came here before.
    func publish(_ number: Int, _ body: (_ isOvertaken: Bool) -> Void) {
        state.withLock {
            body($0.published > number)
            $0.published = max($0.published, number)
        }
    }
}
