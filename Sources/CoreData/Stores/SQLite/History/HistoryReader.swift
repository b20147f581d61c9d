import CSQLite
import Foundation
import SQLiteDriver

/// Reads a part of a store's history: one statement for the transactions, one for their changes.
struct HistoryReader {
    let store: SQLiteStore
    let connection: Connection
    let tables: HistoryTables
    private var records = HistoryRecords()
    private var known = KnownDetails()

    init(_ store: SQLiteStore, _ connection: Connection, _ tables: HistoryTables) {
        (self.store, self.connection, self.tables) = (store, connection, tables)
    }

    /// Sets of properties that were met before: the same bits mostly come again.
    private struct KnownDetails {
        struct Key: Hashable {
            let entity: Int
            let bytes: [UInt8]
        }
        var latest: (key: Key, detail: Int32)?
        var all: [Key: Int32] = [:]
        var tombstones: [Int: [NSAttributeDescription]] = [:]
    }

    mutating func read(_ query: HistoryQuery) throws -> HistoryRecords {
        let predicate = HistoryPredicateSQL(query.predicate, query.subject, store)
        records.remainder = predicate.remainder
        let (first, parameter) = Self.start(query.start)
        let last = try query.changeLimit.flatMap { try lastTransaction(behind: query.start, within: $0) }
        records.isCut = last != nil
        let start = last.map { "\(first) AND t.Z_PK <= \($0)" } ?? first
        let isAboutChanges = query.subject == .changes && query.predicate != nil
        // What is about changes does not choose transactions by itself.
        let conditions = isAboutChanges ? [] : predicate.conditions
        let parameters = [parameter] + (isAboutChanges ? [] : predicate.parameters)
        try readTransactions(([start] + conditions).joined(separator: " AND "), parameters)
        // What SQL cannot say may be about changes.
        guard query.wantsChanges || isAboutChanges || records.remainder != nil else { return records }
        try readChanges(([start] + predicate.conditions).joined(separator: " AND "), [parameter] + predicate.parameters)
        if isAboutChanges { records.transactions.removeAll { $0.changes.isEmpty } }
        return records
    }

    private static func start(_ start: HistoryQuery.Start) -> (sql: String, SQLiteValue) {
        switch start {
        case .beginning: ("t.Z_PK > ?", .integer(0))
        case .after(let number): ("t.Z_PK > ?", .integer(number))
        case .later(let date): ("t.ZTIMESTAMP > ?", .real(date.timeIntervalSinceReferenceDate))
        }
    }

    /// The last transaction to be read where all have more changes than the limit.
    private func lastTransaction(behind start: HistoryQuery.Start, within limit: Int) throws -> Int64? {
        let number: Int64
        switch start {
        case .beginning: number = 0
        case .after(let after): number = after
        case .later: return nil
        }
        let beyond = "SELECT ZTRANSACTIONID FROM ACHANGE WHERE ZTRANSACTIONID > ?1 ORDER BY ZTRANSACTIONID LIMIT 1 OFFSET ?2"
        let rows = try connection.rows(beyond, [.integer(number), .integer(Int64(limit))])
        guard case .integer(let first)? = rows.first?.first else { return nil }
        // NB: one that is larger than the limit is read all the same.
        let next = try connection.rows("SELECT min(Z_PK) FROM ATRANSACTION WHERE Z_PK > ?", [.integer(number)])
        guard case .integer(let least)? = next.first?.first else { return nil }
        let last = max(first - 1, least)
        let hasMore = try !connection.rows("SELECT 1 FROM ATRANSACTION WHERE Z_PK > ? LIMIT 1", [.integer(last)]).isEmpty
        return hasMore ? last : nil
    }

    private mutating func readTransactions(_ condition: String, _ parameters: [SQLiteValue]) throws {
        let texts = ["AUTHOR", "CONTEXTNAME", "BUNDLEID", "PROCESSID"].map(HistoryPredicateSQL.text).joined(separator: ", ")
        let sql = "SELECT t.Z_PK, t.ZTIMESTAMP, \(texts) FROM ATRANSACTION t WHERE \(condition) ORDER BY t.Z_PK"
        try connection.withCached(sql) { statement in
            try statement.bind(parameters)
            while try statement.step() {
                records.transactions.append(
                    HistoryRecords.Transaction(
                        number: statement.int(0),
                        timestamp: statement.double(1),
                        author: statement.text(2),
                        contextName: statement.text(3),
                        bundleID: statement.text(4),
                        processID: statement.text(5)
                    )
                )
            }
        }
    }

    private mutating func readChanges(_ condition: String, _ parameters: [SQLiteValue]) throws {
        let kept = (0..<tables.tombstoneCount).map { ", c.ZTOMBSTONE\($0)" }.joined()
        let sql = """
            SELECT c.Z_PK, t.Z_PK, c.ZCHANGETYPE, c.ZENTITY, c.ZENTITYPK, c.ZCOLUMNS\(kept) \
            FROM ATRANSACTION t CROSS JOIN ACHANGE c ON c.ZTRANSACTIONID = t.Z_PK WHERE \(condition) ORDER BY t.Z_PK, c.Z_PK
            """
        var transaction = 0
        try connection.withCached(sql) { statement in
            try statement.bind(parameters)
            var isThere = try statement.step()
            while isThere {
                let number = statement.int(1)
                while transaction < records.transactions.count, records.transactions[transaction].number < number { transaction += 1 }
                let before = records.changes.count
                if transaction < records.transactions.count, records.transactions[transaction].number == number,
                    let change = change(statement)
                {
                    records.changes.append(change)
                    let first =
                        records.transactions[transaction].changes.isEmpty ? before : records.transactions[transaction].changes.lowerBound
                    records.transactions[transaction].changes = first..<before + 1
                }
                isThere = try statement.next()
            }
        }
    }

    /// Nil for a change of an object that the store's model knows nothing of.
    private mutating func change(_ statement: Statement) -> HistoryRecords.Change? {
        let (number, key) = (Int(truncatingIfNeeded: statement.int(3)), statement.int(4))
        guard let kind = HistoryRecords.Kind(rawValue: statement.int(2)), key > 0, let entity = store.schema.entity(numbered: number) else {
            return nil
        }
        let detail: Int32 =
            switch kind {
            case .insert: -1
            case .update: properties(statement, entity)
            case .delete: tombstone(statement, entity)
            }
        return HistoryRecords.Change(id: statement.int(0), key: key, entity: Int32(entity.description.index), kind: kind, detail: detail)
    }

    private mutating func properties(_ statement: Statement, _ entity: SQLEntity) -> Int32 {
        guard let bytes = statement.blob(5) else { return -1 }
        let key = KnownDetails.Key(entity: entity.number, bytes: bytes)
        if let latest = known.latest, latest.key == key { return latest.detail }
        let detail = known.all[key] ?? addProperties(bytes, entity)
        known.all[key] = detail
        known.latest = (key, detail)
        return detail
    }

    private mutating func addProperties(_ bytes: [UInt8], _ entity: SQLEntity) -> Int32 {
        guard let properties = store.historyBits(entity.description).properties(in: bytes) else { return -1 }
        records.properties.append(properties)
        return Int32(records.properties.count - 1)
    }

    private mutating func tombstone(_ statement: Statement, _ entity: SQLEntity) -> Int32 {
        guard tables.tombstoneCount > 0 else { return -1 }
        let attributes = known.tombstones[entity.number] ?? entity.tombstoneAttributes
        known.tombstones[entity.number] = attributes
        if attributes.isEmpty { return -1 }
        var values: [String: Any] = [:]
        for (index, attribute) in attributes.prefix(tables.tombstoneCount).enumerated() {
            values[attribute.name] = statement.value(6 + Int32(index)).tombstoneValue(of: attribute)
        }
        records.tombstones.append(values)
        return Int32(records.tombstones.count - 1)
    }
}

extension SQLiteValue {
    fileprivate func tombstoneValue(of attribute: NSAttributeDescription) -> Any? {
        guard attribute.attributeType == .transformableAttributeType, case .blob(let bytes) = self else {
            return value(of: attribute.attributeType)
        }
        // What its transformer does not take is shown as it is.
        return (try? attribute.value(for: Data(bytes))) ?? Data(bytes)
    }
}
