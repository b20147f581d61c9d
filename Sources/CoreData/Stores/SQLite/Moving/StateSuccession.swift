import Foundation
import SQLiteDriver

/// A state of a store takes the place of whatever was there, as a backup does that comes back. Nobody is to take the one for the other: neither
/// who has the store open, and remembers rows of it, nor who has a token of its history.
struct StateSuccession {
    /// How far the history that comes, or the one of the same store that is replaced, has counted.
    private let counted: [(counter: HistoryCounter, last: Int64)]
    /// Whether the history that comes is a part of what was there, or what was there one of it, as far as that can be seen.
    private let isSameHistory: Bool
    /// How far the history of the same store has counted that is replaced by a state without one.
    private let former: CountedHistory?

    /// - Throws: what keeps the one that comes from being read.
    init(of replaced: Connection, by source: Connection) throws {
        let hasHistory = try HistoryTables.areThere(source)
        // What cannot be read is none.
        let isSameStore = try (try? StoreMetadata.uuid(in: replaced)) == StoreMetadata.uuid(in: source)
        let goesOn = hasHistory && isSameStore && (try? HistoryTables.areThere(replaced)) == true
        counted = try (hasHistory ? [HistoryCounter.change, .transaction] : []).map { counter in
            (counter, try max(counter.last(source), goesOn ? counter.last(replaced) : 0))
        }
        former = isSameStore && !hasHistory ? try? CountedHistory(replaced) : nil
        isSameHistory = try !goesOn || Self.isSame(source, replaced)
    }

    /// Where both have the last transaction of the one that comes, it has to be the same.
    private static func isSame(_ source: Connection, _ replaced: Connection) throws -> Bool {
        let newest = "SELECT Z_PK, ZTIMESTAMP FROM ATRANSACTION ORDER BY Z_PK DESC LIMIT 1"
        guard let last = try source.rows(newest).first else { return true }
        let other = try replaced.rows("SELECT Z_PK, ZTIMESTAMP FROM ATRANSACTION WHERE Z_PK = ?1", [last[0]]).first
        return other == nil || other == last
    }

    /// What is committed from now on has numbers that no state of the store had, so that tokens of what is gone have expired. A history that is
    /// another begins anew.
    ///
    /// NB: what stood here before may be gone already, with its numbers: the clock has counted further than any history.
    func apply(to connection: Connection) throws {
        try connection.transaction(.immediate) {
            try StoreMetadata.noteReplacement(in: connection)
            if !isSameHistory { _ = try SQLiteStore.deleteTransactions(before: nil, connection) }
            try former?.goOn(in: connection)
            let clock = Int64(Date().timeIntervalSinceReferenceDate * 1000)
            for (counter, last) in counted { try counter.note(max(last, clock) + 1, connection) }
        }
    }
}
