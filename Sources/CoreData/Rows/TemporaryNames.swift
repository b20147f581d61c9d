import Synchronization

/// What the contexts of one tree may still name by temporary keys: keys of their own objects, and what they heard of from each other.
///
/// May say too much of a context, never too little. It says less of one only at its own request, and while nobody is on the way with names
/// that are in no context yet.
final class TemporaryNames: Sendable {
    /// One context's share.
    final class Holder: Sendable {
        // Guarded by the lock of the names.
        nonisolated(unsafe) fileprivate var keys = KeyRanges()
        fileprivate let changes = Atomic(0)
        /// Another one whenever the keys have changed.
        var version: Int { changes.load(ordering: .acquiring) }
        /// The latest round in which it has said anew what it names.
        fileprivate let round = Atomic(0)
    }

    private let holders = Lock<[Holder]>([])
    private let travellers = Atomic(0)
    private let currentRound = Atomic(0)

    func join() -> Holder {
        let holder = Holder()
        holders.withLock { $0.append(holder) }
        return holder
    }

    func leave(_ holder: Holder) { holders.withLock { $0.removeAll { $0 === holder } } }

    /// The holder names keys from now on.
    func add(_ keys: ClosedRange<Int64>, to holder: Holder) {
        holders.withLock { _ in if holder.keys.insert(keys) { holder.changes.add(1, ordering: .releasing) } }
    }

    /// What one may name, the other may from now on.
    func pass(from giver: Holder, to taker: Holder) {
        holders.withLock { _ in if taker.keys.formUnion(giver.keys) { taker.changes.add(1, ordering: .releasing) } }
    }

    /// Runs what carries names from one context to another, or has some that its context does not know.
    @inline(__always) func travelling<Result>(_ body: () throws -> Result) rethrows -> Result {
        travellers.add(1, ordering: .sequentiallyConsistent)
        defer { travellers.subtract(1, ordering: .sequentiallyConsistent) }
        return try body()
    }

    /// Whether the holder has been asked to say anew what it names, and may.
    func isDue(_ holder: Holder) -> Bool {
        holder.round.load(ordering: .relaxed) != currentRound.load(ordering: .relaxed) && !isTravelled
    }

    private var isTravelled: Bool { travellers.load(ordering: .sequentiallyConsistent) != 0 }

    /// This is all that the holder names. Called on the queue of its context, which nobody else asks meanwhile.
    func renew(_ holder: Holder, _ keys: KeyRanges) {
        holders.withLock { _ in
            guard !isTravelled else { return }
            holder.keys = keys
            holder.changes.add(1, ordering: .releasing)
            holder.round.store(currentRound.load(ordering: .relaxed), ordering: .relaxed)
        }
    }

    /// Asks all holders to say anew what they name.
    func askAnew() { currentRound.add(1, ordering: .relaxed) }

    /// Calls `body` with what all of them name; nobody names more before it returns.
    func withAll<Result>(_ body: (KeyRanges) -> Result) -> Result {
        holders.withLock { holders in
            var all = KeyRanges()
            for holder in holders { all.formUnion(holder.keys) }
            return body(all)
        }
    }
}
