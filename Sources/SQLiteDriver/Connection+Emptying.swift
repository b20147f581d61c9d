import CSQLite

extension Connection {
    /// Empties the database in place, whatever is in it, corrupt contents too. Other connections see an empty database afterwards.
    ///
    /// - Throws: `SQLiteError` where another connection keeps its lock; nothing has changed then.
    public func empty() throws {
        cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_RESET_DATABASE, 1)
        defer { cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_RESET_DATABASE, 0) }
        try execute("VACUUM")
    }
}
