import CSQLite

/// A failed SQLite call: its extended result code, SQLite's message and the statement, when there was one.
public struct SQLiteError: Error, Equatable, Sendable, CustomStringConvertible {
    public let extendedCode: Int32
    public let message: String
    public let sql: String?

    public init(extendedCode: Int32, message: String, sql: String? = nil) {
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
    }

    /// The primary result code, such as `SQLITE_BUSY` for `SQLITE_BUSY_SNAPSHOT`.
    public var code: Int32 { extendedCode & 0xff }

    public var description: String {
        "SQLite error \(extendedCode): \(message)" + (sql.map { " in \($0)" } ?? "")
    }
}

extension SQLiteError {
    init(_ code: Int32, on handle: OpaquePointer?, sql: String? = nil) {
        let extended = handle.map(sqlite3_extended_errcode) ?? code
        let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        // NB: the connection's code belongs to its latest call; where the two disagree, the one that was returned counts.
        self.init(extendedCode: extended & 0xff == code & 0xff ? extended : code, message: message, sql: sql)
    }
}
