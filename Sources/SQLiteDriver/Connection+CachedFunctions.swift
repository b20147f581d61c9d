import CSQLite

extension Connection {
    /// Defines an SQL function that answers yes or no, whose last argument varies from row to row while the ones before it usually stay.
    ///
    /// `prepare` makes of those what `body` needs to answer for the last one; it is kept for the rest of the run where the argument
    /// before the last is a constant or a parameter. The function gives 1, 0, or NULL where `prepare` or `body` gives nil. No side effects are allowed.
    /// - Precondition: `argumentCount` is at least 2.
    public func defineFunction<Prepared>(
        _ name: String,
        argumentCount: Int32,
        prepare: @escaping ([FunctionArgument]) -> Prepared?,
        _ body: @escaping (Prepared, FunctionArgument) -> Bool?
    ) throws {
        let function = CachedFunction { arguments in prepare(arguments).map { prepared in { body(prepared, $0) } } }
        let code = sqlite3_create_function_v2(
            handle,
            name,
            argumentCount,
            SQLITE_UTF8 | SQLITE_DETERMINISTIC,
            CallbackContext(function).address,
            callCachedFunction,
            nil,
            nil,
            // SQLite calls it when it drops the function, also when this very call fails.
            { CallbackContext<CachedFunction>(at: $0).destroy() }
        )
        guard code == SQLITE_OK else { throw SQLiteError(code, on: handle) }
    }
}

private struct CachedFunction {
    let prepare: ([FunctionArgument]) -> ((FunctionArgument) -> Bool?)?
}

private struct CachedAnswer {
    let answer: ((FunctionArgument) -> Bool?)?
}

private func callCachedFunction(_ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
    let arguments = UnsafeBufferPointer(start: values, count: Int(count))
    let cached = preparedAnswer(context, arguments)
    switch cached.answer?(FunctionArgument(handle: arguments[arguments.count - 1])) {
    case true?: sqlite3_result_int(context, 1)
    case false?: sqlite3_result_int(context, 0)
    case nil: sqlite3_result_null(context)
    }
}

private func preparedAnswer(_ context: OpaquePointer?, _ arguments: UnsafeBufferPointer<OpaquePointer?>) -> CachedAnswer {
    let patternIndex = Int32(arguments.count - 2)
    if let known = sqlite3_get_auxdata(context, patternIndex) {
        return CallbackContext<CachedAnswer>(at: known).pointer.pointee
    }
    let function = CallbackContext<CachedFunction>(at: sqlite3_user_data(context)).pointer.pointee
    let made = CachedAnswer(answer: function.prepare(arguments.dropLast().map(FunctionArgument.init)))
    // NB: SQLite may run the destructor before this call returns, hence the copy that is returned.
    sqlite3_set_auxdata(context, patternIndex, CallbackContext(made).address) {
        CallbackContext<CachedAnswer>(at: $0).destroy()
    }
    return made
}
