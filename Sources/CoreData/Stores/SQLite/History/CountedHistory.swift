import SQLiteDriver

/// How far a history has counted that is gone, for the one that begins anew in a store of the same identifier.
struct CountedHistory {
    private let counters: [[SQLiteValue]]

    /// NB: a store that came after another has its counters, also before it has a history.
    init(_ connection: Connection) throws {
        let numbers = "\(HistoryTables.change) AND \(HistoryTables.string)"
        counters = try connection.rows("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT BETWEEN \(numbers)")
    }

    /// The new one goes on with other numbers. One is left out: a token of the old one has expired. In a transaction.
    func goOn(in connection: Connection) throws {
        for counter in counters {
            try connection.run(
                """
                INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?1, ?2, 0, ifnull(?3, 0) + 1) \
                ON CONFLICT(Z_ENT) DO UPDATE SET Z_MAX = max(Z_MAX, excluded.Z_MAX)
                """,
                counter
            )
        }
    }
}

extension NSPersistentStore {
    /// Goes on counting where the history of another store has ended, of which this one was made. Does nothing unless both are databases in files.
    func goOnCounting(after other: NSPersistentStore) throws {
        guard let old = other.databaseFile, let new = databaseFile else { return }
        let counted = try old.reporting("read the history") { try old.pool.read(CountedHistory.init) }
        try new.reporting("go on with the history") {
            try new.pool.write { connection in try connection.transaction(.immediate) { try counted.goOn(in: connection) } }
        }
    }
}
