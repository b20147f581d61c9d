import CSQLite

extension Connection {
    /// As much as SQLite allocates at once ("0x7fffff00 bytes at most"), in whole pages of every size.
    public static let largestMemorySize: Int64 = (0x7fff_ff00 >> 16) << 16

    /// Lets a database in memory grow as far as SQLite can hold it in one piece, to two GB.
    ///
    /// NB: "The default value is 1073741824" (SQLITE_MEMDB_DEFAULT_MAXSIZE). With a limit beyond what it can allocate, it fails where it doubles.
    public func liftSizeLimit() throws {
        var limit = Self.largestMemorySize
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_SIZE_LIMIT, &limit)
        guard code == SQLITE_OK else { throw SQLiteError(code, on: handle) }
    }

    /// Lets a statement that would make a database in memory larger than that fail, which takes back what it has done.
    ///
    /// NB: where a page cannot be written any more, it is too late: the journal is in memory as well, and SQLite takes back nothing by it then.
    public func limitPagesInMemory() throws {
        guard case .integer(let size)? = try rows("PRAGMA page_size").first?.first, size > 0 else { return }
        try execute("PRAGMA max_page_count = \(Self.largestMemorySize / size)")
    }
}
