import CSQLite

extension Connection {
    /// Whether SQLite's parser takes a statement: neither the parser's stack overflows nor is an expression higher than allowed.
    ///
    /// NB: the parser's stack ("parser stack overflow") is as deep as SQLite was built with, 100 places for long, and cannot be asked for; the
    /// height of expressions is `SQLITE_LIMIT_EXPR_DEPTH`. Tables, columns and functions are looked up after a statement has been parsed, so
    /// that their absence says that it was.
    public static func canParse(_ sql: String) throws -> Bool {
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        do {
            _ = try connection.prepare(sql)
            return true
        } catch let error as SQLiteError {
            return error.message.hasPrefix("no such ")
        }
    }
}
