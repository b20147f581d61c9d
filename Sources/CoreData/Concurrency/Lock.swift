import Foundation

/// A bare mutual exclusion, for state whose layout a generic box would spoil.
///
/// NB: a pthread mutex, not `Synchronization.Mutex`: the thread sanitizer does not see that one on Linux.
final class Mutex: @unchecked Sendable {
    // A pthread mutex must not move, so it lives in memory of its own.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

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

/// A value that one thread at a time may touch.
// The mutex orders every access to the state.
final class Lock<State>: @unchecked Sendable {
    private let mutex = Mutex()
    private var state: State

    init(_ state: State) { self.state = state }

    func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try mutex.withLock { try body(&state) }
    }
}
