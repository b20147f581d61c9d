import CSQLite

extension Connection {
    /// Runs `body` where the latest statement has met a commit of other connections that none before it had, and for the first statement. Where
    /// `body` throws, the next call runs it again.
    ///
    /// No statement runs for that: SQLite tells it from what it keeps in memory (`SQLITE_FCNTL_DATA_VERSION`). Those of `body` are not shown to
    /// `onStatement`.
    public func ifOthersHaveWritten(_ body: () throws -> Void) throws {
        let version = dataVersion
        guard version == nil || version != knownDataVersion else { return }
        try unobserved(body)
        knownDataVersion = version
    }

    /// Runs `body` without showing its statements to `onStatement`: what a store asks now and then for its own safety.
    public func unobserved<Result>(_ body: () throws -> Result) rethrows -> Result {
        let observe = onStatement
        onStatement = nil
        defer { onStatement = observe }
        return try body()
    }

    /// Nil where SQLite does not say.
    private var dataVersion: UInt32? {
        var version: UInt32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version) == SQLITE_OK ? version : nil
    }
}
