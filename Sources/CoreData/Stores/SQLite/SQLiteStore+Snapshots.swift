import Foundation
import SQLiteDriver

/// Reading the store as it was: in a transaction that stays open, on a connection of its own.
///
/// In WAL mode such a transaction sees one state of the file, whatever others write, in this process or another; nobody waits for it. What it
/// costs: the log cannot be taken into the file beyond that state, and grows.
extension SQLiteStore {
    /// Whether readers have a state of their own while others write.
    var keepsSnapshots: Bool { !pool.locksReaders }

    package func snapshot() throws -> (any RowStore)? {
        guard keepsSnapshots else { return nil }
        return try reporting("pin a query generation") {
            try snapshots.requireRoom(url)
            let held = SQLiteStore(
                OpenedDatabase(
                    schema: schema,
                    metadata: state.withLock(\.metadata),
                    pool: ConnectionPool(holding: try connectionInTransaction(), lock.identity, release: release),
                    counter: counter,
                    type: type,
                    isReadOnly: true
                ),
                model: model,
                configurationName: explicitConfiguration,
                // A store in a file has one.
                url: url ?? URL(fileURLWithPath: "/dev/null"),
                options: options,
                plans: plans
            )
            held.home = home
            snapshots.note(held)
            return held
        }
    }

    private func connectionInTransaction() throws -> Connection {
        let connection = try pool.takeReader()
        do {
            try connection.unobserved {
                try connection.run(TransactionKind.deferred.rawValue)
                // NB: a transaction has no state to read until something is read.
                _ = try StoreMetadata.uuid(in: connection)
            }
            try requireNoStrangers(connection)
            try requireFile()
        } catch {
            Self.endTransaction(connection)
            pool.putBack(connection)
            throw error
        }
        return connection
    }

    /// The connection serves others again; or it is closed, where the store is gone.
    private var release: @Sendable (Connection) -> Void {
        { [weak pool] connection in
            Self.endTransaction(connection)
            if let pool { pool.putBack(connection) } else { connection.close() }
        }
    }

    private static func endTransaction(_ connection: Connection) {
        // Fails only where there is none.
        connection.unobserved { try? connection.run("ROLLBACK") }
    }
}
