import CSQLite

/// Tells SQLite to copy what a pointer shows before the call returns.
// The documented value of SQLITE_TRANSIENT, a macro that Swift does not import.
@usableFromInline nonisolated(unsafe) let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// A value of one of SQLite's five storage classes.
public enum SQLiteValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension Statement {
    public func bind(_ value: SQLiteValue, at index: Int32) throws {
        let code: Int32 =
            switch value {
            case .null: sqlite3_bind_null(handle, index)
            case .integer(let number): sqlite3_bind_int64(handle, index, number)
            case .real(let number): sqlite3_bind_double(handle, index, number)
            case .text(let text):
                sqlite3_bind_text64(handle, index, text, UInt64(text.utf8.count), transient, UInt8(truncatingIfNeeded: SQLITE_UTF8))
            case .blob(let bytes): bindBlob(bytes, at: index)
            }
        guard code == SQLITE_OK else { throw SQLiteError(code, on: connection.handle, sql: sql) }
    }

    /// Binds `values` to the parameters from 1 on.
    public func bind(_ values: [SQLiteValue]) throws {
        for (offset, value) in values.enumerated() { try bind(value, at: Int32(offset) + 1) }
    }

    private func bindBlob(_ bytes: [UInt8], at index: Int32) -> Int32 {
        // NB: "If the third parameter to sqlite3_bind_blob() is a NULL pointer then the bound value is NULL": an empty blob needs another call.
        if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
        return bytes.withUnsafeBytes { sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), transient) }
    }
}
