import SQLiteDriver

/// Notices whether others write to the file of a store that is read from the beginning to the end.
///
/// > Concurrency: the thread that reads.
final class SourceWatch {
    private let store: SQLiteStore
    private let version: [[SQLiteValue]]
    /// NB: one that only reads leaves a log behind that it had to make; this one is closed after others, with the store, and takes it away.
    private var connection: Connection?

    /// Nil for a store of which nobody else has the rows.
    init?(_ store: NSPersistentStore) throws {
        guard let store = store.databaseFile else { return nil }
        let connection = try store.pool.takeReader()
        (self.store, self.connection) = (store, connection)
        do {
            _ = try connection.rows("SELECT 1 FROM Z_METADATA")
            version = try connection.rows(Self.question)
        } catch {
            store.pool.putBack(connection)
            throw error
        }
    }

    private static let question = "PRAGMA data_version"

    /// - Throws: `CocoaError` 134110 where others have written since the beginning: what was read then does not go with what was read later.
    func requireUnchanged() throws {
        guard let connection, try connection.rows(Self.question) != version else { return }
        throw CocoaError.writtenMeanwhile(store)
    }

    func close() {
        if let connection { store.pool.putBack(connection) }
        connection = nil
    }
}

extension CocoaError {
    static func writtenMeanwhile(_ source: SQLiteStore) -> CocoaError {
        .coreData(.migration, "Others have written to \(source.url?.path ?? "the source") while it was migrated: try again.")
    }
}

extension NSPersistentStore {
    /// The store as a database in a file; nil for any other.
    var databaseFile: SQLiteStore? {
        guard let database = (self as? any DatabaseBacked)?.backing as? SQLiteStore, database.type == NSSQLiteStoreType else { return nil }
        if case .memory = database.lock.identity { return nil }
        return database
    }
}
