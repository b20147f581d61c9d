/// Who wants to know of commits into a database, as far as they come from this process.
final class CommitSignals: Sendable {
    private struct Weak {
        weak var watch: StoreWatch?
    }
    private let watches = Lock<[Weak]>([])

    func add(_ watch: StoreWatch) {
        watches.withLock { watches in
            watches.removeAll { $0.watch == nil }
            watches.append(Weak(watch: watch))
        }
    }

    /// Something is committed. Called in a turn to write: nobody is called from here, only woken.
    func signal() { for watch in watches.withLock({ $0.compactMap(\.watch) }) { watch.wake() } }
}
