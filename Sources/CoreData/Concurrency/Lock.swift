import Foundation

/// A bare mutual exclusion, for state whose layout a generic box would spoil.
///
/// NB: a pthread mutex, not `Synchronization.Mutex`: the thread sanitizer does not see that one on Linux.
final class Mutex: @unchecked Sendable {
    // A pthread mutex must not move, so it lives in memory of its own.
    fileprivate let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inline(__always) func lock() { pthread_mutex_lock(mutex) }
    @inline(__always) func unlock() { pthread_mutex_unlock(mutex) }

    @inline(__always) func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock()
        defer { unlock() }
        return try body()
    }
}

/// Where a thread that holds a mutex sleeps until another has changed what the mutex guards.
final class Condition: @unchecked Sendable {
    // As for a mutex: it must not move.
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        condition.initialize(to: pthread_cond_t())
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// Gives the mutex up, sleeps, takes it again. May return without a signal: the caller looks again.
    func wait(_ mutex: Mutex) { pthread_cond_wait(condition, mutex.mutex) }

    /// Wakes one sleeper. Called with the mutex held.
    func signal() { pthread_cond_signal(condition) }
}

/// A value that one thread at a time may touch.
// The mutex orders every access to the state.
final class Lock<State>: @unchecked Sendable {
    private let mutex = Mutex()
    @exclusivity(unchecked) private var state: State

    init(_ state: State) { self.state = state }

    func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try mutex.withLock { try body(&state) }
    }
}
