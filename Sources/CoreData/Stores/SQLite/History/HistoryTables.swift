import Foundation
import SQLiteDriver

/// The tables in which a store keeps its history, as Apple's Core Data makes them.
struct HistoryTables: Sendable {
    /// The numbers of their rows' entities, under which `Z_PRIMARYKEY` counts them.
    static let (change, transaction, string) = (16001, 16002, 16003)
    private static let names = [change: "CHANGE", transaction: "TRANSACTION", string: "TRANSACTIONSTRING"]

    /// How many columns there are for what is kept of deleted objects.
    let tombstoneCount: Int

    /// Those that a database has; nil where it has none.
    ///
    /// - Throws: `CocoaError` 134020 where tables of these names are something else.
    init?(in connection: Connection, _ place: StorePlace) throws {
        guard try Self.areThere(connection) else { return nil }
        for (table, columns) in Self.columns {
            let known = Set(try Self.columns(of: table, connection))
            if let missing = columns.first(where: { !known.contains($0) }) {
                throw CocoaError.coreData(
                    .persistentStoreIncompatibleSchema,
                    "The history in \(place.url.path) is not one that Core Data made: \(table) has no column \(missing).",
                    userInfo: [NSFilePathErrorKey: place.url.path]
                )
            }
        }
        tombstoneCount = try Self.columns(of: "ACHANGE", connection).filter { $0.hasPrefix("ZTOMBSTONE") }.count
    }

    /// Whether the database has a history, which whoever writes into it has to go on with.
    static func areThere(_ connection: Connection) throws -> Bool {
        try !connection.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ATRANSACTION'").isEmpty
    }

    /// Those of a database that is written, made where they are missing, with columns for what a model wants kept. In one transaction.
    static func prepared(in connection: Connection, _ place: StorePlace, _ schema: SQLSchema) throws -> HistoryTables {
        let wanted = schema.entities.map { $0.tombstoneAttributes.count }.max() ?? 0
        if let tables = try HistoryTables(in: connection, place), tables.tombstoneCount >= wanted, try areCounted(connection) {
            return tables
        }
        return try connection.transaction(.immediate) {
            if try !areThere(connection) { for statement in creation { try connection.execute(statement) } }
            // Checks what is there before it is changed.
            let known = try HistoryTables(in: connection, place)?.tombstoneCount ?? 0
            for index in min(known, wanted)..<wanted { try connection.execute("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(index) BLOB") }
            for (number, name) in names.sorted(by: { $0.key < $1.key }) {
                try connection.run(
                    "INSERT OR IGNORE INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?1, ?2, 0, 0)",
                    [.integer(Int64(number)), .text(name)]
                )
            }
            return HistoryTables(tombstoneCount: max(known, wanted))
        }
    }

    private init(tombstoneCount: Int) { self.tombstoneCount = tombstoneCount }

    private static func areCounted(_ connection: Connection) throws -> Bool {
        try connection.rows("SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT BETWEEN \(change) AND \(string)") == [[.integer(3)]]
    }

    private static func columns(of table: String, _ connection: Connection) throws -> [String] {
        try connection.rows("SELECT name FROM pragma_table_info(?1)", [.text(table)]).compactMap { row in
            if case .text(let name) = row[0] { name } else { nil }
        }
    }

    /// Without those that nobody reads.
    private static let columns = [
        "ACHANGE": ["Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"],
        "ATRANSACTION": ["Z_PK", "Z_ENT", "ZTIMESTAMP"] + texts.flatMap { ["Z\($0)TS", "Z\($0)"] },
        "ATRANSACTIONSTRING": ["Z_PK", "Z_ENT", "ZNAME"],
    ]
    private static let texts = ["AUTHOR", "BUNDLEID", "CONTEXTNAME", "PROCESSID"]

    private static let creation =
        [
            """
            CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, \
            ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )
            """,
            """
            CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, \
            ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, \
            ZPROCESSID VARCHAR, ZQUERYGEN BLOB )
            """,
            "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
            "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
        ] + texts.map { "CREATE INDEX ATRANSACTION_Z\($0)TS_INDEX ON ATRANSACTION (Z\($0)TS)" } + [
            "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
            "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
            "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
        ]
}

extension SQLEntity {
    /// The attributes whose values the history of a deletion keeps, in the order of its columns.
    ///
    /// NB: data that may be in files of their own are none of them.
    var tombstoneAttributes: [NSAttributeDescription] {
        description.propertiesInNameOrder.compactMap { $0 as? NSAttributeDescription }.filter {
            $0.preservesValueInHistoryOnDeletion && !$0.allowsExternalBinaryDataStorage && columns[$0.name] != nil
        }
    }
}
