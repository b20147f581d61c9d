import CSQLite

extension Connection {
    /// Empties the database in place, whatever is in it, corrupt contents too. Other connections see an empty database afterwards.
    ///
    /// - Throws: `SQLiteError` where another connection keeps its lock; nothing has changed then.
    public func empty() throws {
        // What cannot be read has no schema that another connection could remember.
        let schema = try? rows("PRAGMA schema_version").first?.first
        cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_RESET_DATABASE, 1)
        defer { cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_RESET_DATABASE, 0) }
        // Of a file that keeps its form; what VACUUM makes has no tables, so that a new store can be made in it as in a new file.
        try execute("PRAGMA auto_vacuum = 2")
        try execute("VACUUM")
        // NB: SQLite takes a file of a few bytes for an empty one, in which there is nothing to do.
        try execute("PRAGMA user_version = 0")
        // NB: the number starts at 1 again. Other connections, who compare nothing else, must not meet the one that they remember, or they
        // would read through the old schema.
        if case .integer(let version)? = schema { try execute("PRAGMA schema_version = \(Int32(truncatingIfNeeded: version &+ 1_000))") }
    }
}
