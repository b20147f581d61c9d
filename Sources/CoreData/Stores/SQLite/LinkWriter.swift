import Foundation
import SQLiteDriver

/// Writes what no row says: pairs of many-to-many relationships, relationships without an inverse, and positions in ordered ones.
struct LinkWriter {
    let store: SQLiteStore
    let connection: Connection
    let resolve: (RowReference) throws -> RowReference

    func write(_ changes: StoreChanges) throws {
        for (_, group) in changes.groups where !group.deletes.isEmpty { try removePairs(of: group) }
        for link in changes.links { try write(link) }
        for change in changes.positions { try write(change) }
    }

    private func toMany(_ relationship: NSRelationshipDescription) -> SQLToMany? {
        store.schema.entityIfStored(relationship.entity)?.toMany[relationship.name]
    }

    private func run(_ sql: String, _ values: [SQLiteValue]) throws { try connection.run(sql, values) }

    /// The pairs of deleted objects go with them, whoever made them and whether or not anybody has read them.
    private func removePairs(of group: ChangeSet.Group) throws {
        lazy var keys = SQLiteValue.keys(group.deletes.map(\.key))
        for relationship in group.entity.toManyRelationships {
            switch toMany(relationship) {
            case .joinTable(let name, let ownerColumn, _, _, _)?:
                try run("DELETE FROM \(name) WHERE \(ownerColumn) IN \(SQLDialect.list)", [keys])
            case .reflexive(let name, let column, let other, _)?:
                let gone = SQLDialect.firstList
                try run("DELETE FROM \(name) WHERE \(column) IN \(gone) OR \(other) IN \(gone)", [keys])
            case .foreignKey?, nil: break
            }
        }
    }

    private func write(_ link: ChangeSet.LinkChange) throws {
        let owner = try resolve(link.owner)
        switch toMany(link.relationship) {
        case .joinTable(let name, let ownerColumn, let targetColumn, let order, let inverseOrder)?:
            try removePairs(link, owner.key, "DELETE FROM \(name) WHERE \(ownerColumn) = ? AND \(targetColumn) = ?")
            let orders = [order, inverseOrder].compactMap { $0 }
            let names = ([ownerColumn, targetColumn] + orders).joined(separator: ", ")
            let parameters = Array(repeating: "?", count: 2 + orders.count).joined(separator: ", ")
            for target in link.added {
                let marks = try orders.map { SQLiteValue.integer(try store.orderMarks.mark(table: name, column: $0).next(connection)) }
                try run(
                    "\(SQLDialect.insertMissing) INTO \(name)(\(names)) VALUES(\(parameters))",
                    [.integer(owner.key), .integer(try resolve(target).key)] + marks
                )
            }
        case .reflexive(let name, let column, let other, let order)?:
            try removePairs(
                link,
                owner.key,
                "DELETE FROM \(name) WHERE (\(column), \(other)) = (?1, ?2) OR (\(column), \(other)) = (?2, ?1)"
            )
            try addReflexive(link, owner.key, name, column, other, order)
        case .foreignKey(let table, let column, let entityColumn, let order)?:
            try writeForeignKeys(link, owner, table, column, entityColumn, order)
        case nil:
            // The store has no entity that they could be of: they are in another.
            for target in link.added { _ = try resolve(target) }
        }
    }

    private func removePairs(_ link: ChangeSet.LinkChange, _ owner: Int64, _ sql: String) throws {
        for target in link.removed { try run(sql, [.integer(owner), .integer(try resolve(target).key)]) }
    }

    private func addReflexive(
        _ link: ChangeSet.LinkChange,
        _ owner: Int64,
        _ name: String,
        _ column: String,
        _ other: String,
        _ order: String?
    ) throws {
        // Both ends know the pair; it is written once, in the direction of the smaller key.
        for target in link.added {
            let key = try resolve(target).key
            let names = [column, other] + (order.map { [$0] } ?? [])
            let mark = try order.map { [SQLiteValue.integer(try store.orderMarks.mark(table: name, column: $0).next(connection))] } ?? []
            let parameters = Array(repeating: "?", count: names.count).joined(separator: ", ")
            try run(
                "\(SQLDialect.insertMissing) INTO \(name)(\(names.joined(separator: ", "))) VALUES(\(parameters))",
                [.integer(min(owner, key)), .integer(max(owner, key))] + mark
            )
        }
    }

    /// A to-many relationship without an inverse: its column is in the members' table.
    private func writeForeignKeys(
        _ link: ChangeSet.LinkChange,
        _ owner: RowReference,
        _ table: String,
        _ column: String,
        _ entityColumn: String?,
        _ order: String?
    ) throws {
        let entity = entityColumn.map { ", \($0) = NULL" } ?? ""
        for target in link.removed {
            try run(
                "UPDATE \(table) SET \(column) = NULL\(entity) WHERE \(SQLNames.key) = ? AND \(column) = ?",
                [.integer(try resolve(target).key), .integer(owner.key)]
            )
        }
        let number = store.schema.number(ofEntityAt: owner.entity)
        let setEntity = entityColumn.map { ", \($0) = \(number)" } ?? ""
        let setOrder = order.map { ", \($0) = ?" } ?? ""
        for target in link.added {
            // At the end, wherever it was with an owner before: one that has read its members says their positions later.
            let mark = try order.map { [SQLiteValue.integer(try store.orderMarks.mark(table: table, column: $0).next(connection))] } ?? []
            try run(
                "UPDATE \(table) SET \(column) = ?\(setEntity)\(setOrder) WHERE \(SQLNames.key) = ?",
                [.integer(owner.key)] + mark + [.integer(try resolve(target).key)]
            )
        }
    }

    private func write(_ change: ChangeSet.PositionChange) throws {
        let owner = try resolve(change.owner)
        switch toMany(change.relationship) {
        case .joinTable(let name, let ownerColumn, let targetColumn, let order?, _)?:
            let sql = "UPDATE \(name) SET \(order) = ? WHERE \(targetColumn) = ? AND \(ownerColumn) = ?"
            try writePositions(change, sql, [.integer(owner.key)], store.orderMarks.mark(table: name, column: order))
        case .foreignKey(let table, let column, _, let order?)?:
            // A member that leads to another owner by now has a position there.
            let sql = "UPDATE \(table) SET \(order) = ? WHERE \(SQLNames.key) = ? AND \(column) = ?"
            try writePositions(change, sql, [.integer(owner.key)], store.orderMarks.mark(table: table, column: order))
        case .reflexive(let name, let column, let other, let order?)?:
            let sql = "UPDATE \(name) SET \(order) = ?1 WHERE (\(column), \(other)) = (?2, ?3) OR (\(column), \(other)) = (?3, ?2)"
            try writePositions(change, sql, [.integer(owner.key)], store.orderMarks.mark(table: name, column: order))
        default: break
        }
    }

    /// Runs a statement for each member: with its position, its key, and what is the same for all.
    private func writePositions(_ change: ChangeSet.PositionChange, _ sql: String, _ common: [SQLiteValue], _ mark: OrderMark) throws {
        try connection.withCached(sql) { statement in
            try statement.bind([.null, .null] + common)
            for (member, position) in change.positions {
                try statement.bind(.integer(position), at: 1)
                try statement.bind(.integer(try resolve(member).key), at: 2)
                try statement.run()
                mark.note(position)
            }
        }
    }
}
