import Dispatch

/// Blocks that run one at a time for a coordinator. Its members need none: they may be used from any thread.
extension NSPersistentStoreCoordinator {
    /// Runs a block on the coordinator's queue, later, after everything that waits for the queue already.
    ///
    /// > Concurrency: may be called from anywhere, on the queue too. The block keeps the coordinator alive.
    @preconcurrency public func perform(_ block: @escaping @Sendable () -> Void) {
        contextQueue.async { withExtendedLifetime(self, block) }
    }

    /// Runs a block on the coordinator's queue and waits for it. On the queue already, it runs at once, to any depth.
    ///
    /// Coordinators and contexts may wait for each other in any order.
    ///
    /// > Concurrency: may be called from anywhere.
    /// - Throws: what the block throws.
    @discardableResult public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
        try contextQueue.sync(block)
    }

    /// Runs a block on the coordinator's queue and gives its result, without blocking the caller's thread.
    ///
    /// > Concurrency: may be called from anywhere. It is not cancelled with its task.
    /// - Throws: what the block throws.
    @preconcurrency public func perform<Result>(_ block: @escaping @Sendable () throws -> Result) async rethrows -> Result {
        let outcome: Outcome<Result> = await withUnsafeContinuation { continuation in
            contextQueue.async { continuation.resume(returning: Outcome(result: Swift.Result { try block() })) }
        }
        return try outcome.result.rethrown(by: block)
    }

    private var contextQueue: ContextQueue {
        queue.withLock { queue in
            if let queue = queue as? ContextQueue { return queue }
            let made = ContextQueue(.own)
            // Above every context: what asks for it goes up.
            made.level = -1
            queue = made
            return made
        }
    }
}

/// A result on its way to the caller.
// The one who awaits is the only one to use it.
private struct Outcome<Value>: @unchecked Sendable {
    let result: Result<Value, any Error>
}
