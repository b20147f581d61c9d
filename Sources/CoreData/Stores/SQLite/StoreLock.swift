import DequeModule
import Foundation
import SQLiteDriver

/// The turn at one database: writers one at a time, and readers between them where the database cannot serve both at once.
///
/// First come, first served, across all coordinators of the process: who ends his turn hands it to those who have waited longest, one writer or
/// all the readers up to the next writer. It says nothing to other processes; SQLite's own locks do.
///
/// A save that was refused may keep the next turn for its second attempt. It is a head start, no lock: it ends by itself after a while, so that
/// nobody waits for ever where what prepares the attempt waits for others in turn.
///
/// Not recursive. Nothing inside a turn may wait for a database that comes earlier in the order of `identity`, nor for the coordinator's `hooks`, which
/// whoever needs both has before. What a program's class does in a turn, as in the save of a store of its own, must not need the same database: it
/// would wait for itself.
final class StoreLock: Sendable {
    let identity: DatabaseIdentity
    /// Who wants to know of commits.
    let commits = CommitSignals()
    private let state = Lock(Turns())

    init(_ identity: DatabaseIdentity) { self.identity = identity }

    /// Runs `body` while nobody writes.
    func read<Result>(_ body: () throws -> Result) rethrows -> Result {
        try withTurn(.reading, body)
    }

    /// Runs `body` while nobody else writes, or reads in a turn of his own.
    func write<Result>(_ body: () throws -> Result) rethrows -> Result {
        try withTurn(.writing, body)
    }

    /// Keeps the next turns to write for this thread, for a short time: called in such a turn. The caller gets what ends it earlier.
    func keepNextTurn() -> @Sendable () -> Void {
        let headStart = HeadStart()
        state.withLock { $0.headStart = headStart }
        return { [self] in
            let begun = state.withLock { turns in
                if turns.headStart === headStart { turns.headStart = nil }
                return turns.beginWaiting()
            }
            for waiter in begun { waiter.begins.signal() }
        }
    }

    /// How many wait.
    var waitingCount: Int { state.withLock { $0.queue.count } }

    private func withTurn<Result>(_ purpose: Turns.Purpose, _ body: () throws -> Result) rethrows -> Result {
        if let waiter = state.withLock({ $0.begin(purpose) }) { wait(for: waiter) }
        defer { for waiter in state.withLock({ $0.end(purpose) }) { waiter.begins.signal() } }
        return try body()
    }

    private func wait(for waiter: Turns.Waiter) {
        while waiter.begins.wait(timeout: .now() + .nanoseconds(Int(HeadStart.duration))) == .timedOut {
            // A head start may have run out.
            for waiter in state.withLock({ $0.beginWaiting() }) { waiter.begins.signal() }
        }
    }
}

/// A thread that comes before all who wait to write.
private final class HeadStart: Sendable {
    static let duration: UInt64 = 250_000_000

    private let thread = pthread_self()
    private let end = DispatchTime.now().uptimeNanoseconds + duration

    var isOver: Bool { DispatchTime.now().uptimeNanoseconds >= end }
    func isOf(_ other: pthread_t) -> Bool { pthread_equal(thread, other) != 0 }
}

/// Whose turn it is, and who is next.
private struct Turns {
    enum Purpose { case reading, writing }

    final class Waiter {
        let purpose: Purpose
        let thread = pthread_self()
        let begins = DispatchSemaphore(value: 0)
        init(_ purpose: Purpose) { self.purpose = purpose }
    }

    private var readers = 0
    private var writer: pthread_t?
    private(set) var queue: Deque<Waiter> = []
    /// Who writes next, whoever waits.
    var headStart: HeadStart?

    /// Begins a turn; where that is not possible yet, what to wait for.
    mutating func begin(_ purpose: Purpose) -> Waiter? {
        if let writer, pthread_equal(writer, pthread_self()) != 0 {
            misuse(
                "A save asks a class of the program, which uses a store of the same coordinator that this save is writing: it would wait for itself for "
                    + "ever. Fetch before the save, or after it."
            )
        }
        let isAhead = headStart?.isOf(pthread_self()) ?? false
        if queue.isEmpty || isAhead, admit(purpose, pthread_self()) { return nil }
        let waiter = Waiter(purpose)
        if isAhead { queue.prepend(waiter) } else { queue.append(waiter) }
        return waiter
    }

    /// Ends a turn; those whose turns have begun by that are to be woken.
    mutating func end(_ purpose: Purpose) -> [Waiter] {
        switch purpose {
        case .reading: readers -= 1
        case .writing: writer = nil
        }
        return beginWaiting()
    }

    /// Begins the turns of those who have waited longest, if it is their turn: they are to be woken.
    mutating func beginWaiting() -> [Waiter] {
        var begun: [Waiter] = []
        while let next = queue.first, admit(next.purpose, next.thread) { begun.append(queue.removeFirst()) }
        return begun
    }

    private mutating func admit(_ purpose: Purpose, _ thread: pthread_t) -> Bool {
        guard writer == nil, purpose == .reading || (readers == 0 && !isBehind(thread)) else { return false }
        switch purpose {
        case .reading: readers += 1
        case .writing: writer = thread
        }
        return true
    }

    /// Whether another thread has a head start.
    private mutating func isBehind(_ thread: pthread_t) -> Bool {
        guard let other = headStart else { return false }
        if other.isOver { headStart = nil }
        return headStart != nil && !other.isOf(thread)
    }
}

/// What tells a database from any other, whichever path led to it. The order is the same in all processes.
package enum DatabaseIdentity: Hashable, Comparable, Sendable {
    case file(device: UInt64, inode: UInt64)
    case memory(name: String)

    /// That of the file at a path; nil where there is none. The file is not opened.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self = .file(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Sees whether the file that is open is the one at its place still.
    ///
    /// NB: SQLite goes on reading and writing a file that was removed or replaced, and nobody else ever finds what it writes.
    func requireFile(at url: URL) throws {
        guard case .file = self, Self(path: url.path) != self else { return }
        throw SQLiteError.ofMovedFile
    }
}

extension StoreLock {
    private struct Weak {
        weak var lock: StoreLock?
    }
    private static let known = Lock<[DatabaseIdentity: Weak]>([:])

    /// Whether somebody in this process uses the database at a place.
    static func isKnown(at url: URL) -> Bool {
        guard let identity = DatabaseIdentity(path: url.path) else { return false }
        return known.withLock { $0[identity]?.lock != nil }
    }

    /// The lock that everybody in this process who uses that database shares.
    static func of(_ identity: DatabaseIdentity) -> StoreLock {
        known.withLock { known in
            if let lock = known[identity]?.lock { return lock }
            known = known.filter { $0.value.lock != nil }
            let lock = StoreLock(identity)
            known[identity] = Weak(lock: lock)
            return lock
        }
    }
}
