import CSQLite

/// The values of one row, by column. Valid during the call that hands them over.
public protocol RowValues {
    func value(_ column: Int32) -> OpaquePointer?
}

extension Statement: RowValues {
    /// The current row's values.
    @inlinable @inline(__always) public func value(_ column: Int32) -> OpaquePointer? { sqlite3_column_value(handle, column) }
}

/// The arguments of an SQL function, as a row.
public struct ArgumentValues: RowValues {
    @usableFromInline let values: UnsafeMutablePointer<OpaquePointer?>

    @inlinable @inline(__always) init(values: UnsafeMutablePointer<OpaquePointer?>) { self.values = values }
    @inlinable @inline(__always) public func value(_ column: Int32) -> OpaquePointer? { values[Int(column)] }
}

extension Connection {
    /// The name of an SQL aggregate that hands each row to the body of `sink(_:_:)`.
    ///
    /// NB: an aggregate gets all values of a row in one call from SQLite's own loop, which is a third cheaper than stepping and asking for
    /// each column. It can take 125 columns, and no ORDER BY or LIMIT applies to it.
    public static let sinkName = "cd_rows"
    public static let sinkLimit = 120

    /// Registers the aggregate.
    public func defineSink() throws {
        let code = sqlite3_create_function_v2(
            handle,
            Self.sinkName,
            -1,
            SQLITE_UTF8 | SQLITE_DIRECTONLY,
            // The connection outlives its functions, which go when it is closed.
            rowSink.address,
            nil,
            sinkStep,
            { sqlite3_result_null($0) },
            nil
        )
        guard code == SQLITE_OK else { throw SQLiteError(code, on: handle) }
    }

    /// Runs a statement of the form `SELECT cd_rows(…) FROM …`, with `body` called for each row.
    ///
    /// - Throws: the first error of `body`, after which rows are passed over, or that of the statement.
    public func sink(_ statement: Statement, _ body: (ArgumentValues) throws -> Void) throws {
        try withoutActuallyEscaping(body) { body in
            let outer = rowSink.pointer.pointee
            defer { rowSink.pointer.pointee = outer }
            rowSink.pointer.pointee = RowSink(body: body)
            _ = try statement.step()
            statement.reset()
            if let failure = rowSink.pointer.pointee.failure { throw failure }
        }
    }
}

/// What the aggregate does with a row, and the first error of that.
struct RowSink {
    var body: ((ArgumentValues) throws -> Void)?
    var failure: (any Error)?
}

private func sinkStep(_ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
    let sink = CallbackContext<RowSink>(at: sqlite3_user_data(context)).pointer
    guard sink.pointee.failure == nil, let values else { return }
    do { try sink.pointee.body?(ArgumentValues(values: values)) } catch { sink.pointee.failure = error }
}
