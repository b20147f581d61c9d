import CSQLite

extension Connection {
    /// Runs what reads, and ends its statement with `SQLITE_INTERRUPT` soon after `isCancelled` says so: it is asked every few ten thousand
    /// instructions of SQLite's, also while that sorts or groups and gives no row. With nil nothing is asked.
    ///
    /// - Parameter isCancelled: called on the calling thread.
    public func cancellable<Result>(when isCancelled: (() -> Bool)?, _ body: () throws -> Result) rethrows -> Result {
        guard let isCancelled else { return try body() }
        return try withoutActuallyEscaping(isCancelled) { isCancelled in
            let context = CallbackContext(isCancelled)
            sqlite3_progress_handler(handle, 20_000, askWhetherCancelled, context.address)
            defer {
                sqlite3_progress_handler(handle, 0, nil, nil)
                context.destroy()
            }
            return try body()
        }
    }
}

private func askWhetherCancelled(_ context: UnsafeMutableRawPointer?) -> Int32 {
    CallbackContext<() -> Bool>(at: context).pointer.pointee() ? 1 : 0
}
