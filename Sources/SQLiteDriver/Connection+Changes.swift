import CSQLite

extension Connection {
    /// Runs `body` where the latest statement has met a commit of other connections that none before it had, and for the first statement. Where
    /// `body` throws, the next call runs it again.
    ///
    /// No statement runs for that: SQLite tells it from what it keeps in memory (`SQLITE_FCNTL_DATA_VERSION`). Those of `body` are not shown to
    /// `onStatement`.
    public func ifOthersHaveWritten(_ body: () throws -> Void) throws {
        let version = dataVersion
        guard version != knownDataVersion else { return }
        let observe = onStatement
        onStatement = nil
        defer { onStatement = observe }
        try body()
        knownDataVersion = version
    }

    private var dataVersion: UInt32 {
        var version: UInt32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }
}
