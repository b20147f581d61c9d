import CSQLite

/// A value that SQLite hands to an application-defined function. Valid during the call.
public struct FunctionArgument {
    let handle: OpaquePointer?

    public var isNull: Bool { sqlite3_value_type(handle) == SQLITE_NULL }
    public var int: Int64 { sqlite3_value_int64(handle) }

    /// The UTF-8 bytes of the value as text.
    public func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let bytes = sqlite3_value_text(handle)
        return body(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(sqlite3_value_bytes(handle))))
    }
}

extension Connection {
    /// Defines an SQL function that triggers call to tell of a row: it notes two of its arguments in `reportedRows`, and answers NULL.
    public func defineReport(_ name: String, argumentCount: Int32, noting places: (Int, Int)) throws {
        try defineSchemaFunction(name, argumentCount: argumentCount, isDeterministic: false) { [report] arguments in
            report.rows.append((arguments[places.0].int, arguments[places.1].int))
            return .null
        }
    }

    /// Defines an SQL function without side effects in the database, which triggers, indexes and the like may call where the schema is not trusted.
    ///
    /// - Parameter isDeterministic: whether equal arguments always give equal results.
    public func defineSchemaFunction(
        _ name: String,
        argumentCount: Int32,
        isDeterministic: Bool = true,
        _ body: @escaping ([FunctionArgument]) -> SQLiteValue
    ) throws {
        try define(name, argumentCount, SQLITE_INNOCUOUS | (isDeterministic ? SQLITE_DETERMINISTIC : 0), body)
    }

    /// Defines an SQL function with no side effects: equal arguments always give equal results.
    public func defineFunction(_ name: String, argumentCount: Int32, _ body: @escaping ([FunctionArgument]) -> SQLiteValue) throws {
        try define(name, argumentCount, SQLITE_DETERMINISTIC, body)
    }

    private func define(_ name: String, _ argumentCount: Int32, _ flags: Int32, _ body: @escaping ([FunctionArgument]) -> SQLiteValue)
        throws
    {
        let code = sqlite3_create_function_v2(
            handle,
            name,
            argumentCount,
            SQLITE_UTF8 | flags,
            CallbackContext(Function(body: body)).address,
            callFunction,
            nil,
            nil,
            // SQLite calls it when it drops the function, also when this very call fails.
            { CallbackContext<Function>(at: $0).destroy() }
        )
        guard code == SQLITE_OK else { throw SQLiteError(code, on: handle) }
    }

    /// Defines a collation over the UTF-8 bytes of two texts: negative, zero or positive.
    public func defineCollation(
        _ name: String,
        _ compare: @escaping (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int32
    ) throws {
        let context = CallbackContext(Collation(compare: compare))
        let code = sqlite3_create_collation_v2(
            handle,
            name,
            SQLITE_UTF8,
            context.address,
            callCollation,
            // SQLite calls it when the collation is dropped.
            { CallbackContext<Collation>(at: $0).destroy() }
        )
        guard code == SQLITE_OK else {
            // NB: unlike sqlite3_create_function_v2, a failing call does not run the destructor.
            context.destroy()
            throw SQLiteError(code, on: handle)
        }
    }
}

// NB: structs, because a bare closure in memory of a generic type is wrapped anew each time that it is read.
private struct Function {
    let body: ([FunctionArgument]) -> SQLiteValue
}

private struct Collation {
    let compare: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int32
}

private func callFunction(_ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
    let function = CallbackContext<Function>(at: sqlite3_user_data(context)).pointer
    let arguments = UnsafeBufferPointer(start: values, count: Int(count)).map(FunctionArgument.init)
    switch function.pointee.body(arguments) {
    case .null: sqlite3_result_null(context)
    case .integer(let number): sqlite3_result_int64(context, number)
    case .real(let number): sqlite3_result_double(context, number)
    case .text(let text):
        sqlite3_result_text64(context, text, UInt64(text.utf8.count), transient, UInt8(truncatingIfNeeded: SQLITE_UTF8))
    case .blob(let bytes): sqlite3_result_blob64(context, bytes, UInt64(bytes.count), transient)
    }
}

private func callCollation(
    _ context: UnsafeMutableRawPointer?,
    _ leftCount: Int32,
    _ left: UnsafeRawPointer?,
    _ rightCount: Int32,
    _ right: UnsafeRawPointer?
) -> Int32 {
    let collation = CallbackContext<Collation>(at: context).pointer
    return collation.pointee.compare(
        UnsafeBufferPointer(start: left?.assumingMemoryBound(to: UInt8.self), count: Int(leftCount)),
        UnsafeBufferPointer(start: right?.assumingMemoryBound(to: UInt8.self), count: Int(rightCount))
    )
}
