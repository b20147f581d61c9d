import Synchronization

/// How often a context has changed what its children see of its objects. Written on its queue, read on theirs.
final class ChangeCount: Sendable {
    private let count = Atomic(0)

    var current: Int { count.load(ordering: .acquiring) }

    // One writer at a time: the context's queue.
    @inline(__always) func note() { count.store(count.load(ordering: .relaxed) &+ 1, ordering: .releasing) }
}

/// What a child context knows of changes in the contexts above: whether they may concern a row that it has read but not used yet.
final class ChangesAbove {
    /// When rows were known to be the newest.
    private struct Stamp: Equatable {
        let count: Int
        /// In the row cache.
        let write: Int32?
    }

    private let counts: [ChangeCount]
    /// As of when the child had no rows yet.
    private let first: Int
    /// By the owner of the rows.
    private var stamps: [ObjectIdentifier: Stamp] = [:]
    private var latest: (owner: ObjectIdentifier, stamp: Stamp)?

    private static let limit = 1 << 16

    /// - Parameter counts: of the parent, its parent, and so on.
    init(_ counts: [ChangeCount]) {
        self.counts = counts
        first = Self.sum(counts)
    }

    private static func sum(_ counts: [ChangeCount]) -> Int { counts.reduce(0) { $0 &+ $1.current } }

    /// Grows with each change above.
    var count: Int { Self.sum(counts) }

    /// Whether a row may have changed above, or in the store, since it was last known to be the newest.
    func mayHaveChanged(_ row: Row) -> Bool {
        let (count, listing) = (count, row.listing)
        if count == first, listing?.isBehind != true { return false }
        let (owner, now) = (ObjectIdentifier(row.owner), Stamp(count: count, write: listing?.latestWrite))
        if let latest, latest.owner == owner, latest.stamp == now { return false }
        guard stamps[owner] == now else { return true }
        latest = (owner, now)
        return false
    }

    /// A row, and what was read with it, is the newest as of a count and a write that were looked at before it was read.
    func noteNewest(_ row: Row, at count: Int, write: Int32?) {
        let (owner, stamp) = (ObjectIdentifier(row.owner), Stamp(count: count, write: write))
        if let latest, latest.owner == owner, latest.stamp == stamp { return }
        latest = (owner, stamp)
        // NB: what is gone may leave its address to another owner. That one was read later: where its stamp is the same, nothing has changed.
        if stamps.count >= Self.limit { stamps = [:] }
        stamps[owner] = stamp
    }
}
