import Foundation

extension NSManagedObjectContext {
    /// A fetch whose rows are read while the context goes on, as with `NSAsynchronousFetchRequest`, for a task that waits for it.
    ///
    /// ```swift
    /// let total = try await context.fetchAsynchronously(request) { songs in songs.reduce(0) { $0 + $1.duration } }
    /// ```
    ///
    /// Unsaved changes do not count. The request is copied: the caller's may be changed meanwhile.
    ///
    /// An addition to Apple's interface.
    ///
    /// - Parameters:
    ///   - request: what to fetch.
    ///   - body: gets the results on the context's queue; what it returns goes to the caller. Not called where the fetch fails.
    /// > Concurrency: may be called from anywhere. Cancelling the task ends the fetch, also in the middle of what SQLite computes.
    /// - Throws: as `fetch(_:)`; `CocoaError.userCancelled` where the task was cancelled before `body` began; what `body` throws.
    public func fetchAsynchronously<Result, Value: Sendable>(
        _ request: NSFetchRequest<Result>,
        _ body: @escaping @Sendable ([Result]) throws -> Value
    ) async throws -> Value {
        let progress = Progress(totalUnitCount: 1)
        // The copy is nobody else's.
        nonisolated(unsafe) let copy = request.copied(as: Result.self)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                perform { [self] in
                    let fetch = NSAsynchronousFetchRequest(fetchRequest: copy) { result in
                        continuation.resume(with: Swift.Result { try body(result.results()) })
                    }
                    do { _ = try fetch.execute(in: self, progress) } catch { continuation.resume(throwing: error) }
                }
            }
        } onCancel: {
            progress.cancel()
        }
    }
}

extension NSAsynchronousFetchResult {
    fileprivate func results() throws -> [ResultType] {
        if let operationError { throw operationError }
        return finalResult ?? []
    }
}
