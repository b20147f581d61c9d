import Foundation
import SQLiteDriver

/// Writes the history of one save, inside its transaction: a row for the save, and one for each change.
///
/// A statement for many changes, with numbers only. What it has written goes with the transaction, its own number too.
final class HistoryWriter {
    let store: SQLiteStore
    private let connection: Connection
    private let tables: HistoryTables
    /// What the save is told by.
    let number: Int64
    private let firstChange: Int64
    private var lastChange: Int64
    /// Whether a row stands where the last change stood that was given a number, until this save ends: what SQLite numbers goes on from there.
    private let hasPlaceholder: Bool

    init(_ store: SQLiteStore, _ connection: Connection, _ tables: HistoryTables) throws {
        (self.store, self.connection, self.tables) = (store, connection, tables)
        lastChange = try HistoryCounter.change.last(connection)
        number = try HistoryCounter.transaction.last(connection) + 1
        firstChange = lastChange
        // NB: a number that SQLite gives costs half of one that it is given, which it has to look for first.
        hasPlaceholder = try connection.rows("SELECT ifnull(max(Z_PK), 0) FROM ACHANGE").first?.first != .integer(lastChange)
        if hasPlaceholder { try connection.run("INSERT INTO ACHANGE(Z_PK) VALUES(?)", [.integer(lastChange)]) }
    }

    /// - Precondition: the rows are still there.
    func noteDeletes(of group: ChangeSet.Group) throws {
        if !group.deletes.isEmpty { try noteDeletes(of: group.deletes.lazy.map(\.key), group.entity) }
    }

    /// Rows of one entity are about to be deleted: a change for each of them that is there, with the values that are kept.
    func noteDeletes(of keys: some Sequence<Int64>, _ entity: NSEntityDescription) throws {
        let entity = store.schema.entity(for: entity)
        let kept = entity.tombstoneAttributes.compactMap { entity.columns[$0.name]?.name }
        let columns = kept.indices.map { ", ZTOMBSTONE\($0)" }.joined()
        let values = kept.map { ", \($0)" }.joined()
        try connection.run(
            """
            \(Self.head)\(columns)) SELECT \(HistoryTables.change), 2, Z_ENT, Z_PK, ?1\(values) \
            FROM \(entity.table) WHERE Z_PK IN (SELECT value FROM json_each(?2))
            """,
            [.integer(number), .keys(keys)]
        )
        lastChange += Int64(connection.changes)
    }

    /// Rows that were updated.
    func noteUpdates(of group: ChangeSet.Group, _ toManys: [RowReference: SlotMask]) throws {
        guard !group.updates.isEmpty else { return }
        let bits = store.historyBits(group.entity)
        var (keys, slots): ([Int64], SlotMask?) = ([], nil)
        func end() throws {
            if let slots, !keys.isEmpty { try noteUpdates(of: keys, group.entity, bits.bytes(slots, SlotMask())) }
            keys.removeAll(keepingCapacity: true)
        }
        for index in group.updates.indices {
            let key = group.updates[index].key
            if !toManys.isEmpty, let changed = toManys[group.reference(key)] {
                try noteUpdates(of: [key], group.entity, bits.bytes(group.updates[index].slots, changed))
                continue
            }
            if slots != group.updates[index].slots {
                try end()
                slots = group.updates[index].slots
            }
            keys.append(key)
        }
        try end()
    }

    /// Rows of one entity that were updated alike.
    func noteUpdates(of keys: [Int64], _ entity: NSEntityDescription, _ columns: [UInt8]) throws {
        try note(.update, keys, entity, .blob(columns))
    }

    /// New rows.
    func noteInserts(_ keys: ContiguousArray<Int64>, _ entity: NSEntityDescription) throws {
        var scattered: [Int64] = []
        var start = 0
        while start < keys.count {
            var end = start + 1
            while end < keys.count, keys[end] == keys[end - 1] + 1 { end += 1 }
            if end - start < Self.shortestRange {
                scattered += keys[start..<end]
            } else {
                try noteInserts(keys[start]...keys[end - 1], entity)
            }
            start = end
        }
        try note(.insert, scattered, entity, .null)
    }

    private static let shortestRange = 8

    /// All keys of a range are of new rows of that entity: reading them where they are is quicker than binding them.
    private func noteInserts(_ keys: ClosedRange<Int64>, _ entity: NSEntityDescription) throws {
        let entity = store.schema.entity(for: entity)
        try connection.run(
            "\(Self.head)) SELECT \(HistoryTables.change), 0, ?1, Z_PK, ?2 FROM \(entity.table) WHERE Z_PK BETWEEN ?3 AND ?4",
            [.integer(Int64(entity.number)), .integer(number), .integer(keys.lowerBound), .integer(keys.upperBound)]
        )
        lastChange += Int64(keys.count)
    }

    private func note(_ kind: HistoryRecords.Kind, _ keys: [Int64], _ entity: NSEntityDescription, _ columns: SQLiteValue) throws {
        guard !keys.isEmpty else { return }
        let values = "\(HistoryTables.change), \(kind.rawValue), ?1"
        let sql =
            keys.count == 1
            ? "\(Self.head), ZCOLUMNS) VALUES(\(values), ?4, ?2, ?3)"
            : "\(Self.head), ZCOLUMNS) SELECT \(values), value, ?2, ?3 FROM json_each(?4)"
        try connection.run(
            sql,
            [
                .integer(Int64(store.schema.entity(for: entity).number)), .integer(number), columns,
                keys.count == 1 ? .integer(keys[0]) : .keys(keys),
            ]
        )
        lastChange += Int64(keys.count)
    }

    private static let head = "INSERT INTO ACHANGE(Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID"

    /// All changes are noted. Says whether there are any: without, there is no transaction.
    func finish(_ origin: ChangeOrigin) throws -> Bool {
        if hasPlaceholder { try connection.run("DELETE FROM ACHANGE WHERE Z_PK = ?", [.integer(firstChange)]) }
        guard lastChange > firstChange else { return false }
        let texts = try [origin.author, Self.bundleID, origin.contextName, Self.processID].map(reference)
        try connection.run(
            """
            INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS) \
            VALUES(?, \(HistoryTables.transaction), ?, ?, ?, ?, ?)
            """,
            [.integer(number), .real(Date().timeIntervalSinceReferenceDate)] + texts
        )
        try HistoryCounter.change.note(lastChange, connection)
        try HistoryCounter.transaction.note(number, connection)
        return true
    }

    /// Where a text is among those that transactions refer to.
    private func reference(to text: String?) throws -> SQLiteValue {
        guard let text else { return .null }
        if let known = try connection.rows("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?", [.text(text)]).first { return known[0] }
        let key = try HistoryCounter.string.last(connection) + 1
        try connection.run(
            "INSERT INTO ATRANSACTIONSTRING(Z_PK, Z_ENT, ZNAME) VALUES(?, \(HistoryTables.string), ?)",
            [.integer(key), .text(text)]
        )
        try HistoryCounter.string.note(key, connection)
        return .integer(key)
    }

    private static let processID = ProcessInfo.processInfo.processName
    /// NB: a program on Linux mostly has none; then it is told by its name.
    private static let bundleID = Bundle.main.bundleIdentifier ?? processID
}

/// The number that a table of the history has given out last: none is given out twice, whatever has been deleted.
enum HistoryCounter {
    case change, transaction, string

    private var place: (entity: Int, table: String) {
        switch self {
        case .change: (HistoryTables.change, "ACHANGE")
        case .transaction: (HistoryTables.transaction, "ATRANSACTION")
        case .string: (HistoryTables.string, "ATRANSACTIONSTRING")
        }
    }

    /// 0 before the first.
    ///
    /// - Throws: `CocoaError` 134030 where there is hardly any number left, which a file may say.
    func last(_ connection: Connection) throws -> Int64 {
        let (entity, table) = place
        let counted = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(entity)"
        let rows = try connection.rows("SELECT max(0, ifnull((\(counted)), 0), ifnull((SELECT max(Z_PK) FROM \(table)), 0))")
        guard case .integer(let last)? = rows.first?.first, last < Int64.max / 2 else {
            throw CocoaError.coreData(.persistentStoreSave, "\(table) of the store has no numbers left for its history.")
        }
        return last
    }

    func note(_ last: Int64, _ connection: Connection) throws {
        try connection.run("UPDATE Z_PRIMARYKEY SET Z_MAX = ?1 WHERE Z_ENT = \(place.entity)", [.integer(last)])
    }
}
