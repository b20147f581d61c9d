/// A block that a thread waits for.
///
/// ```
/// waiting ─→ granted                      its own thread has become the queue's owner and runs it
///    ├─→ running ─→ done                  the main queue runs it
///    ├─→ refused                          the queue was lent: a child's request is made again, to the guests' queue
///    └─→ delivered ─→ running ─→ done     the queue's owner, asleep in the same circle of waits, runs it
/// ```
final class QueueRequest: @unchecked Sendable {
    // Sendable: the mutable fields but `body` are guarded by the wait graph's mutex, and whoever moved the request on to `running` or
    // `granted` is the only one to touch `body`.
    enum State { case waiting, delivered, running, granted, done, refused }

    let thread: ThreadState
    let queue: ContextQueue
    /// Whether a child asks for its parent's queue.
    let isUpward: Bool
    var state = State.waiting
    /// The thread that was handed the request; nil where that is the queue's owner to come.
    var server: ThreadState?
    private var body: (() -> Void)?

    init(_ thread: ThreadState, _ queue: ContextQueue, _ body: @escaping () -> Void) {
        self.thread = thread
        self.queue = queue
        self.body = body
        isUpward = thread.place.pointee.level > queue.level
    }

    /// Lets go of the block, if it was not run.
    @inline(never) func drop() { body = nil }

    /// Runs the block on the calling thread, which owns the queue.
    ///
    /// NB: not inlined, so that no reference to the block is left when it returns: it does not really escape, which Swift checks.
    @inline(never) func run() {
        let body = body.take()
        queue.run { body?() }
    }
}
