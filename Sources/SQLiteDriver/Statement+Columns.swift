import CSQLite

/// What the current row holds. Valid between a `step()` that gave true and the next call on the statement.
extension Statement {
    public var columnCount: Int { Int(sqlite3_column_count(handle)) }
    @inlinable public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    @inlinable public func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    @inlinable public func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    /// The column as text; nil for NULL. Bytes that are no UTF-8 are repaired.
    public func text(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// The column's bytes; nil for NULL.
    public func blob(_ column: Int32) -> [UInt8]? {
        guard !isNull(column) else { return nil }
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    public func value(_ column: Int32) -> SQLiteValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(int(column))
        case SQLITE_FLOAT: .real(double(column))
        case SQLITE_TEXT: .text(text(column) ?? "")
        case SQLITE_BLOB: .blob(blob(column) ?? [])
        default: .null
        }
    }
}

extension Connection {
    /// All rows of a statement with `values` bound from parameter 1 on. For small results: names, pragmas, metadata.
    public func rows(_ sql: String, _ values: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        try withCached(sql) { statement in
            try statement.bind(values)
            var rows: [[SQLiteValue]] = []
            while try statement.step() {
                rows.append((0..<Int32(statement.columnCount)).map(statement.value))
            }
            return rows
        }
    }
}
