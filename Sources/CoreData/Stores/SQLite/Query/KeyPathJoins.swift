import Predicates

/// The table that one SELECT is about, and what is joined to it to read key paths: each distinct prefix of a path once.
struct SQLScope {
    let alias: String
    let entity: SQLEntity
    /// The variable of a SUBQUERY that stands for a row.
    var variable: String?
    private var joins: [Join] = []

    private struct Join {
        let foreignKey: String
        let table: String
        let alias: String
    }

    init(alias: String, entity: SQLEntity, variable: String? = nil) {
        self.alias = alias
        self.entity = entity
        self.variable = variable
    }

    var joinClauses: String {
        joins.isEmpty ? "" : joins.reduce(into: "") { $0 += " LEFT " + SQLNames.join($1.table, $1.alias, on: $1.foreignKey) }
    }

    /// The alias of the table that a foreign key leads to; `newAlias` where it is not joined yet.
    ///
    /// NB: a row's key is unique in the whole table, so the companion column with the target's entity is not needed.
    /// - Throws: `BeyondSQL`; "the maximum number of tables in a join" is 64.
    mutating func join(_ table: String, on foreignKey: String, newAlias: String) throws -> String {
        if let join = joins.first(where: { $0.foreignKey == foreignKey }) { return join.alias }
        guard joins.count < SQLLimits.joinedTables else { throw BeyondSQL() }
        joins.append(Join(foreignKey: foreignKey, table: table, alias: newAlias))
        return newAlias
    }
}

/// Where a key path leads.
enum KeyPathTarget {
    case attribute(column: String, NSAttributeDescription)
    /// A row: the text that gives its key, and its entity as the model declares it.
    case row(key: String, NSEntityDescription)
    case entityNumber(column: String)
    /// The name of the entity with the number in `column`, which is `entity` or inherits from it.
    case entityName(column: String, SQLEntity)
    /// A to-many relationship of the row with the key `owner`, and the keys that are then read from its elements.
    case collection(SQLCollection, rest: ArraySlice<String>)
}

/// The contents of a to-many relationship of one row.
struct SQLCollection {
    /// The text that gives the key of the row.
    let owner: String
    let storage: SQLToMany
    let destination: SQLEntity
    /// The relationship, by its own entity and name.
    let entity: NSEntityDescription
    let name: String
}

extension PredicateSQL {
    /// Walks a key path from the row of a scope, joining what it passes.
    ///
    /// - Throws: `BeyondSQL`, or the error for a key that does not exist.
    mutating func target(of keyPath: String, scope: Int) throws -> KeyPathTarget {
        let isSingle = !keyPath.utf8.contains(UInt8(ascii: "."))
        let keys = isSingle ? [keyPath] : keyPath.split(separator: ".").map(String.init)
        var (key, entity) = row(of: scope)
        var stored: SQLEntity? = scopes[scope].entity
        var alias = scopes[scope].alias
        for (index, name) in keys.enumerated() {
            if name == "self" || name == "SELF" || (name == "objectID" && index == keys.count - 1) { continue }
            guard let table = stored else { throw BeyondSQL() }
            // A row that is reached through a foreign key is joined only now that something is read from it.
            if alias.isEmpty { alias = try join(table, on: key, scope: scope) }
            if name == "entity" {
                switch keys[(index + 1)...] {
                case []: return .entityNumber(column: SQLNames.entity(of: alias))
                case ["name"]: return .entityName(column: SQLNames.entity(of: alias), table)
                default: throw BeyondSQL()
                }
            }
            guard let property = entity.propertiesByName[name] else { throw unknownKey(name, entity, in: keyPath) }
            guard !property.isTransient else { throw BeyondSQL() }
            if let relationship = property as? NSRelationshipDescription, relationship.isToMany {
                let collection = try collection(relationship, owner: key, table)
                return .collection(collection, rest: keys[(index + 1)...])
            }
            guard let column = table.columns[name] else { throw BeyondSQL() }
            let text = alias + "." + column.name
            if let attribute = property as? NSAttributeDescription {
                // What a key reads from a value, such as the length of a text, SQL does not know.
                guard index == keys.count - 1 else {
                    try requireList(attribute, keys[index + 1])
                    throw BeyondSQL()
                }
                return .attribute(column: text, attribute)
            }
            guard let relationship = property as? NSRelationshipDescription else { throw BeyondSQL() }
            (key, entity, alias) = (text, relationship.destination, "")
            stored = schema.entityIfStored(entity)
        }
        return .row(key: key, entity)
    }

    /// The row that a scope is about.
    func row(of scope: Int) -> (key: String, entity: NSEntityDescription) {
        (SQLNames.key(of: scopes[scope].alias), scopes[scope].entity.description)
    }

    private mutating func join(_ entity: SQLEntity, on foreignKey: String, scope: Int) throws -> String {
        let candidate = "t\(nextAlias)"
        let alias = try scopes[scope].join(entity.table, on: foreignKey, newAlias: candidate)
        if alias == candidate { nextAlias += 1 }
        return alias
    }

    private func collection(_ relationship: NSRelationshipDescription, owner: String, _ entity: SQLEntity) throws -> SQLCollection {
        guard let storage = entity.toMany[relationship.name], let destination = schema.entityIfStored(relationship.destination) else {
            throw BeyondSQL()
        }
        return SQLCollection(
            owner: owner,
            storage: storage,
            destination: destination,
            entity: relationship.entity,
            name: relationship.name
        )
    }

    /// - Throws: the error for an operator on collections after an attribute whose values are none.
    private func requireList(_ attribute: NSAttributeDescription, _ key: String) throws {
        guard key.hasPrefix("@"), ![.transformableAttributeType, .undefinedAttributeType].contains(attribute.attributeType) else { return }
        throw CocoaError.coreData(
            .coreData,
            "The attribute “\(attribute.name)” of \(attribute.entity.name ?? "?") is no collection: \(key) is for relationships to many."
        )
    }

    private func unknownKey(_ key: String, _ entity: NSEntityDescription, in keyPath: String) -> CocoaError {
        let path = key == keyPath ? "" : " (in the key path “\(keyPath)”)"
        return .coreData(.coreData, "Entity \(entity.name ?? "") has no property “\(key)”\(path).\(entity.hint(for: key))")
    }
}
