import Foundation
import SQLiteDriver

/// The connections of one store: one that writes, and as many readers as read at the same time.
///
/// In WAL mode readers see the last commit and never wait for the writer.
final class ConnectionPool: @unchecked Sendable {
    private struct Idle {
        var readers: [Connection] = []
        var isClosed = false
    }

    private static let idleLimit = 4

    private let open: @Sendable (Connection.Mode) throws -> Connection
    private let idle = Lock(Idle())
    // Guards the writer: one save at a time, in the order in which they come to the lock.
    private let writing = NSRecursiveLock()
    private var writer: Connection?

    init(open: @escaping @Sendable (Connection.Mode) throws -> Connection) { self.open = open }

    /// Runs `body` with a connection that nobody else uses meanwhile. Nested calls get connections of their own.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let connection =
            try idle.withLock { idle in
                if idle.isClosed { throw Self.closed }
                return idle.readers.popLast()
            } ?? open(.readOnly)
        defer { putBack(connection) }
        return try body(connection)
    }

    private func putBack(_ connection: Connection) {
        let isKept = idle.withLock { idle in
            guard !idle.isClosed, idle.readers.count < Self.idleLimit else { return false }
            idle.readers.append(connection)
            return true
        }
        if !isKept { connection.close() }
    }

    /// Runs `body` with the connection that writes.
    func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try writing.withLock {
            if idle.withLock({ $0.isClosed }) { throw Self.closed }
            let connection = try writer ?? open(.readWrite)
            writer = connection
            return try body(connection)
        }
    }

    /// Closes everything. The last connection that closes takes the write-ahead log into the file and removes it.
    func close() {
        let readers = idle.withLock { idle in
            defer { idle = Idle(readers: [], isClosed: true) }
            return idle.readers
        }
        readers.forEach { $0.close() }
        writing.withLock {
            writer?.close()
            writer = nil
        }
    }

    /// Hands over a connection that is open already.
    func adopt(writer connection: Connection) { writing.withLock { writer = connection } }

    private static var closed: CocoaError {
        .coreData(.persistentStoreOperation, "The store was removed from its coordinator; its objects cannot be read or saved any more.")
    }
}
