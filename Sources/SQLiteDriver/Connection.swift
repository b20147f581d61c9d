import CSQLite

/// One SQLite connection with its statement cache.
///
/// Opened without SQLite's own mutex: the owner sees to it that only one thread at a time uses a connection or its statements.
public final class Connection {
    public enum Mode: Sendable { case readWrite, readWriteCreate, readOnly }

    public let path: String
    /// The raw handle, valid until `close()`.
    public let handle: OpaquePointer
    /// Called with the text of each statement before it runs. Where it throws, the statement fails with that error and does not run.
    // NB: these are not checked for exclusive access: they are used for each row, and only by the one thread that has the connection.
    @exclusivity(unchecked) public var onStatement: ((String) throws -> Void)?
    /// Statements begun on this connection since it was opened.
    @exclusivity(unchecked) public internal(set) var statementCount = 0
    /// Whether what the connection has read of the file still holds. SQLite sees to that, but for a file that is opened as one that nobody changes.
    public var isCurrent: () -> Bool = { true }
    /// What of others' commits has been looked at.
    @exclusivity(unchecked) var knownDataVersion: UInt32?
    /// What the aggregate of `defineSink()` does with a row.
    let rowSink: CallbackContext<RowSink>
    /// What functions of `defineReport` have noted since it was taken.
    let report = RowReport()
    /// Who is told of slow statements.
    var profile: CallbackContext<Profile>?
    @exclusivity(unchecked) private var cache = RecentlyUsed<String, Statement>(countLimit: 256, costLimit: 16 << 20)
    private var isOpen = true

    /// Opens the file at `path`; with `isURI`, an SQLite `file:` URI.
    ///
    /// - Throws: `SQLiteError`. SQLite opens lazily: a file that is no database is reported by the first statement, not here.
    public init(path: String, mode: Mode, isURI: Bool = false) throws {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (isURI ? SQLITE_OPEN_URI : 0)
        switch mode {
        case .readOnly: flags |= SQLITE_OPEN_READONLY
        case .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .readWriteCreate: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError(code, on: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        self.path = path
        handle = opened
        rowSink = CallbackContext(RowSink())
    }

    deinit {
        close()
        rowSink.destroy()
        profile?.destroy()
    }

    /// Finalises every cached statement and closes the file. A second call does nothing.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        cache.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Waits up to `seconds` for another connection's lock before a statement fails with `SQLITE_BUSY`; infinity is 24 days.
    public func setBusyTimeout(seconds: Double) {
        let milliseconds = seconds.isNaN ? 0 : min(max(seconds * 1000, 0), Double(Int32.max))
        sqlite3_busy_timeout(handle, Int32(milliseconds))
    }

    /// Runs `body` with another time to wait for locks.
    public func waiting<Result>(atMost seconds: Double, _ body: () throws -> Result) throws -> Result {
        guard case .integer(let milliseconds)? = try rows("PRAGMA busy_timeout").first?.first else { return try body() }
        setBusyTimeout(seconds: min(seconds, Double(milliseconds) / 1000))
        defer { setBusyTimeout(seconds: Double(milliseconds) / 1000) }
        return try body()
    }

    /// How many parameters a statement can have.
    public var parameterLimit: Int { Int(sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1)) }

    /// Whether closing takes the write-ahead log into the file and removes it, where no other connection is open; it does by default.
    public func setCheckpointsOnClose(_ checkpoints: Bool) {
        cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, checkpoints ? 0 : 1)
    }

    /// A new statement that the caller owns.
    ///
    /// - Throws: `SQLiteError`, also for a text of no statement or of several: all but the first would not run.
    public func prepare(_ sql: String) throws -> Statement {
        let (code, prepared, isAlone) = sql.withCString { text in
            var prepared: OpaquePointer?
            var rest: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, &rest)
            return (code, prepared, hasNoStatement(rest))
        }
        guard code == SQLITE_OK else { throw SQLiteError(code, on: handle, sql: sql) }
        guard let prepared else { throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "there is no statement", sql: sql) }
        let statement = Statement(handle: prepared, connection: self, sql: sql)
        guard isAlone else { throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "there is more than one statement", sql: sql) }
        return statement
    }

    /// Whether nothing but space and comments is in the rest of a text.
    private func hasNoStatement(_ text: UnsafePointer<CChar>?) -> Bool {
        guard let text, text.pointee != 0 else { return true }
        var prepared: OpaquePointer?
        defer { sqlite3_finalize(prepared) }
        return sqlite3_prepare_v2(handle, text, -1, &prepared, nil) == SQLITE_OK && prepared == nil
    }

    /// Runs `body` with the statement for this text, prepared before or now. It is nobody else's meanwhile, and afterwards reset and
    /// without bindings.
    public func withCached<Result>(_ sql: String, _ body: (Statement) throws -> Result) throws -> Result {
        let statement = try unusedStatement(sql)
        statement.isInUse = true
        defer {
            statement.resetAndClear()
            statement.isInUse = false
        }
        return try body(statement)
    }

    /// One that is in use, by a fetch inside a fetch, keeps its place, and another is prepared for this once.
    private func unusedStatement(_ sql: String) throws -> Statement {
        let known = cache.value(for: sql)
        if let known, !known.isInUse { return known }
        let statement = try prepare(sql)
        // NB: what the cache lets go of while it is in use is finalised at the end of that use, with its last reference.
        if known == nil { cache.insert(statement, for: sql, cost: statement.memory) }
        return statement
    }

    /// Runs a statement that returns nothing, with `values` bound from parameter 1 on.
    public func run(_ sql: String, _ values: [SQLiteValue] = []) throws {
        try withCached(sql) { statement in
            try statement.bind(values)
            try statement.run()
        }
    }

    /// Runs one or more statements that return nothing.
    public func execute(_ sql: String) throws {
        try began(sql)
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, on: handle, sql: sql) }
    }

    /// Rows that the latest INSERT, UPDATE or DELETE changed.
    public var changes: Int { Int(sqlite3_changes64(handle)) }
    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    @usableFromInline func began(_ sql: String) throws {
        statementCount += 1
        try onStatement?(sql)
    }
}
