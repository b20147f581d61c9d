import CShims
import Foundation

/// What a thread waits for, and what others want it to run meanwhile. Threads that never wait have none.
final class ThreadState: @unchecked Sendable {
    // Sendable: all of it is guarded by the wait graph's mutex, but for what is the thread's own in its record.
    /// The thread's own variables, whose address names it as long as it lives.
    let record: UnsafeMutablePointer<cd_thread>
    /// The request that the thread is asleep over; nil while it runs anything.
    var waiting: QueueRequest?
    /// Requests that this thread, which owns their queues, shall run before it sleeps on.
    private(set) var mailbox: [QueueRequest] = []
    let wakeUp = Condition()

    private init(_ record: UnsafeMutablePointer<cd_thread>) { self.record = record }

    /// Has the thread run a request that nobody has taken. Mutex held, as for the next.
    func deliver(_ request: QueueRequest) {
        request.toleratedDisturbance = request.disturbance(of: self)
        if request.state == .waiting {
            request.state = .delivered
            request.server = self
            mailbox.append(request)
        }
        wakeUp.signal()
    }

    /// The next request to run. What was delivered while a context was idle waits where the thread has begun to change it since.
    func popDeliveredRequest() -> QueueRequest? { mailbox.firstIndex(where: \.isServable).map { mailbox.remove(at: $0) } }

    /// The calling thread's, made at first use. To be called without the wait graph's mutex.
    static var current: ThreadState { at(cd_currentThread()) ?? make() }

    /// The state of the thread with a record, if it has one.
    static func at(_ record: UnsafeMutablePointer<cd_thread>) -> ThreadState? {
        record.pointee.state?.assumingMemoryBound(to: ThreadState.self).pointee
    }

    private static func make() -> ThreadState {
        let state = ThreadState(cd_currentThread())
        // The thread's reference, which it drops when it ends.
        let reference = UnsafeMutablePointer<ThreadState>.allocate(capacity: 1)
        reference.initialize(to: state)
        // Others look for it when the thread owns a queue.
        WaitGraph.mutex.withLock { state.record.pointee.state = UnsafeMutableRawPointer(reference) }
        pthread_setspecific(releaseAtExit, reference)
        return state
    }

    /// A thread that ends drops its state. Should the destructor of another key enter a queue after that, a new one is made, and dropped.
    private static let releaseAtExit: pthread_key_t = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key) { reference in
            cd_currentThread().pointee.state = nil
            guard let reference = reference?.assumingMemoryBound(to: ThreadState.self) else { return }
            reference.deinitialize(count: 1)
            reference.deallocate()
        }
        precondition(code == 0, "The process has no thread-specific key left.")
        return key
    }()
}
