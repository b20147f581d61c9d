import Foundation

extension NSManagedObjectContext {
    /// Runs a block on the context's queue, later. Ends an event.
    @preconcurrency public func perform(_ block: @escaping @Sendable () -> Void) {
        queue.async { self.event(block) }
    }

    /// Runs a block on the context's queue and waits for it. Re-entrant: on the queue already, it runs at once. Ends an event.
    ///
    /// - Throws: what the block throws.
    @discardableResult public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
        try queue.sync { try event(block) }
    }

    /// Runs a block on the context's queue and gives its result. Ends an event.
    ///
    /// - Throws: what the block throws.
    @preconcurrency
    nonisolated(nonsending)
        public func perform<Result>(
            schedule: ScheduledTaskType = .immediate,
            _ block: @escaping @Sendable () throws -> Result
        ) async rethrows -> Result
    {
        if schedule == .immediate, queue.isCurrent { return try event(block) }
        let outcome: Transfer<Swift.Result<Result, any Error>> = await withUnsafeContinuation { continuation in
            queue.async { continuation.resume(returning: Transfer(Swift.Result { try self.event(block) })) }
        }
        return try outcome.value.rethrown(by: block)
    }

    private func event<Result>(_ block: () throws -> Result) rethrows -> Result {
        defer { if !isSaving { processPendingChanges() } }
        return try block()
    }
}

/// A result on its way from the context's queue to the caller.
// The one who awaits is the only one to use it; results such as managed objects are not Sendable, as in Apple's signature.
private struct Transfer<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

extension Result where Failure == any Error {
    /// Gets the value or throws the error, which only `block` can have thrown: so the caller may say `rethrows`.
    fileprivate func rethrown<Ignored>(by block: () throws -> Ignored) rethrows -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let error):
            func pass(_ failing: () throws -> Void) rethrows { try failing() }
            return try withoutActuallyEscaping(block) { block in
                func go(_ body: () throws -> Ignored, _ error: any Error) throws -> Success { throw error }
                return try go(block, error)
            }
        }
    }
}
