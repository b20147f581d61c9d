import CSQLite
import Foundation
import Logging
import SQLiteDriver

/// What is in a store is replaced by what is in another file, in one transaction: a process that is killed leaves the one or the other.
///
/// NB: not by renaming. A log that lies beside the old file would be taken for the new one's, and whoever has the old file open would go on with it.
struct StoreReplacement {
    let place: StorePlace
    /// The model of what is there.
    let source: SourceModelSearch.Found
    let timeout: TimeInterval
    /// Called before each statement; where it throws, the statement fails.
    var onStatement: ((String) throws -> Void)?

    /// Nobody else writes to the store from the beginning to the end; it can be read.
    ///
    /// - Parameters:
    ///   - isNeeded: is asked first, as another process may have been faster.
    ///   - make: makes the file that has the new contents, in which the history goes on counting.
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
            let strangers = try strangersStatements(connection)
            try dropTables(connection)
            try copyTables(connection)
            for sql in strangers { try restore(sql, connection) }
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
        let schema = try SQLSchema(reading: connection, model: source.model, configuration: source.configuration)
        let own = Set(schema.tables.map(\.name) + schema.joinTables.map(\.name) + Self.systemTables)
        let new = Set(try texts("SELECT name FROM new.sqlite_master WHERE type = 'table'", connection))
        // A virtual table goes first, and takes along those in which it keeps its own.
        let query = """
            SELECT name, sql LIKE 'CREATE VIRTUAL%' FROM main.sqlite_master WHERE type = 'table' ORDER BY 2 DESC
            """
        for row in try connection.rows(query) {
            guard case .text(let name) = row[0] else { continue }
            let isIndex = row[1] == .integer(1) && name.hasPrefix("Z")
            let isDeferred = name.hasPrefix(MigrationScript.parkedPrefix) && Int(name.dropFirst(MigrationScript.parkedPrefix.count)) != nil
            if own.contains(name) || new.contains(name) || isIndex || isDeferred {
                try connection.execute("DROP TABLE IF EXISTS main.\(quotedName(name))")
            }
        }
    }

    private static let historyTables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
    private static let systemTables = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"] + historyTables

    /// What others have hung on Core Data's tables. NB: the names of its own indexes and triggers begin with a Z, or with the name of their table.
    private func strangersStatements(_ connection: Connection) throws -> [String] {
        let query = """
            SELECT sql FROM main.sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name GLOB 'Z*' AND name NOT GLOB 'Z*'
            """
        return try texts(query, connection)
    }

    private func texts(_ query: String, _ connection: Connection) throws -> [String] {
        try connection.rows(query).compactMap { if case .text(let text) = $0[0] { text } else { nil } }
    }

    /// - Throws: what SQLite says, unless the statement is about something that is no more.
    private func restore(_ sql: String, _ connection: Connection) throws {
        let name = try connection.rows("SELECT count(*) FROM main.sqlite_master WHERE sql = ?1", [.text(sql)])
        guard name.first?.first == .integer(0) else { return }
        do {
            try connection.execute(sql)
        } catch let error as SQLiteError where error.code == SQLITE_ERROR {
            Logger(label: "CoreData").warning("\(place.url.path) has no longer what others had put there: \(sql): \(error).")
        }
    }

    private func copyTables(_ connection: Connection) throws {
        let query = "SELECT name, sql FROM new.sqlite_master WHERE sql IS NOT NULL AND type = ?1 ORDER BY rowid"
        for row in try connection.rows(query, [.text("table")]) {
            guard case .text(let name) = row[0], case .text(let sql) = row[1] else { continue }
            try connection.execute(sql)
            // NB: what was written to make the new contents is nothing that somebody who follows the store has missed.
            if Self.historyTables.contains(name) { continue }
            try connection.execute("INSERT INTO main.\(quotedName(name)) SELECT * FROM new.\(quotedName(name))")
        }
        for row in try connection.rows(query, [.text("index")]) { if case .text(let sql) = row[1] { try connection.execute(sql) } }
    }
}

/// A store is of an older version that there is a mapping model for: whoever opens it has to migrate it first.
struct MappingModelWanted: Error {
    let source: SourceModelSearch.Found
}
