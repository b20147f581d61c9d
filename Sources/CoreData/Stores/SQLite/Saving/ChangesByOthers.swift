import CSQLite
import Foundation
import SQLiteDriver

/// Whether other connections have written into the database since a save looked last.
///
/// Used on the writing connection only, in its transaction.
final class ChangesByOthers {
    private var dataVersion: Int64?
    /// Whose number it is: that of another one says nothing.
    private weak var connection: Connection?

    /// Runs `body` where they have, or where that is not known. Where it throws, the next look finds the same.
    func look(_ connection: Connection, _ body: () throws -> Void) throws {
        guard case .integer(let version)? = try connection.rows("PRAGMA data_version").first?.first,
            version != dataVersion || connection !== self.connection
        else { return }
        try body()
        (dataVersion, self.connection) = (version, connection)
    }

    func forget() { dataVersion = nil }
}

extension SQLiteStore {
    /// Sees whether the database is still that of the store, and forgets what others may have overtaken. Runs in a transaction that writes.
    ///
    /// - Throws: `CocoaError` 134070 where others have emptied it and made another store of it: the keys that objects have here may name
    ///   strangers' rows there.
    func requireSameStore(_ connection: Connection) throws {
        try changesByOthers.look(connection) {
            orderMarks.forget()
            guard try StoreMetadata.uuid(in: connection) == uuid else { throw changed("emptied or replaced") }
            try connection.unobserved {
                try requireKnownModel(connection)
                try requireNoOtherHistory(connection)
            }
        }
    }

    /// - Throws: where others have begun a history, which would not tell of this store's changes.
    private func requireNoOtherHistory(_ connection: Connection) throws {
        if history == nil, try HistoryTables.areThere(connection) { throw changed("given a history of its changes") }
    }

    /// Runs `body` with a connection that reads, and sees whether what was read is still the store's.
    ///
    /// - Throws: what `body` throws; as `requireSameStore(_:)`.
    func reading<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try pool.read { connection in
            do {
                let result = try body(connection)
                try requireNoStrangers(connection)
                return result
            } catch let error as SQLiteError where error.code == SQLITE_ERROR {
                // A table or a column may be missing because the store is another's.
                try requireNoStrangers(connection)
                throw error
            }
        }
    }

    /// Sees whether what the latest statement reads is the store's. Cheap where nobody has written since.
    ///
    /// The empty store that its own coordinator makes of it counts as that: there is nothing in it.
    func requireNoStrangers(_ connection: Connection) throws {
        try connection.ifOthersHaveWritten {
            let found = try StoreMetadata.uuid(in: connection)
            if found == uuid { return try requireKnownModel(connection) }
            guard let found, found == successor.withLock({ $0 }) else { throw changed("emptied or replaced") }
        }
    }

    /// A migration leaves the identifier as it is, and changes the tables. So does an older state of the store that is put back.
    private func requireKnownModel(_ connection: Connection) throws {
        // NB: not told by the version of the tables, which starts anew where the store was destroyed before.
        guard try StoreMetadata.replacement(in: connection) == state.withLock(\.metadata.replacement) else { throw changed("replaced") }
        guard case .integer(let version)? = try connection.rows("PRAGMA schema_version").first?.first,
            version != tablesVersion.load(ordering: .relaxed)
        else { return }
        guard isKnownModel(try StoreMetadata.read(from: connection)) else { throw changed("migrated to another version of its model") }
        tablesVersion.store(version, ordering: .relaxed)
    }

    /// Whether the file says what it said when the store was opened, or what the store has written into it.
    private func isKnownModel(_ found: StoreMetadata?) -> Bool {
        let hashes = found?.versionHashes
        return hashes == openedVersionHashes || hashes == model.versionHashes(forConfigurationName: explicitConfiguration)
    }

    private func changed(_ how: String) -> CocoaError {
        // Some of it may be of another store by now.
        cache.forgetAll()
        let place = url?.path ?? "?"
        let sentence = "The store at \(place) was \(how) by others while it was open: remove it from the coordinator, and add it anew."
        return .replacedStore(sentence, self)
    }
}
