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
    enum State {
        case waiting, delivered, running, granted, done, refused

        var isPending: Bool { [.waiting, .delivered, .running].contains(self) }
    }

    let thread: ThreadState
    let queue: ContextQueue
    /// Whether a child asks for its parent's queue.
    let isUpward: Bool
    var state = State.waiting
    /// The thread that was handed the request; nil where that is the queue's owner to come.
    var server: ThreadState?
    /// How much of a disturbance the request was when it was delivered.
    var toleratedDisturbance = 0
    private var body: (() -> Void)?

    init(_ thread: ThreadState, _ queue: ContextQueue, _ body: @escaping () -> Void) {
        self.thread = thread
        self.queue = queue
        self.body = body
        isUpward = thread.record.pointee.level > queue.level
    }

    /// How much of a disturbance it is if the thread that owns the queue runs the request. A child may look into its parent at any time; a
    /// context in the middle of a save is asked later, and then rather by a child, whose push it can set aside.
    ///
    /// A context that is taking changes is never disturbed: its thread waits for a context above, so one of the requests in the circle leads
    /// upwards, to a context that is not taking any itself. Nor is that thread asked for another context, as long as there is another way:
    /// what it runs could save into the context that is taking changes.
    func disturbance(of owner: ThreadState) -> Int {
        (queue.isReceiving ? 8 : 0) + (owner.record.pointee.receptions > 0 ? 4 : 0) + (queue.isSaving ? 2 : 0) + (isUpward ? 0 : 1)
    }

    /// Whether a request that was delivered disturbs no more than it did then.
    var isServable: Bool { server.map { disturbance(of: $0) <= toleratedDisturbance } ?? false }

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
