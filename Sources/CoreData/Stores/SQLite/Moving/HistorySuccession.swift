import SQLiteDriver

/// A state of a store takes the place of another of the same store, as a backup does that comes back: what tokens say of the one is not to be taken
/// for places of the other.
struct HistorySuccession {
    /// How far the history that is replaced, and the one that comes, have counted.
    private let counted: [(counter: HistoryCounter, last: Int64)]
    /// Whether what comes is an older or a newer part of what was there, as far as that can be seen.
    private let isSameHistory: Bool

    /// Nil where there is nothing to be mistaken: no history, or another store's.
    ///
    /// - Throws: what keeps one of them from being read.
    init?(of replaced: Connection, by source: Connection) throws {
        let uuid = try StoreMetadata.uuid(in: source)
        guard uuid != nil, try StoreMetadata.uuid(in: replaced) == uuid, try HistoryTables.areThere(replaced),
            try HistoryTables.areThere(source)
        else { return nil }
        counted = try [HistoryCounter.change, .transaction].map { ($0, try max($0.last(replaced), $0.last(source))) }
        isSameHistory = try Self.isSame(source, replaced)
    }

    /// Where both have the last transaction of the one that comes, it has to be the same.
    private static func isSame(_ source: Connection, _ replaced: Connection) throws -> Bool {
        let newest = "SELECT Z_PK, ZTIMESTAMP FROM ATRANSACTION ORDER BY Z_PK DESC LIMIT 1"
        guard let last = try source.rows(newest).first else { return true }
        let other = try replaced.rows("SELECT Z_PK, ZTIMESTAMP FROM ATRANSACTION WHERE Z_PK = ?1", [last[0]]).first
        return other == nil || other == last
    }

    /// What is committed from now on has numbers that neither had; one is left out, so that tokens of what is gone have expired. A history that is
    /// another begins anew.
    func apply(to connection: Connection) throws {
        try connection.transaction(.immediate) {
            if !isSameHistory { _ = try SQLiteStore.deleteTransactions(upTo: .max, connection) }
            for (counter, last) in counted { try counter.note(last + 1, connection) }
        }
    }
}
