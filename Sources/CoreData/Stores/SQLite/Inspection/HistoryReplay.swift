import SQLiteDriver

/// Replays a part of a store's history onto an older copy of its file: what the history names is taken from the newer file, all else from the
/// older one, and that has to be the newer file again.
///
/// Whatever is not, the history does not tell: who follows it would never hear of it.
///
/// NB: positions in ordered relationships and derived attributes are not compared, as a history has no bits for the ones, and the others follow
/// from what it has.
struct HistoryReplay {
    let older, newer: StoreInspector
    let schema: SQLSchema
    private let claims: HistoryClaims
    private var findings = Findings()

    init(_ older: StoreInspector, _ newer: StoreInspector, _ schema: SQLSchema, after transaction: Int64) throws {
        (self.older, self.newer, self.schema) = (older, newer, schema)
        claims = try HistoryClaims(newer, schema, after: transaction)
    }

    /// Sentences about all rows that come out as others, a kind of difference in one.
    mutating func problems() throws -> [String] {
        for table in schema.tables { try compareRows(of: table) }
        for join in schema.joinTables { try comparePairs(of: join) }
        return findings.sentences
    }

    private mutating func compareRows(of table: SQLTable) throws {
        let entities = schema.entities.filter { $0.table == table.name }
        let columns = Set(entities.flatMap { $0.columns.values.map(\.name) }).sorted(by: binaryOrder)
        let properties = Dictionary(entities.map { (Int64($0.number), Self.compared($0, columns)) }) { $1 }
        let sql = "SELECT \((["Z_PK", "Z_ENT"] + columns).joined(separator: ", ")) FROM \(table.name) ORDER BY Z_PK"
        var rows = try SortedRows.Pair(older.prepare(sql), newer.prepare(sql), keyCount: 1)
        while let (before, after) = try rows.next() {
            guard let row = after ?? before, case .integer(let key) = row[0], case .integer(let number) = row[1] else { continue }
            let claim = claims[table.name, key]
            switch (before, after) {
            case (let before?, let after?):
                if claim.isNew || claim.isGone { findings.note("\(table.name) had rows before that the history says are new or gone", key) }
                for (name, place) in properties[number] ?? [] where before[place] != after[place] && !claim.names(name) {
                    findings.note("\(table.name) has rows with another \(name), and the history does not say so", key)
                }
            case (nil, _): if !claim.isNew { findings.note("\(table.name) has new rows that the history does not have", key) }
            case (_, nil): if !claim.isGone { findings.note("\(table.name) lacks rows that the history does not say were deleted", key) }
            }
        }
    }

    /// What of an entity's rows is compared, and where in the columns that are read.
    private static func compared(_ entity: SQLEntity, _ columns: [String]) -> [(name: String, place: Int)] {
        entity.columns.compactMap { name, column in
            guard !(entity.description.propertiesByName[name] is NSDerivedAttributeDescription) else { return nil }
            return columns.firstIndex(of: column.name).map { (name, $0 + 2) }
        }
    }

    private mutating func comparePairs(of join: SQLJoinTable) throws {
        guard let master = schema.entityIfStored(join.master.entity)?.table, let other = schema.entityIfStored(join.other.entity)?.table
        else {
            return
        }
        let sql = "SELECT \(join.masterColumn), \(join.otherColumn) FROM \(join.name) ORDER BY 1, 2"
        var rows = try SortedRows.Pair(older.prepare(sql), newer.prepare(sql), keyCount: 2)
        while let (before, after) = try rows.next() {
            guard (before == nil) != (after == nil), let pair = before ?? after,
                case .integer(let masterKey) = pair[0], case .integer(let otherKey) = pair[1]
            else { continue }
            let (left, right) = (claims[master, masterKey], claims[other, otherKey])
            let isTold = [(left, join.master.name), (right, join.other.name)].contains { $0.isNew || $0.isGone || $0.names($1) }
            if !isTold { findings.note("\(join.name) has other pairs, and the history does not say so", masterKey) }
        }
    }
}

/// What a part of a history says of each object that it names.
private struct HistoryClaims {
    struct Claim {
        var isNew = false, isGone = false
        var properties: Set<String> = []

        func names(_ property: String) -> Bool { isNew || properties.contains(property) }
    }

    private var byTable: [String: [Int64: Claim]] = [:]

    subscript(table: String, key: Int64) -> Claim { byTable[table]?[key] ?? Claim() }

    init(_ inspector: StoreInspector, _ schema: SQLSchema, after transaction: Int64) throws {
        let bits = Dictionary(schema.entities.map { ($0.number, HistoryBits($0.description)) }) { $1 }
        let sql = "SELECT ZENTITY, ZENTITYPK, ZCHANGETYPE, ZCOLUMNS FROM ACHANGE WHERE ZTRANSACTIONID > ?1"
        let statement = try inspector.prepare(sql, [.integer(transaction)])
        while try statement.step() {
            let number = Int(truncatingIfNeeded: statement.int(0))
            guard let entity = schema.entity(numbered: number), let kind = HistoryRecords.Kind(rawValue: statement.int(2)) else { continue }
            var claim = byTable[entity.table, default: [:]][statement.int(1), default: Claim()]
            switch kind {
            case .insert: claim.isNew = true
            case .delete: claim.isGone = true
            case .update: claim.properties.formUnion((statement.blob(3).flatMap { bits[number]?.properties(in: $0) } ?? []).map(\.name))
            }
            byTable[entity.table, default: [:]][statement.int(1)] = claim
        }
    }
}

/// The rows of a statement that come in the order of their keys, which are its first columns.
private struct SortedRows {
    private let statement: Statement
    private let keyCount: Int
    private(set) var row: [SQLiteValue]?

    private init(_ statement: Statement, _ keyCount: Int) throws {
        (self.statement, self.keyCount) = (statement, keyCount)
        try advance()
    }

    private mutating func advance() throws { row = try statement.step() ? (0..<Int32(statement.columnCount)).map(statement.value) : nil }

    private var key: [Int64]? {
        row.map { $0.prefix(keyCount).map { if case .integer(let number) = $0 { number } else { Int64.min } } }
    }

    /// Two statements' rows, those with the same key together.
    struct Pair {
        private var left, right: SortedRows

        init(_ left: Statement, _ right: Statement, keyCount: Int) throws {
            (self.left, self.right) = (try SortedRows(left, keyCount), try SortedRows(right, keyCount))
        }

        /// The rows of the next key. Nil after the last.
        mutating func next() throws -> (left: [SQLiteValue]?, right: [SQLiteValue]?)? {
            let (first, second) = (left.key, right.key)
            if first == nil, second == nil { return nil }
            let isLeft = first.map { first in second.map { !$0.lexicographicallyPrecedes(first) } ?? true } ?? false
            let isRight = second.map { second in first.map { !$0.lexicographicallyPrecedes(second) } ?? true } ?? false
            let rows = (isLeft ? left.row : nil, isRight ? right.row : nil)
            if isLeft { try left.advance() }
            if isRight { try right.advance() }
            return rows
        }
    }
}

/// What was found, each kind with how often and where first.
private struct Findings {
    private var found: [String: (count: Int, first: Int64)] = [:]

    mutating func note(_ kind: String, _ key: Int64) { found[kind] = ((found[kind]?.count ?? 0) + 1, found[kind]?.first ?? key) }

    var sentences: [String] {
        found.sorted { binaryOrder($0.key, $1.key) }.map { "\($0.key): \($0.value.count), the first is p\($0.value.first)." }
    }
}

extension StoreInspector {
    /// Where the history of this store does not lead from an older copy of its file to what is in it now; nothing, where who follows the history
    /// has heard of everything.
    ///
    /// Reads both files once, a row of each at a time. What the history names since is in memory.
    package func problems(since older: StoreInspector, with model: NSManagedObjectModel) throws -> [String] {
        guard uuid == older.uuid else { return ["\(older.url.path) is no older copy of this store: its identifier is another."] }
        guard try hasHistory() else { return ["The store has no history."] }
        guard versionHashes == older.versionHashes else { return ["\(older.url.path) is of another version of the model."] }
        let (start, end) = (try older.lastTransaction(), try lastTransaction())
        let count = try number("SELECT count(*) FROM ATRANSACTION WHERE Z_PK > ?1", [.integer(start)])
        guard start <= end else { return ["\(older.url.path) is the newer one: it has transaction \(start), and this store \(end)."] }
        guard count == end - start else { return ["The history since is not whole: \(count) of \(end - start) transactions are there."] }
        var replay = try HistoryReplay(older, self, schema(of: model), after: start)
        return try inStore(url) { try replay.problems() }
    }

    /// The number that was given to the last one, deleted or not.
    private func lastTransaction() throws -> Int64 {
        let counted = try number("SELECT max(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT = \(HistoryTables.transaction)")
        return try hasHistory() ? max(counted, number("SELECT max(Z_PK) FROM ATRANSACTION")) : counted
    }

    fileprivate func prepare(_ sql: String, _ values: [SQLiteValue] = []) throws -> Statement {
        try inStore(url) {
            let statement = try connection.prepare(sql)
            try statement.bind(values)
            return statement
        }
    }
}
