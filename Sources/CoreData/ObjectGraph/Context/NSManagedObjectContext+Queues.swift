import Foundation

extension NSManagedObjectContext {
    /// Runs a block on the context's queue, later, after everything that waits for the queue already. Ends an event.
    ///
    /// > Concurrency: may be called from anywhere, on the queue too. The block keeps the context alive.
    @preconcurrency public func perform(_ block: @escaping @Sendable () -> Void) {
        queue.async { self.event(block) }
    }

    /// Runs a block on the context's queue and waits for it. The event goes on: `perform`, a save or a fetch ends it, or the main queue's turn.
    ///
    /// On the queue already, the block runs at once, to any depth. Where nobody has a private queue, it runs on the calling thread.
    /// Otherwise the thread waits for its turn; if those it waits for come to wait for it, it runs their blocks meanwhile, so contexts may
    /// wait for each other in any order.
    ///
    /// > Concurrency: may be called from anywhere. For a main-queue context, the main queue has to be running.
    /// - Throws: what the block throws.
    @discardableResult public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
        if news == nil { return try queue.sync(block) }
        return try queue.sync {
            hearNews()
            return try block()
        }
    }

    /// Runs a block on the context's queue and gives its result, without blocking the caller's thread. Ends an event.
    ///
    /// With `.immediate` the block runs at once where the caller is on the queue, and also where the caller is in no actor and the private
    /// queue is free: it then occupies a thread of the concurrent pool, so long work is better `.enqueued`. Otherwise, as from the main actor
    /// into a private context, it runs later on another thread, after everything that waits already; with `.enqueued` always.
    ///
    /// > Concurrency: may be called from anywhere. It is not cancelled with its task.
    /// - Throws: what the block throws.
    @preconcurrency
    nonisolated(nonsending)
        public func perform<Result>(
            schedule: ScheduledTaskType = .immediate,
            _ block: @escaping @Sendable () throws -> Result
        ) async rethrows -> Result
    {
        // NB: not inside `||`, whose right side is a closure, isolated to nobody.
        let isolation = #isolation
        if schedule == .immediate, queue.isCurrent || Self.mayBlock(isolation), let visit = queue.enter() {
            do { return try run(block, during: visit) } catch {
                // Who tries again without a pause leaves the thread to others, which may have to end first what the error comes from.
                await Task.yield()
                throw error
            }
        }
        let outcome: Transfer<Swift.Result<Result, any Error>> = await withUnsafeContinuation { continuation in
            queue.async { continuation.resume(returning: Transfer(Swift.Result { try self.event(block) })) }
        }
        return try outcome.value.rethrown(by: block)
    }

    /// Whether the caller's thread is one of the concurrent pool, which no actor waits for.
    ///
    /// NB: a task that was started immediately runs its beginning on the thread that started it, isolated to nobody.
    private static func mayBlock(_ isolation: (any Actor)?) -> Bool { isolation == nil && !MainQueue.isCurrent }

    private func run<Result>(_ block: () throws -> Result, during visit: ContextQueue.Visit) rethrows -> Result {
        defer { queue.leave(visit) }
        return try event(block)
    }

    private func event<Result>(_ block: () throws -> Result) rethrows -> Result {
        tracker.turn?.blockBegins()
        hearNews()
        defer {
            if !isSaving { processPendingChanges() }
            tracker.turn?.blockEnds(hasNews: tracker.hasNews)
        }
        return try block()
    }

    /// Whether a save is under way. In a block that another context's wait let in, it is best to leave the context alone.
    var isSaving: Bool {
        get { queue.isSaving }
        set { queue.isSaving = newValue }
    }
}

/// A result on its way from the context's queue to the caller.
// The one who awaits is the only one to use it; results such as managed objects are not Sendable, as in Apple's signature.
private struct Transfer<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
