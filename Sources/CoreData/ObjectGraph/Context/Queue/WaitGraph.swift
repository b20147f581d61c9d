import Dispatch

/// Who waits for whom, over all queues of the process. It keeps no circle: the thread that would close one hands a request over.
///
/// An edge leads from a sleeping thread to the owner of the queue that it asks for. An edge to a thread that sleeps comes about when a
/// thread goes to sleep, and when a queue passes to one that already sleeps over something else; that is when circles are looked for. In a
/// circle every queue's owner sleeps, so one of them may as well run a request for its queue.
enum WaitGraph {
    /// Guards every queue but for the uncontended changes of its word. Never held while a block runs.
    static let mutex = Mutex()
    /// The thread that is on the main queue and inside `sleep`.
    // Guarded by the mutex, as those that follow.
    nonisolated(unsafe) private(set) static var parkedMain: ThreadState?
    nonisolated(unsafe) private(set) static var resolvedCircles = 0
    nonisolated(unsafe) static var drainTurns = DrainTurns()

    /// Sleeps until the request is granted or done, and serves what this thread is handed meanwhile. Mutex held before and after.
    static func sleep(over request: QueueRequest, _ thread: ThreadState) {
        let (isOnMain, outerParkedMain) = (MainQueue.isCurrent, parkedMain)
        if isOnMain { parkedMain = thread }
        thread.waiting = request
        resolveCircle(closedBy: thread)
        while true {
            if let delivered = thread.popDeliveredRequest() {
                thread.waiting = nil
                serve(delivered, thread)
                thread.waiting = request
                // Whoever went to sleep meanwhile took this thread for one that is awake.
                resolveCircle(closedBy: thread)
            } else if [.granted, .done, .refused].contains(request.state) {
                break
            } else {
                thread.wakeUp.wait(mutex)
            }
        }
        thread.waiting = nil
        if isOnMain { parkedMain = outerParkedMain }
    }

    /// A queue has passed to the thread of a request. Mutex held.
    ///
    /// The thread may have served somebody else since it asked, and sleep over what that block asks for: it is awake only later.
    static func noteGrant(_ request: QueueRequest) {
        request.state = .granted
        request.thread.wakeUp.signal()
        if let deeper = request.thread.waiting, deeper !== request { resolveCircle(closedBy: request.thread) }
    }

    /// Runs a request on the thread that owns its queue, and wakes the one that waits for it. Mutex held before and after.
    static func serve(_ request: QueueRequest, _ thread: ThreadState) {
        request.state = .running
        request.server = thread
        mutex.unlock()
        request.run()
        mutex.lock()
        request.state = .done
        request.thread.wakeUp.signal()
    }

    /// If the thread's falling asleep closed a circle of waits, hands one of its requests to the owner of the queue that it asks for.
    ///
    /// No circle is without a request that nobody runs yet: each of the others is run by a thread that asked for the next one after it had
    /// begun to run the one before, and that cannot go round.
    private static func resolveCircle(closedBy thread: ThreadState) {
        var circle: [(request: QueueRequest, owner: ThreadState)] = []
        var last = thread
        repeat {
            guard let request = last.waiting, request.state.isPending, let owner = request.server ?? request.queue.owner else { return }
            // One that its server takes as soon as it wakes up opens this circle, or another that the waits lead into.
            if request.state == .delivered, request.isServable { return }
            circle.append((request, owner))
            last = owner
        } while last !== thread
        let candidates = circle.filter { $0.request.state != .running }
        guard let chosen = candidates.min(by: { $0.request.disturbance(of: $0.owner) < $1.request.disturbance(of: $1.owner) })
        else {
            misuse("unreachable: a circle of waits in which every request is being run")
        }
        resolvedCircles += 1
        chosen.owner.deliver(chosen.request)
    }
}
