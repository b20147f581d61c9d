import CSQLite

extension Connection {
    /// Lets a database in memory grow as far as memory goes.
    ///
    /// NB: "The default value is 1073741824" (SQLITE_MEMDB_DEFAULT_MAXSIZE): one of more than 1 GB would be reported as a full disk.
    public func liftSizeLimit() throws {
        var limit: Int64 = 1 << 46
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_SIZE_LIMIT, &limit)
        guard code == SQLITE_OK else { throw SQLiteError(code, on: handle) }
    }
}
