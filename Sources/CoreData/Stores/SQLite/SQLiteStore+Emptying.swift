import Foundation
import Logging
import SQLiteDriver

extension SQLiteStore {
    /// The same database, opened once more.
    func reopened(options: [AnyHashable: Any]?, mayMigrate: Bool = true) throws -> SQLiteStore {
        try SQLiteStore.open(
            StorePlace(type: type, url: url),
            model: model,
            configurationName: explicitConfiguration,
            options: options,
            mayMigrate: mayMigrate
        )
    }

    /// Whether an older or newer state was put in the place of the store while it was open: one of another version is to be migrated.
    ///
    /// NB: whoever has migrated the store itself, and may have emptied it since, has another model, mostly a later one, to which nothing would be left
    /// of what is new in it.
    var wasReplaced: Bool {
        guard let url, let place = try? StorePlace.existing(type: type, url: url),
            let found = try? place.metadata(timeout: DatabaseOptions.timeout(options)), let replacement = found.replacement
        else { return false }
        return replacement != state.withLock(\.metadata.replacement)
    }

    /// - Throws: `CocoaError` 134030 where the store was opened read-only.
    func requireWritable() throws {
        guard isReadOnly else { return }
        throw CocoaError.coreData(
            .persistentStoreSave,
            "The store at \(url?.path ?? "?") was opened read-only.",
            userInfo: [NSAffectedStoresErrorKey: [self]]
        )
    }

    /// Removes everything but the tables themselves, and becomes another store: in one transaction, of which the store in whose place it comes is told.
    ///
    /// - Precondition: nobody uses this instance yet.
    /// - Throws: a `CocoaError`; nothing has changed then.
    func empty(insteadOf old: SQLiteStore) throws {
        try requireWritable()
        let fresh = state.withLock { $0.metadata.ofEmptiedStore }
        let files = try reporting("empty the store") {
            try pool.write { connection in
                try connection.emptyingTransaction {
                    try Self.empty(connection, becoming: fresh)
                    try requireFile(of: connection)
                    old.successor.withLock { $0 = fresh.uuid }
                    return ownSupportFolder.map { ExternalFiles($0).all } ?? []
                }
            }
        }
        remains.withLock { $0 = files }
        become(fresh)
    }

    /// Removes everything but the model's tables themselves. Needs a transaction around it.
    static func empty(_ connection: Connection, becoming fresh: StoreMetadata) throws {
        // Metadata are made anew, and would not tell of what a migration has left.
        for table in try MigrationScript.parkedTables(connection) { try connection.execute("DROP TABLE \(table)") }
        try deleteAllRows(connection)
        try connection.execute("UPDATE \(SQLNames.entityTable) SET \(SQLNames.lastKey) = 0")
        try fresh.write(to: connection)
    }

    static func deleteAllRows(_ connection: Connection) throws {
        // A trigger would write into tables that are empty already.
        try connection.withoutTriggers {
            for table in try tablesWithRows(connection) { try connection.execute("DELETE FROM \(table)") }
        }
    }

    /// The tables of objects, links and history, and those of others; not those that say what the store is, nor those in which a virtual table
    /// keeps its own: it is emptied as a table, and first, while there is what it may look up.
    private static func tablesWithRows(_ connection: Connection) throws -> [String] {
        let names = try connection.rows(
            """
            SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') \
            AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'virtual' DESC
            """
        )
        return names.compactMap { row in
            guard case .text(let name)? = row.first, !SQLNames.systemTables.contains(name) else { return nil }
            return "\"\(name.replacingOccurrences(of: "\"", with: "\"\""))\""
        }
    }

    /// Gives back the space, and removes files beside the store. What fails here leaves nothing wrong, only something behind.
    func discardRemains() {
        let files = remains.withLock { $0 }
        Self.loggingFailure { try pool.write { try $0.discardRemains(files) } }
    }

    static func loggingFailure(_ discard: () throws -> Void) {
        do { try discard() } catch {
            Logger(label: "CoreData").warning("what is left of an emptied store could not be removed: \(error)")
        }
    }
}

extension Connection {
    /// A transaction that deletes so that nothing is found in free pages.
    func emptyingTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("PRAGMA secure_delete = ON")
        return try transaction(.immediate, body)
    }

    /// Gives back the space of what was deleted, in the file and in its log, and removes the files that had data of it: others may have saved into the
    /// empty store by now, with files of their own.
    func discardRemains(_ files: [URL]) throws {
        try execute("VACUUM")
        // Whoever reads an earlier state, as a pinned context, may do so for long: the log goes when he is done.
        try waiting(atMost: 1) { _ = try rows("PRAGMA wal_checkpoint(TRUNCATE)") }
        // One that somebody has removed already keeps none of the others.
        for file in files { SQLiteStore.loggingFailure { try FileManager.default.removeItem(at: file) } }
    }
}
