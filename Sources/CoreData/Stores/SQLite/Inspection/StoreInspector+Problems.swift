import Foundation
import SQLiteDriver

extension StoreInspector {
    /// What is wrong with the file as a database and as a store; nothing, where it is sound.
    package func problems() throws -> [String] {
        let integrity = try texts("PRAGMA integrity_check").filter { $0 != "ok" }.map { "SQLite: \($0)" }
        let twice = try texts("SELECT Z_NAME FROM Z_PRIMARYKEY GROUP BY Z_NAME HAVING count(*) > 1 ORDER BY 1")
        return integrity + twice.map { "Z_PRIMARYKEY has entity \($0) twice." }
            + (UUID(uuidString: uuid) == nil ? ["The store's identifier \"\(uuid)\" is no UUID."] : [])
            + (versionHashes.isEmpty ? ["The metadata have no version hashes."] : [])
    }

    /// What does not fit between the store and a model: hashes, tables, keys, history.
    package func problems(with model: NSManagedObjectModel) throws -> [String] {
        let hashes = differences(from: model)
        do {
            let schema = try schema(of: model)
            return try hashes + schema.tables.flatMap(tableProblems)
                + schema.tables.flatMap { try strayProblems($0.name, schema) } + schema.entities.flatMap { try keyProblems($0, schema) }
                + schema.joinTables.flatMap { try joinProblems($0, schema) } + historyProblems(schema)
        } catch let error as CocoaError where error.code == .persistentStoreIncompatibleSchema {
            return hashes + [error.localizedDescription]
        }
    }

    /// Which entities are others in the model than in the store.
    package func differences(from model: NSManagedObjectModel) -> [String] {
        isCompatible(with: model) ? [] : hashProblems(model.entityVersionHashesByName)
    }

    private func hashProblems(_ expected: [String: Data]) -> [String] {
        Set(expected.keys).union(versionHashes.keys).sorted(by: binaryOrder).compactMap { name in
            switch (expected[name], versionHashes[name]) {
            case (nil, _): "Entity \(name) is in the store and not in the model."
            case (_, nil): "Entity \(name) is in the model and not in the store."
            case (let model, let store): model == store ? nil : "Entity \(name) has another version hash in the model than in the store."
            }
        }
    }

    private func tableProblems(_ table: SQLTable) throws -> [String] {
        guard let root = table.entities.first?.name else { return [] }
        let highest = try number("SELECT max(Z_PK) FROM \(table.name)")
        let reserved = try number("SELECT max(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_NAME = ?1", [.text(root)])
        return highest > reserved ? ["\(table.name) has the key \(highest), and Z_PRIMARYKEY gives out keys from \(reserved + 1) on."] : []
    }

    /// Rows whose entity is not one of those in the table.
    private func strayProblems(_ table: String, _ schema: SQLSchema) throws -> [String] {
        let numbers = schema.entities.filter { $0.table == table }.map { "\($0.number)" }.joined(separator: ", ")
        let count = try number("SELECT count(*) FROM \(table) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(numbers))")
        return count == 0 ? [] : ["\(table) has \(rowCount(count)) of no entity that is kept in it, which no fetch finds."]
    }

    private func rowCount(_ count: Int64) -> String { count == 1 ? "1 row" : "\(count) rows" }

    /// To-one relationships that lead to no object, or to one of a wrong entity.
    private func keyProblems(_ entity: SQLEntity, _ schema: SQLSchema) throws -> [String] {
        try entity.description.relationshipsByName.values.sorted(by: binaryNameOrder).compactMap { relationship in
            guard !relationship.isToMany, let column = entity.columns[relationship.name],
                let target = schema.entityIfStored(relationship.destination)
            else { return nil }
            return try dangling(
                "\(entity.table) WHERE Z_ENT = \(entity.number)",
                column.name,
                target,
                schema,
                "\(entity.description.name ?? "").\(relationship.name)"
            )
        }
    }

    private func joinProblems(_ join: SQLJoinTable, _ schema: SQLSchema) throws -> [String] {
        try [(join.masterColumn, join.other), (join.otherColumn, join.master)].compactMap { column, relationship in
            // The column holds keys of the objects that `relationship` leads to.
            guard let target = schema.entityIfStored(relationship.destination) else { return nil }
            return try dangling("\(join.name) WHERE 1", column, target, schema, relationship.path)
        }
    }

    private func dangling(_ rows: String, _ column: String, _ target: SQLEntity, _ schema: SQLSchema, _ name: String) throws -> String? {
        let numbers = schema.entities.filter { isKind($0.description, of: target.description) }.map { "\($0.number)" }
        let count = try number(
            """
            SELECT count(*) FROM \(rows) AND \(column) IS NOT NULL AND \(column) NOT IN \
            (SELECT Z_PK FROM \(target.table) WHERE Z_ENT IN (\(numbers.joined(separator: ", "))))
            """
        )
        return count == 0 ? nil : "\(name) leads to a \(target.description.name ?? "?") that is not there, in \(rowCount(count))."
    }

    private func isKind(_ entity: NSEntityDescription, of other: NSEntityDescription) -> Bool {
        entity.inheritanceChain.contains { $0 === other }
    }
}
