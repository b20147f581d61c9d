import Foundation
import SQLiteDriver

extension StoreInspector {
    /// Gives each object of the store, entity by entity in the order of their names, then by key: all as they are at one moment.
    ///
    /// - Throws: a `CocoaError` where the store is not of the model or cannot be read, and what `body` throws.
    package func forEachObject(of model: NSManagedObjectModel, _ body: (StoredObject) throws -> Void) throws {
        try atOneMoment {
            let schema = try schema(of: model)
            for entity in schema.entities.sorted(by: { binaryOrder($0.description.name ?? "", $1.description.name ?? "") }) {
                var reader = try StoredObjectReader(entity, schema, connection, store: uuid)
                try reader.forEach(body)
            }
        }
    }
}

extension StoreInspector {
    /// The objects with these URIs of IDs, in their order; those that are not in the store are left out.
    ///
    /// - Parameter memberLimit: how many members of a to-many are named; all are counted.
    /// - Throws: a `CocoaError` where the store is not of the model or cannot be read.
    package func objects(_ ids: [String], of model: NSManagedObjectModel, memberLimit: Int) throws -> [StoredObject] {
        let keys = Dictionary(grouping: ids.compactMap(parsed), by: \.entity)
        var found: [String: StoredObject] = [:]
        try atOneMoment {
            let schema = try schema(of: model)
            for entity in schema.entities {
                guard let own = keys[entity.description.name ?? ""] else { continue }
                let choice = StoredChoice(keys: own.map(\.key), memberLimit: memberLimit)
                var reader = try StoredObjectReader(entity, schema, connection, store: uuid, choice)
                try reader.forEach { found[$0.id] = $0 }
            }
        }
        return ids.compactMap { found[$0] }
    }

    private func atOneMoment(_ body: () throws -> Void) throws {
        try inStore(url) { isAlone ? try body() : try connection.transaction(.deferred, body) }
    }

    /// Nil for what is no URI of an object in this store.
    private func parsed(_ id: String) -> (entity: String, key: Int64)? {
        let parts = id.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[2] == uuid, parts[4].first == "p", let key = Int64(parts[4].dropFirst()) else { return nil }
        return (String(parts[3]), key)
    }
}

/// Some objects of an entity, and how much of them.
private struct StoredChoice {
    let keys: [Int64]
    let memberLimit: Int

    var condition: String { " AND Z_PK IN (\(keys.map { "\($0)" }.joined(separator: ", ")))" }
}

/// Reads the objects of one entity, with one statement for them and one for each of their to-many relationships.
private struct StoredObjectReader {
    private let schema: SQLSchema
    private let store: String
    private let entity: SQLEntity
    private let attributes: [NSAttributeDescription]
    private let toOnes: [NSRelationshipDescription]
    private var toManys: [StoredMembers]
    private let objects: Statement
    private let memberLimit: Int?

    /// - Parameter choice: nil for all objects with all that they have.
    init(_ entity: SQLEntity, _ schema: SQLSchema, _ connection: Connection, store: String, _ choice: StoredChoice? = nil) throws {
        (self.entity, self.schema, self.store, memberLimit) = (entity, schema, store, choice?.memberLimit)
        let condition = "Z_ENT = \(entity.number)" + (choice?.condition ?? "")
        let owners = "(SELECT Z_PK FROM \(entity.table) WHERE \(condition))"
        let stored = entity.columns.keys.sorted(by: binaryOrder).compactMap { entity.description.propertiesByName[$0] }
        attributes = stored.compactMap { $0 as? NSAttributeDescription }
        toOnes = stored.compactMap { $0 as? NSRelationshipDescription }.filter {
            !$0.isToMany && schema.entityIfStored($0.destination) != nil
        }
        toManys = try entity.toMany.sorted { binaryOrder($0.key, $1.key) }.compactMap { name, place in
            guard let relationship = entity.description.relationshipsByName[name],
                let target = schema.entityIfStored(relationship.destination)
            else { return nil }
            return try StoredMembers(name, connection.prepare(place.membersSQL(target.table, of: owners)))
        }
        let columns = attributes.compactMap { entity.columns[$0.name]?.name }.map { "t.\($0)" }
        let keys = toOnes.flatMap { relationship in
            let column = "t." + (entity.columns[relationship.name]?.name ?? "Z_PK")
            let target = schema.entity(for: relationship.destination).table
            return [column, "(SELECT Z_ENT FROM \(target) WHERE Z_PK = \(column))"]
        }
        let list = (["t.Z_PK", "t.Z_OPT"] + columns + keys).joined(separator: ", ")
        objects = try connection.prepare("SELECT \(list) FROM \(entity.table) t WHERE \(condition) ORDER BY t.Z_PK")
    }

    mutating func forEach(_ body: (StoredObject) throws -> Void) throws {
        while try objects.step() { try body(object()) }
    }

    private mutating func object() throws -> StoredObject {
        let key = objects.int(0)
        var object = StoredObject(entity: entity.description.name ?? "", id: id(key, entity.number) ?? "", version: objects.int(1))
        var column: Int32 = 2
        for attribute in attributes {
            object.attributes[attribute.name] = StoredValue(objects.value(column), attribute)
            column += 1
        }
        for relationship in toOnes {
            object.relationships[relationship.name] = .one(id(objects, column))
            column += 2
        }
        for index in toManys.indices {
            let (members, count) = try toManys[index].take(of: key, limit: memberLimit ?? .max)
            let ids = members.compactMap { id($0.key, $0.entity) }
            object.relationships[toManys[index].name] = memberLimit == nil ? .many(ids) : .counted(first: ids, count: count)
        }
        return object
    }

    /// The ID of the object whose key is in a column and its entity in the next.
    private func id(_ statement: Statement, _ column: Int32) -> String? {
        statement.isNull(column) ? nil : id(statement.int(column), Int(truncatingIfNeeded: statement.int(column + 1)))
    }

    private func id(_ key: Int64, _ number: Int) -> String? {
        schema.entity(numbered: number)?.description.name.map { "x-coredata://\(store)/\($0)/p\(key)" }
    }
}

/// The members of a to-many relationship of all objects of an entity, owner by owner as the keys of these grow.
private struct StoredMembers {
    let name: String
    private let statement: Statement
    /// The owner of the member that comes next.
    private var owner: Int64?

    init(_ name: String, _ statement: Statement) throws {
        (self.name, self.statement) = (name, statement)
        try advance()
    }

    private mutating func advance() throws { owner = try statement.step() ? statement.int(0) : nil }

    /// The first members of an object, and how many it has.
    ///
    /// - Precondition: the keys of calls grow.
    mutating func take(of key: Int64, limit: Int) throws -> ([(key: Int64, entity: Int)], count: Int) {
        var (members, count): ([(key: Int64, entity: Int)], Int) = ([], 0)
        while let owner, owner <= key {
            if owner == key {
                if count < limit { members.append((statement.int(1), Int(truncatingIfNeeded: statement.int(2)))) }
                count += 1
            }
            try advance()
        }
        return (members, count)
    }
}

extension SQLToMany {
    /// The statement that gives keys of objects with keys and entities of their members, in order.
    ///
    /// - Parameter owners: the keys of the objects, as a subquery.
    fileprivate func membersSQL(_ target: String, of owners: String) -> String {
        switch self {
        case .foreignKey(let table, let column, _, let orderColumn):
            let order = orderColumn.map { "\($0), " } ?? ""
            return "SELECT \(column), Z_PK, Z_ENT FROM \(table) WHERE \(column) IN \(owners) ORDER BY \(column), \(order)Z_PK"
        case .joinTable(let name, let owner, let other, let orderColumn, _):
            let order = orderColumn.map { "j.\($0), " } ?? ""
            return """
                SELECT j.\(owner), t.Z_PK, t.Z_ENT FROM \(name) j JOIN \(target) t ON t.Z_PK = j.\(other) WHERE j.\(owner) IN \(owners) \
                ORDER BY j.\(owner), \(order)t.Z_PK
                """
        case .reflexive(let name, let column, let other, let orderColumn):
            let place = orderColumn ?? "NULL"
            return """
                SELECT j.a, t.Z_PK, t.Z_ENT FROM (SELECT \(column) AS a, \(other) AS b, \(place) AS p FROM \(name) \
                UNION SELECT \(other), \(column), \(place) FROM \(name)) j JOIN \(target) t ON t.Z_PK = j.b \
                WHERE j.a IN \(owners) ORDER BY j.a, j.p, t.Z_PK
                """
        }
    }
}
