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
    // Extended codes are macros that Swift does not import.
    /// `SQLITE_READONLY_DBMOVED`: the file is not at its place any more.
    public static let fileMoved = SQLITE_READONLY | 4 << 8
    public static let ofMovedFile = SQLiteError(
        extendedCode: fileMoved,
        message: "the file, or its write-ahead log, was removed or replaced by another while it was open"
    )
    /// `SQLITE_READONLY_ROLLBACK`: what somebody has begun to write has to be taken back before the file can be read.
    public static let needsRollback = SQLITE_READONLY | 3 << 8

    /// What SQLite says of a result code.
    public static func text(of code: Int32) -> String { String(cString: sqlite3_errstr(code)) }

    init(_ code: Int32, on handle: OpaquePointer?, sql: String? = nil) {
        let extended = handle.map(sqlite3_extended_errcode) ?? code
        let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? Self.text(of: code)
        // NB: the connection's code belongs to its latest call; where the two disagree, the one that was returned counts.
        self.init(extendedCode: extended & 0xff == code & 0xff ? extended : code, message: message, sql: sql)
    }
}
