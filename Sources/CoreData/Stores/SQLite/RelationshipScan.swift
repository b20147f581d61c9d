import CSQLite
import SQLiteDriver

/// Reads a to-many relationship of most owners that there are, by passing over all rows of the members' table.
///
/// The index of a foreign key gives the keys of an owner's members, and each of these is looked up in the table: one row after the other takes a
/// third of that.
struct RelationshipScan {
    /// Fewer owners are looked up: they cost little.
    private static let fewestOwners = 1_000
    /// How many rows may be passed over for an owner: of more, most may be others'.
    private static let rowsPerOwner = 32

    private let sql: String

    /// Nil where rows have too many columns for that.
    ///
    /// - Parameter list: what is selected of each row of `members`, that is `t0`: first the owner's key.
    init?(_ list: String, columnCount: Int32, members: String, owners: String, ownerColumn: String) {
        guard columnCount <= Connection.sinkLimit else { return nil }
        // NB: what names no column of the row is found out once, before the first row.
        sql = """
            SELECT \(Connection.sinkName)(\(list)) FROM \(members) t0 WHERE \(SQLDialect.withoutIndex)\(ownerColumn) NOTNULL \
            AND \(Self.largestKey(owners)) <= ?1 AND \(Self.largestKey(members)) <= ?2
            """
    }

    private static func largestKey(_ table: String) -> String { "(SELECT max(\(SQLNames.key)) FROM \(table))" }

    /// Hands the reader each member's row, in no order, after `note` was called with it; no row where it may be that the owners are less than
    /// half of those that there are, or that most rows are others'.
    func read(of keys: [Int64], _ connection: Connection, with reader: RowReader, note: (ArgumentValues) -> Void) throws {
        guard keys.count >= Self.fewestOwners, let owners = Owners(keys) else { return }
        try connection.withCached(sql) { statement in
            try statement.bind(.integer(Int64(2 * keys.count)), at: 1)
            try statement.bind(.integer(Int64(Self.rowsPerOwner * keys.count)), at: 2)
            try reader.sink(statement, connection) { row in
                guard owners.contains(sqlite3_value_int64(row.value(0))) else { return false }
                note(row)
                return true
            }
        }
    }

    /// Keys that are at least the half of those up to the largest.
    private struct Owners {
        private var isAsked: [Bool]

        init?(_ keys: [Int64]) {
            guard let largest = keys.max(), largest / 2 <= keys.count else { return nil }
            isAsked = Array(repeating: false, count: Int(largest) + 1)
            for key in keys { isAsked[Int(key)] = true }
        }

        func contains(_ key: Int64) -> Bool { isAsked.indices.contains(Int(key)) && isAsked[Int(key)] }
    }
}
