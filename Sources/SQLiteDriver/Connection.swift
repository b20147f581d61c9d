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
    /// What the aggregate of `defineSink()` does with a row.
    @exclusivity(unchecked) var sinkBody: ((ArgumentValues) throws -> Void)?
    /// The first error of it.
    @exclusivity(unchecked) var sinkFailure: (any Error)?
    @exclusivity(unchecked) private var cache: [String: Statement] = [:]
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
    }

    deinit { close() }

    /// Finalises every cached statement and closes the file. A second call does nothing.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        cache.values.forEach { $0.finalize() }
        cache = [:]
        sqlite3_close_v2(handle)
    }

    /// Waits up to `seconds` for another connection's lock before a statement fails with `SQLITE_BUSY`.
    public func setBusyTimeout(seconds: Double) {
        sqlite3_busy_timeout(handle, Int32(clamping: Int(seconds * 1000)))
    }

    /// Whether closing takes the write-ahead log into the file and removes it, where no other connection is open; it does by default.
    public func setCheckpointsOnClose(_ checkpoints: Bool) {
        cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, checkpoints ? 0 : 1)
    }

    /// A new statement that the caller owns.
    public func prepare(_ sql: String) throws -> Statement {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw SQLiteError(code, on: handle, sql: sql) }
        return Statement(handle: prepared, connection: self, sql: sql)
    }

    /// The statement for this text, prepared once per connection; reset and without bindings.
    public func cached(_ sql: String) throws -> Statement {
        if let statement = cache[sql] {
            // A statement in use, by a fetch inside a fetch, cannot be shared.
            return statement.isBusy ? try prepare(sql) : statement
        }
        let statement = try prepare(sql)
        if cache.count >= 256 { evict() }
        cache[sql] = statement
        return statement
    }

    private func evict() {
        for (sql, statement) in cache where !statement.isBusy {
            statement.finalize()
            cache[sql] = nil
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
