import SQLiteDriver

/// A state of a store takes the place of another of the same store, as a backup does that comes back. Nobody is to take the one for the other: neither
/// who has the store open, and remembers rows of it, nor who has a token of its history.
struct StateSuccession {
    /// How far the history that is replaced, or the one that comes, has counted.
    private let counted: [(counter: HistoryCounter, last: Int64)]
    /// Whether the history that comes is a part of what was there, or what was there one of it, as far as that can be seen.
    private let isSameHistory: Bool

    /// Nil where another store is replaced, or none.
    ///
    /// - Throws: what keeps one of them from being read.
    init?(of replaced: Connection, by source: Connection) throws {
        let uuid = try StoreMetadata.uuid(in: source)
        guard uuid != nil, try StoreMetadata.uuid(in: replaced) == uuid else { return nil }
        let haveHistory = try HistoryTables.areThere(replaced) && HistoryTables.areThere(source)
        counted = try (haveHistory ? [HistoryCounter.change, .transaction] : []).map { ($0, try max($0.last(replaced), $0.last(source))) }
        isSameHistory = try !haveHistory || Self.isSame(source, replaced)
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
            try StoreMetadata.noteReplacement(in: connection)
            if !isSameHistory { _ = try SQLiteStore.deleteTransactions(upTo: .max, connection) }
            for (counter, last) in counted { try counter.note(last + 1, connection) }
        }
    }
}
