import CSQLite

/// A prepared statement. Parameters and columns are numbered as SQLite does: parameters from 1, columns from 0.
public final class Statement {
    /// The raw handle, for loops that bind and read without a call per value.
    public let handle: OpaquePointer
    public let sql: String
    @usableFromInline unowned(unsafe) let connection: Connection
    private var isFinalized = false

    init(handle: OpaquePointer, connection: Connection, sql: String) {
        self.handle = handle
        // The connection outlives its statements: it finalises them, and callers hold a statement only while they hold the connection.
        self.connection = connection
        self.sql = sql
    }

    deinit { finalize() }

    func finalize() {
        guard !isFinalized else { return }
        isFinalized = true
        sqlite3_finalize(handle)
    }

    /// Whether a run has begun and has neither ended nor been reset.
    public var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }

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
