import CSQLite

extension Connection {
    /// Calls `body` with the text of each statement that takes longer than so many nanoseconds, and how many, when it is over.
    ///
    /// The time is the clock's, from the first step to the last one: it counts what is done with the rows meanwhile. Set once, before others use the
    /// connection.
    public func onStatement(slowerThan threshold: Int64, _ body: @escaping @Sendable (_ sql: String, _ nanoseconds: Int64) -> Void) {
        let context = CallbackContext(Profile(threshold: threshold, body: body))
        profile = context
        sqlite3_trace_v2(handle, UInt32(SQLITE_TRACE_PROFILE), noteProfile, context.address)
    }
}

struct Profile {
    let threshold: Int64
    let body: @Sendable (String, Int64) -> Void
}

private func noteProfile(
    _: UInt32,
    _ context: UnsafeMutableRawPointer?,
    _ statement: UnsafeMutableRawPointer?,
    _ time: UnsafeMutableRawPointer?
) -> Int32 {
    guard let statement, let time else { return 0 }
    let (profile, nanoseconds) = (CallbackContext<Profile>(at: context).pointer.pointee, time.loadUnaligned(as: Int64.self))
    if nanoseconds >= profile.threshold, let sql = sqlite3_sql(OpaquePointer(statement)) {
        profile.body(String(cString: sql), nanoseconds)
    }
    return 0
}
