import CSQLite

/// A prepared statement. Parameters and columns are numbered as SQLite does: parameters from 1, columns from 0.
public final class Statement {
    /// The raw handle, for loops that bind and read without a call per value.
    public let handle: OpaquePointer
    public let sql: String
    @usableFromInline unowned(unsafe) let connection: Connection
    /// Whether somebody is in the scope of `withCached`.
    var isInUse = false

    init(handle: OpaquePointer, connection: Connection, sql: String) {
        self.handle = handle
        // The connection outlives its statements: callers hold a statement only while they hold the connection.
        self.connection = connection
        self.sql = sql
    }

    deinit { sqlite3_finalize(handle) }

    /// The bytes that SQLite has allocated for it.
    var memory: Int { Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_MEMUSED, 0)) + sql.utf8.count }

    /// Advances to the next row; false after the last one.
    @inlinable public func step() throws -> Bool {
        if sqlite3_stmt_busy(handle) == 0 { try connection.began(sql) }
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    /// Advances without counting: the later rows of a run begun with `step()`.
    @inlinable public func next() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    /// Runs a statement that returns no rows and makes it ready for the next run.
    @inlinable public func run() throws {
        try connection.began(sql)
        let code = sqlite3_step(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
        sqlite3_reset(handle)
    }

    /// Sees whether values were bound: takes the result codes of any number of calls, combined by OR.
    @inlinable @inline(__always) public func requireBound(_ code: Int32) throws {
        if code != SQLITE_OK { throw failure(code) }
    }

    /// Ends a run. Bindings stay.
    @inlinable public func reset() { sqlite3_reset(handle) }

    /// Ends a run and drops bindings that point into memory of the caller.
    @inlinable public func resetAndClear() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    @usableFromInline func failure(_ code: Int32) -> SQLiteError {
        let error = SQLiteError(code, on: connection.handle, sql: sql)
        sqlite3_reset(handle)
        return error
    }
}
