import Foundation
import SQLiteDriver

/// What is in a store is replaced by what is in another file, in one transaction: a process that is killed leaves the one or the other.
///
/// NB: not by renaming. A log that lies beside the old file would be taken for the new one's, and whoever has the old file open would go on with it.
struct StoreReplacement {
    let place: StorePlace
    let timeout: TimeInterval
    /// Called before each statement; where it throws, the statement fails.
    var onStatement: ((String) throws -> Void)?

    /// Nobody else writes to the store from the beginning to the end; it can be read.
    ///
    /// - Parameters:
    ///   - isNeeded: is asked first, as another process may have been faster.
    ///   - make: makes the file that has the new contents.
    ///   - discard: removes that, before the store is the new one for others, or the old one again: nobody would look for it afterwards.
    /// - Throws: what `make` throws, or the `SQLiteError` of a statement; the store is what it was then.
    func run(by file: URL, isNeeded: (StoreMetadata) -> Bool, _ make: () throws -> Void, discard: () -> Void) throws {
        let connection = try place.connect(.readWrite, timeout: timeout)
        defer { connection.close() }
        connection.onStatement = onStatement
        try connection.trustSchemaWithVirtualTables()
        try connection.transaction(.immediate) {
            guard let metadata = try StoreMetadata.read(from: connection), isNeeded(metadata) else { return }
            // NB: as long as nobody else can write: the next one's file has the same name.
            defer { discard() }
            try make()
            try attach(file, connection)
            let counters = try historyCounters(connection)
            try dropTables(connection)
            try copyTables(connection)
            try keep(counters, connection)
        }
    }

    /// NB: SQLite makes a file that is not there.
    private func attach(_ file: URL, _ connection: Connection) throws {
        try connection.run("ATTACH ?1 AS new", [.text(file.path)])
        guard try connection.rows("SELECT 1 FROM new.sqlite_master WHERE name = 'Z_METADATA'").isEmpty else { return }
        throw CocoaError.coreData(
            .migration,
            "\(file.path), which has what becomes of the store, is gone.",
            userInfo: [NSFilePathErrorKey: file.path]
        )
    }

    /// All of Core Data's, its history too: objects have other keys now. What others have put into the file stays.
    private func dropTables(_ connection: Connection) throws {
        // A virtual table goes first, and takes along those in which it keeps its own.
        let query = """
            SELECT name FROM main.sqlite_master WHERE type = 'table' AND (name GLOB 'Z*' OR name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING'))
            ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC
            """
        for row in try connection.rows(query) {
            if case .text(let name) = row[0] { try connection.execute("DROP TABLE IF EXISTS main.\(quotedName(name))") }
        }
    }

    private func historyCounters(_ connection: Connection) throws -> [[SQLiteValue]] {
        let numbers = "\(HistoryTables.change) AND \(HistoryTables.string)"
        return try connection.rows("SELECT Z_ENT, Z_NAME, Z_MAX FROM main.Z_PRIMARYKEY WHERE Z_ENT BETWEEN \(numbers)")
    }

    /// A history that begins anew goes on with other numbers. One is left out: a token of the old one has expired.
    private func keep(_ counters: [[SQLiteValue]], _ connection: Connection) throws {
        for counter in counters {
            let values = "VALUES(?1, ?2, 0, ifnull(?3, 0) + 1)"
            try connection.run("INSERT OR REPLACE INTO main.Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) \(values)", counter)
        }
    }

    private func copyTables(_ connection: Connection) throws {
        let query = "SELECT name, sql FROM new.sqlite_master WHERE sql IS NOT NULL AND type = ?1 ORDER BY rowid"
        for row in try connection.rows(query, [.text("table")]) {
            guard case .text(let name) = row[0], case .text(let sql) = row[1] else { continue }
            try connection.execute(sql)
            try connection.execute("INSERT INTO main.\(quotedName(name)) SELECT * FROM new.\(quotedName(name))")
        }
        for row in try connection.rows(query, [.text("index")]) { if case .text(let sql) = row[1] { try connection.execute(sql) } }
    }
}

/// A store is of an older version that there is a mapping model for: whoever opens it has to migrate it first.
struct MappingModelWanted: Error {
    let source: SourceModelSearch.Found
}
