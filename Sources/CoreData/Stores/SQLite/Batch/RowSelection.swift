import Predicates
import SQLiteDriver

/// The rows that a batch request is about: a condition of the statement that changes them, or a query for their keys.
struct RowSelection {
    let entity: SQLEntity
    private var joins: String
    private var condition: SQLText
    private var window: SQLText

    /// - Parameter decision: what memory has found out, where SQL cannot tell.
    /// - Throws: `UndecidedRows` where that has to be found out, or is not true any more.
    init(_ query: FetchQuery, _ store: SQLiteStore, _ connection: Connection, _ decision: BatchDecision?) throws {
        let frame = store.plans.frame(entity: query.entity, includesSubentities: query.includesSubentities, result: .references)
        entity = frame.entity
        var sql = PredicateSQL(entity: frame.entity, cache: store.plans, home: store.home)
        sql.text.sql = frame.entityFilter
        let beyond = try query.predicate.map { try sql.writeConjuncts(of: $0) } ?? []
        if let error = sql.otherKind { throw error }
        let isWindowed = query.limit > 0 || query.offset > 0
        if isWindowed, store.type == NSSQLiteStoreType { try query.requireStoredOrder() }
        let order = isWindowed ? try sql.order(by: query.sortDescriptors) : ""
        (joins, condition) = (sql.scopes[0].joinClauses, sql.text)
        window = SQLText(sql: order ?? "")
        if beyond.isEmpty, order != nil {
            if isWindowed { window.append(FetchPlan.limit(query)) }
        } else {
            try decide(by: decision, DecisionCheck(store: store, connection: connection), sortsInMemory: order == nil)
        }
    }

    /// The rows are those that memory has chosen, if it would choose them now.
    private mutating func decide(by decision: BatchDecision?, _ check: DecisionCheck, sortsInMemory: Bool) throws {
        let candidates = try check.candidates(select(SQLNames.rowColumns.map { "t0.\($0)" }.joined(separator: ", ")))
        guard let decision, try check.holds(decision, for: candidates) else {
            throw UndecidedRows(
                store: check.store.number,
                candidates: candidates,
                sortsInMemory: sortsInMemory,
                isOvertaken: decision != nil
            )
        }
        (joins, window) = ("", SQLText())
        let keys = SQLiteValue.keys(decision.chosen.map(\.key))
        condition = SQLText(sql: " WHERE t0.\(SQLNames.key) IN \(SQLDialect.list)", parameters: [keys])
    }

    /// What follows the table, whose alias is t0, in an UPDATE or DELETE.
    var clause: SQLText {
        if joins.isEmpty, window.sql.isEmpty { return condition }
        let keys = select("t0.\(SQLNames.key)")
        return SQLText(sql: " WHERE t0.\(SQLNames.key) IN (\(keys.sql))", parameters: keys.parameters)
    }

    /// A query of the rows.
    func select(_ columns: String) -> SQLText {
        SQLText(
            sql: "SELECT \(columns) FROM \(entity.table) t0\(joins)\(condition.sql)\(window.sql)",
            parameters: condition.parameters + window.parameters
        )
    }

    func rows(_ reader: KeyReader) throws -> [KeyReader.Found] {
        let query = select("\(SQLNames.reference("t0"))")
        return try reader.rows(query.sql, query.parameters)
    }
}

/// Reads keys with the entities of their rows.
struct KeyReader {
    typealias Found = (key: Int64, entity: Int)

    let store: SQLiteStore
    let connection: Connection

    /// The rows of a query of keys and numbers of entities. A number that the model does not have is that of no entity: those rows are left out.
    func rows(_ sql: String, _ parameters: [SQLiteValue]) throws -> [Found] { try rows(sql) { try $0.bind(parameters) } }

    func rows(_ sql: String, _ bind: (Statement) throws -> Void) throws -> [Found] {
        try connection.withCached(sql) { statement in
            try bind(statement)
            var rows: [Found] = []
            var latest: (number: Int64, entity: Int) = (-1, 0)
            guard try statement.step() else { return rows }
            repeat {
                let number = statement.int(1)
                if number != latest.number {
                    guard let entity = store.schema.entity(numbered: Int(number)) else { continue }
                    latest = (number, entity.description.index)
                }
                rows.append((statement.int(0), latest.entity))
            } while try statement.next()
            return rows
        }
    }
}

/// Rows of others that a batch request changes along relationships. The version of each rises once, whatever leads to it.
struct TouchedRows {
    /// By the index of the root entity.
    private var keys: [Int: Set<Int64>] = [:]
    /// By entity and relationship.
    private var lists: [List: Set<Int64>] = [:]

    private struct List: Hashable {
        let entity: Int
        let property: String
    }

    mutating func add(_ row: KeyReader.Found, _ property: String, root: Int) {
        keys[root, default: []].insert(row.key)
        lists[List(entity: row.entity, property: property), default: []].insert(row.key)
    }

    var rows: [BatchChanges.Rows] {
        lists.filter { !$0.value.isEmpty }.sorted { ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property) }
            .map { BatchChanges.Rows(entity: $0.key.entity, keys: $0.value.sorted(), properties: [$0.key.property], isRelated: true) }
    }

    /// Leaves out rows whose versions rise anyway.
    mutating func exclude(_ written: some Sequence<Int64>, root: Int) {
        if keys[root] != nil { keys[root]?.subtract(written) }
    }

    /// Leaves out new rows of an entity: whoever is told of them is not told that they were changed.
    mutating func exclude(inserted: some Sequence<Int64>, entity: Int, root: Int) {
        guard keys[root] != nil else { return }
        keys[root]?.subtract(inserted)
        for list in lists.keys where list.entity == entity { lists[list]?.subtract(inserted) }
    }

    /// Advances the versions: one statement for each table.
    func advance(_ store: SQLiteStore, _ connection: Connection) throws {
        for (root, keys) in keys.sorted(by: { $0.key < $1.key }) where !keys.isEmpty {
            let entity = store.schema.entity(for: store.model.entitiesInIndexOrder[root])
            try connection.run(store.saveStatements(entity.description).touch, [.keys(keys.sorted())])
        }
    }
}

extension SQLEntity {
    /// Whether a relationship's other end is in this store, and where it is kept.
    func targets(of relationship: NSRelationshipDescription, _ schema: SQLSchema) -> SQLText? {
        guard let destination = schema.entityIfStored(relationship.destination)?.table else { return nil }
        let (keys, found) = ("IN \(SQLDialect.firstList)", SQLNames.reference("d"))
        func joined(_ column: String) -> String { SQLNames.join(destination, "d", on: column) }
        if !relationship.isToMany {
            guard let column = columns[relationship.name]?.name else { return nil }
            return SQLText(sql: "SELECT DISTINCT \(found) FROM \(table) o \(joined("o.\(column)")) WHERE o.\(SQLNames.key) \(keys)")
        }
        switch toMany[relationship.name] {
        case .foreignKey(let table, let column, _, _)?:
            return SQLText(sql: "SELECT \(found) FROM \(table) d WHERE d.\(column) \(keys)")
        case .joinTable(let name, let owner, let target, _, _)?:
            return SQLText(sql: "SELECT DISTINCT \(found) FROM \(name) j \(joined("j.\(target)")) WHERE j.\(owner) \(keys)")
        case .reflexive(let name, let column, let other, _)?:
            return SQLText(
                sql: """
                    SELECT \(found) FROM \(name) j \(joined("j.\(other)")) WHERE j.\(column) \(keys) UNION \
                    SELECT \(found) FROM \(name) j \(joined("j.\(column)")) WHERE j.\(other) \(keys)
                    """
            )
        case nil: return nil
        }
    }
}
