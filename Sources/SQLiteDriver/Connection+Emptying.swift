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
        try execute("VACUUM")
        // NB: the number starts at 1 again. Other connections, who compare nothing else, must not meet the one that they remember, or they
        // would read through the old schema.
        if case .integer(let version)? = schema { try execute("PRAGMA schema_version = \(Int32(truncatingIfNeeded: version &+ 1_000))") }
    }
}
