import CSQLite

extension Connection {
    /// The statements of a text, in order; none of space and comments. Nothing has run.
    ///
    /// - Throws: the `SQLiteError` of the first that cannot be prepared.
    public func prepareAll(_ sql: String) throws -> [Statement] {
        var statements: [Statement] = []
        try sql.withCString { text in
            var next: UnsafePointer<CChar>? = text
            while let start = next, start.pointee != 0 {
                var prepared: OpaquePointer?
                let code = sqlite3_prepare_v3(handle, start, -1, 0, &prepared, &next)
                guard code == SQLITE_OK else { throw SQLiteError(code, on: handle, sql: String(cString: start)) }
                guard let prepared else { continue }
                let own = sqlite3_sql(prepared).map { String(cString: $0) } ?? ""
                statements.append(Statement(handle: prepared, connection: self, sql: own))
            }
        }
        return statements
    }

    /// Defines a view that this connection alone sees, until it is closed, and then allows only reading, as `allowOnlyReading()`. The database
    /// is not touched, and need not be one that can be written.
    ///
    /// - Parameter name: whatever it is; a table of that name is hidden by the view.
    public func defineView(_ name: String, as select: String) throws {
        sqlite3_set_authorizer(handle, nil, nil)
        try execute("PRAGMA query_only = 0")
        let result = Result { try execute("CREATE TEMP VIEW \(quotedName(name)) AS \(select)") }
        try allowOnlyReading()
        try result.get()
    }
}

/// A name as SQL has it, whatever is in it.
public func quotedName(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}

extension Statement {
    /// Whether running it changes nothing in any database.
    public var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

    /// The names of the columns of its rows; none for a statement without rows.
    public var columnNames: [String] {
        (0..<sqlite3_column_count(handle)).map { column in sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "" }
    }
}
