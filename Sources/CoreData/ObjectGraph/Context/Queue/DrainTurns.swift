import DequeModule

/// Which queues run the blocks that nobody waits for: so many at once at most. Under the wait graph's mutex.
///
/// libdispatch has 255 threads, and one of them serves the main queue where the program's main thread does not: hundreds of contexts whose
/// blocks wait for a main context would leave none.
struct DrainTurns {
    private static let maximum = 192

    private var running = 0
    private var waiting: Deque<ContextQueue> = []

    /// Starts what runs a queue's blocks: at once where somebody waits behind them, else in its turn.
    mutating func add(_ queue: ContextQueue) {
        if running < Self.maximum || queue.isAwaited { return start(queue) }
        queue.awaitsTurn = true
        waiting.append(queue)
    }

    /// Somebody waits for the queue, maybe one of those that are running: it does not wait for its turn.
    mutating func hurry(_ queue: ContextQueue) { if queue.awaitsTurn { start(queue) } }

    /// A queue has no more to run.
    mutating func end() {
        running -= 1
        while running < Self.maximum, let next = waiting.popFirst() { hurry(next) }
    }

    private mutating func start(_ queue: ContextQueue) {
        queue.awaitsTurn = false
        running += 1
        queue.startDrain()
    }
}
