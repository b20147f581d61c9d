import Foundation
import SQLiteDriver

/// The connections of one store: one that writes, and as many readers as read at the same time.
///
/// In WAL mode readers see the last commit and never wait for the writer. Else they take turns with it.
// Sendable: readers stand behind a lock, and the writer is used only in turns to write.
final class ConnectionPool: @unchecked Sendable {
    typealias Open = @Sendable (Connection.Mode) throws -> Connection

    private struct Idle {
        var readers: [Connection] = []
        /// Nil once the pool is closed, so that nothing here keeps a database in memory alive any longer.
        var open: Open?
    }

    private static let idleLimit = 4

    /// The turn at the database, which the process' other stores on it wait for too.
    let lock: StoreLock
    /// Whether whoever reads must not take long, nor call up: writers wait for it.
    let locksReaders: Bool
    private let idle: Lock<Idle>
    // Used in turns to write only.
    private var writer: Connection?
    /// Whether the connections are this pool's to close.
    private let ownsConnections: Bool
    /// Whether there is one connection only, so that whoever reads is alone.
    private let readsAlone: Bool
    /// What becomes of a reader that is not needed any more.
    private let release: @Sendable (Connection) -> Void

    init(lock: StoreLock, locksReaders: Bool, open: @escaping Open) {
        self.lock = lock
        self.locksReaders = locksReaders
        idle = Lock(Idle(open: open))
        (ownsConnections, readsAlone, release) = (true, false, { $0.close() })
    }

    /// A pool of one connection, in a transaction that has begun to read: all who read take turns, and find what there was then.
    ///
    /// - Parameter release: called with the connection when the pool is closed, or gone.
    init(holding connection: Connection, _ identity: DatabaseIdentity, release: @escaping @Sendable (Connection) -> Void) {
        // Nobody else waits for this connection.
        lock = StoreLock(identity)
        locksReaders = true
        idle = Lock(Idle(readers: [connection], open: { [path = connection.path] _ in throw Self.changed(path) }))
        (ownsConnections, readsAlone, self.release) = (true, true, release)
    }

    /// A pool that reads through somebody else's connection, in a transaction that is under way: on that thread, and not beyond it.
    init(borrowing connection: Connection) {
        lock = StoreLock(.memory(name: ""))
        locksReaders = false
        // Sendable by the contract above.
        nonisolated(unsafe) let connection = connection
        idle = Lock(Idle(open: { _ in connection }))
        (ownsConnections, readsAlone, release) = (false, false, { _ in })
    }

    // The connection that can remove the log closes last. Nobody else has the pool any more, so nobody's turn is waited for.
    deinit {
        closeReaders()
        writer?.close()
    }

    /// Runs `body` with a connection that nobody else uses meanwhile. Nested calls get connections of their own.
    ///
    /// - Precondition: where `locksReaders`, calls are not nested.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        guard locksReaders else { return try readAtOnce(body) }
        return try readsAlone ? lock.write { try readAtOnce(body) } : lock.read { try readAtOnce(body) }
    }

    private func readAtOnce<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let connection = try takeReader()
        defer { putBack(connection) }
        let result = try body(connection)
        guard connection.isCurrent() else { throw Self.changed(connection.path) }
        return result
    }

    /// A connection that reads, the caller's alone until it is put back.
    func takeReader() throws -> Connection {
        let (known, open) = try idle.withLock { idle in
            guard let open = idle.open else { throw Self.closed }
            return (idle.readers.popLast(), open)
        }
        return try known.flatMap { $0.isCurrent() ? $0 : nil } ?? open(.readOnly)
    }

    func putBack(_ connection: Connection) {
        let isKept = idle.withLock { idle in
            guard ownsConnections, idle.open != nil, idle.readers.count < Self.idleLimit else { return false }
            idle.readers.append(connection)
            return true
        }
        if !isKept { release(connection) }
    }

    /// Runs `body` with the connection that writes. Waits for everybody in the process who came earlier.
    func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try lock.write {
            guard let open = idle.withLock({ $0.open }) else { throw Self.closed }
            let connection = try writer ?? open(.readWrite)
            writer = connection
            return try body(connection)
        }
    }

    /// Closes everything, after a save that is on its way. The last connection that closes takes the write-ahead log into the file and
    /// removes it.
    func close() {
        closeReaders()
        lock.write {
            writer?.close()
            writer = nil
        }
    }

    /// A connection that is the caller's alone, to close.
    func freshConnection() throws -> Connection {
        guard let open = idle.withLock({ $0.open }) else { throw Self.closed }
        return try open(.readOnly)
    }

    /// Ends everything: who waits for a turn to write, fails.
    ///
    /// - Precondition: the caller has the turn to write.
    func retire() { closeReaders() }

    /// Lets connections be those of another pool from now on, which has the same lock.
    ///
    /// - Precondition: nobody else has the other pool.
    func become(_ other: ConnectionPool) {
        let (open, opened) = other.handOver()
        lock.write {
            let readers = idle.withLock { idle in
                defer { idle = Idle(readers: [], open: open) }
                return idle.readers
            }
            readers.forEach(release)
            writer?.close()
            writer = opened
        }
    }

    private func handOver() -> (Open?, Connection?) {
        defer { writer = nil }
        return (idle.withLock { $0.open }, writer)
    }

    private func closeReaders() {
        let readers = idle.withLock { idle in
            defer { idle = Idle(readers: [], open: nil) }
            return idle.readers
        }
        readers.forEach(release)
    }

    /// Hands over a connection that is open already.
    ///
    /// - Precondition: the caller has the turn to write.
    func adopt(writer connection: Connection) { writer = connection }

    private static var closed: CocoaError {
        .removedStore("The store was removed from its coordinator; its objects cannot be read or saved any more.")
    }

    private static func changed(_ path: String) -> CocoaError {
        .coreData(.persistentStoreOperation, "\(path) was changed while it was read: try again.")
    }
}
