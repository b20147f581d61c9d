import Foundation
import SQLiteDriver

/// Deletes rows, and carries that along relationships by the delete rules, as deleting objects does: a few statements for each relationship,
/// however many rows there are.
struct BatchDeletion {
    private let store: SQLiteStore
    private let connection: Connection
    private let query: FetchQuery
    private let decision: BatchDecision?
    private let collectsKeys: Bool
    private let reader: KeyReader
    /// What is to be deleted, by the index of the root entity, …
    private var doomed: [Int: Set<Int64>] = [:]
    /// … and by that of the entity.
    private var rows: [Int: [Int64]] = [:]
    private var touched = TouchedRows()

    /// Who is told of rows before they go.
    private let history: HistoryWriter?

    init(
        _ store: SQLiteStore,
        _ connection: Connection,
        _ query: FetchQuery,
        _ decision: BatchDecision?,
        collectsKeys: Bool,
        _ history: HistoryWriter? = nil
    ) {
        (self.history, self.decision) = (history, decision)
        (self.store, self.connection, self.query, self.collectsKeys) = (store, connection, query, collectsKeys)
        reader = KeyReader(store: store, connection: connection)
    }

    mutating func run() throws -> BatchChanges {
        let selection = try RowSelection(query, store, connection, decision)
        if !collectsKeys, isAboutRowsAlone { return try deleteRows(of: selection) }
        var wave = doom(try selection.rows(reader))
        while !wave.isEmpty { wave = try cascade(wave) }
        for entity in entities { try requireNoDenier(of: entity) }
        for entity in entities { try release(entity) }
        try touched.advance(store, connection)
        for entity in entities { try delete(entity) }
        return changes
    }

    private var changes: BatchChanges {
        var changes = BatchChanges()
        changes.deleted = rows.sorted { $0.key < $1.key }.map { BatchChanges.Rows(entity: $0.key, keys: $0.value) }
        changes.updated = touched.rows
        changes.count = rows.values.reduce(0) { $0 + $1.count }
        return changes
    }

    /// Whether nothing but the rows themselves changes: there are no relationships, or their rules leave everything as it is.
    private var isAboutRowsAlone: Bool {
        let tree = query.includesSubentities ? store.schema.subtree(of: query.entity) : [store.schema.entity(for: query.entity)]
        return tree.allSatisfy { $0.description.relationshipsByName.values.allSatisfy(isLeftAlone) }
    }

    private func isLeftAlone(_ relationship: NSRelationshipDescription) -> Bool {
        if relationship.isTransient { return true }
        let isPaired = relationship.isToMany && relationship.inverse?.isToMany == true
        return !isPaired && relationship.deleteRule == .noActionDeleteRule
    }

    private func deleteRows(of selection: RowSelection) throws -> BatchChanges {
        let clause = selection.clause
        try connection.run("DELETE FROM \(selection.entity.table) AS t0\(clause.sql)", clause.parameters)
        var changes = BatchChanges()
        changes.count = connection.changes
        changes.unlistedRoots = [query.entity.rootEntity.index]
        return changes
    }

    private var entities: [SQLEntity] { rows.keys.sorted().map { store.schema.entity(for: store.model.entitiesInIndexOrder[$0]) } }

    private func keys(_ entity: SQLEntity) -> SQLiteValue { .keys(rows[entity.description.index] ?? []) }

    /// Notes rows to be deleted; those that were not yet, by entity.
    private mutating func doom(_ found: [KeyReader.Found]) -> [Int: [Int64]] {
        var new: [Int: [Int64]] = [:]
        for row in found where doomed[root(row.entity), default: []].insert(row.key).inserted {
            new[row.entity, default: []].append(row.key)
        }
        for (entity, keys) in new { rows[entity, default: []] += keys }
        return new
    }

    private func root(_ entity: Int) -> Int { store.model.entitiesInIndexOrder[entity].rootEntity.index }

    private func isDoomed(_ row: KeyReader.Found) -> Bool { doomed[root(row.entity)]?.contains(row.key) ?? false }

    /// The rows that go with those of a wave, and are not of one before.
    private mutating func cascade(_ wave: [Int: [Int64]]) throws -> [Int: [Int64]] {
        var next: [Int: [Int64]] = [:]
        for (index, keys) in wave.sorted(by: { $0.key < $1.key }) {
            let entity = store.schema.entity(for: store.model.entitiesInIndexOrder[index])
            for relationship in relationships(of: entity) where relationship.deleteRule == .cascadeDeleteRule {
                guard let targets = entity.targets(of: relationship, store.schema) else { continue }
                next.merge(doom(try reader.rows(targets.sql, [.keys(keys)])), uniquingKeysWith: +)
            }
        }
        return next
    }

    private func relationships(of entity: SQLEntity) -> [NSRelationshipDescription] {
        entity.description.relationshipsByName.values.filter { !$0.isTransient }.sorted { $0.name < $1.name }
    }

    /// The rows at the other end that stay.
    private func survivors(of relationship: NSRelationshipDescription, _ entity: SQLEntity) throws -> [KeyReader.Found] {
        guard let targets = entity.targets(of: relationship, store.schema) else { return [] }
        return try reader.rows(targets.sql, [keys(entity)]).filter { !isDoomed($0) }
    }

    private func requireNoDenier(of entity: SQLEntity) throws {
        for relationship in relationships(of: entity) where relationship.deleteRule == .denyDeleteRule {
            let count = try survivors(of: relationship, entity).count
            if count > 0 {
                throw BatchValue(entity: entity.description, key: relationship.name).error(
                    .validationRelationshipDeniedDelete,
                    "still has objects, and its delete rule is Deny: nothing was deleted. \(count) of them would have to go first"
                )
            }
        }
    }

    /// Takes the rows of an entity out of the relationships of those that stay.
    private mutating func release(_ entity: SQLEntity) throws {
        for relationship in relationships(of: entity) {
            if relationship.deleteRule == .nullifyDeleteRule, let inverse = relationship.inverse {
                let survivors = try survivors(of: relationship, entity)
                if !inverse.isToMany { try requireOptional(inverse, survivors) }
                for row in survivors { touched.add(row, inverse.name, root: root(row.entity)) }
                if !inverse.isToMany { try nullify(relationship, inverse, entity) }
            }
            try removePairs(of: relationship, entity)
        }
    }

    /// - Throws: `CocoaError` 1570 for a row that has to have what is about to go.
    private func requireOptional(_ inverse: NSRelationshipDescription, _ survivors: [KeyReader.Found]) throws {
        for row in survivors {
            let entity = store.model.entitiesInIndexOrder[row.entity]
            guard entity.relationshipsByName[inverse.name]?.isOptional == false else { continue }
            throw BatchValue(entity: entity, key: inverse.name).wouldBeMissing(row.key)
        }
    }

    private func nullify(_ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription, _ entity: SQLEntity) throws {
        guard let destination = store.schema.entityIfStored(relationship.destination), let column = destination.columns[inverse.name] else {
            return
        }
        let names = [column.name, column.entityColumn, column.orderColumn].compactMap { $0 }.map { "\($0) = NULL" }
        try connection.run(
            "UPDATE \(destination.table) SET \(names.joined(separator: ", ")) WHERE \(column.name) IN \(SQLDialect.list)",
            [keys(entity)]
        )
    }

    /// Pairs go with either of their objects, whatever the rule.
    private func removePairs(of relationship: NSRelationshipDescription, _ entity: SQLEntity) throws {
        switch entity.toMany[relationship.name] {
        case .joinTable(let name, let owner, _, _, _)?:
            try connection.run("DELETE FROM \(name) WHERE \(owner) IN \(SQLDialect.list)", [keys(entity)])
        case .reflexive(let name, let column, let other, _)?:
            let gone = SQLDialect.firstList
            try connection.run("DELETE FROM \(name) WHERE \(column) IN \(gone) OR \(other) IN \(gone)", [keys(entity)])
        case .foreignKey?, nil: break
        }
    }

    private func delete(_ entity: SQLEntity) throws {
        try history?.noteDeletes(of: rows[entity.description.index] ?? [], entity.description)
        try connection.run(store.saveStatements(entity.description).deleteUnread, [keys(entity)])
    }
}
