/// Relationships that are kept in another way than before.
extension MigrationScript {
    /// A query for the pairs of a relationship as the old tables have them.
    private func pairs(_ relationship: NSRelationshipDescription) -> String? {
        transition.old.entityIfStored(relationship.entity).flatMap { transition.old.pairs(of: relationship.name, in: $0, named: now) }
    }

    mutating func fillJoins() {
        for join in transition.joins {
            for origin in join.origins {
                guard let pairs = pairs(origin.relationship) else { continue }
                run(Self.insertion(into: join.table, pairs, isReversed: origin.isReversed))
            }
        }
    }

    /// Distances that leave room between two positions, as in Core Data's own.
    private static let distance = 1024

    private static func insertion(into table: SQLJoinTable, _ pairs: String, isReversed: Bool) -> String {
        let (master, other) = isReversed ? ("target", "owner") : ("owner", "target")
        let (position, back) = isReversed ? ("back", "position") : ("position", "back")
        var (names, values) = ([table.masterColumn, table.otherColumn], [master, other])
        if table.isReflexive { values = ["min(owner, target)", "max(owner, target)"] }
        if let order = table.masterOrder {
            names.append(order)
            values.append("coalesce(\(position), \(distance) * row_number() OVER (PARTITION BY \(master) ORDER BY \(other)))")
        }
        if let order = table.otherOrder {
            names.append(order)
            values.append("coalesce(\(back), \(distance) * row_number() OVER (PARTITION BY \(other) ORDER BY \(master)))")
        }
        return """
            INSERT OR IGNORE INTO \(table.name)(\(names.joined(separator: ", "))) \
            SELECT \(values.joined(separator: ", ")) FROM (\(pairs)) WHERE owner IS NOT NULL AND target IS NOT NULL
            """
    }

    mutating func fillKeys() {
        for fill in transition.fills {
            guard let pairs = pairs(fill.origin), let change = transition.tables.first(where: { $0.table.name == fill.table.name }) else {
                continue
            }
            refuse("SELECT 1 FROM (\(pairs)) GROUP BY target HAVING count(DISTINCT owner) > 1 LIMIT 1", .sharedTarget(fill.relationship))
            let order = fill.column.orderColumn.map { ", \(temporaryName($0, change)) = pair.position" } ?? ""
            let column = temporaryName(fill.column.name, change)
            run("UPDATE \(name(of: change)) SET \(column) = pair.owner\(order) FROM (\(pairs)) pair WHERE Z_PK = pair.target")
        }
    }

    /// Positions for those who have none yet, in the order of the keys.
    mutating func number(_ column: String, within owner: String, of table: String) {
        run(
            """
            UPDATE \(table) SET \(column) = place.number FROM (SELECT Z_PK AS key, \
            \(Self.distance) * row_number() OVER (PARTITION BY \(owner) ORDER BY \(column) IS NULL, \(column), Z_PK) AS number \
            FROM \(table) WHERE \(owner) IS NOT NULL) place WHERE Z_PK = place.key
            """
        )
    }
}

extension SQLSchema {
    /// A query for the pairs of a relationship: owner, target, the target's position and the owner's position. Nil where the store does not keep it.
    ///
    /// - Parameter named: what a table is called in the query.
    func pairs(of relationship: String, in entity: SQLEntity, named: (String) -> String) -> String? {
        if let column = entity.columns[relationship] {
            return Self.pairs("Z_PK", column.name, nil, column.orderColumn, named(entity.table)) + " WHERE \(column.name) IS NOT NULL"
        }
        switch entity.toMany[relationship] {
        case .foreignKey(let table, let column, _, let order)?:
            return Self.pairs(column, "Z_PK", order, nil, named(table)) + " WHERE \(column) IS NOT NULL"
        case .joinTable(let name, let owner, let target, let order, let inverseOrder)?:
            return Self.pairs(owner, target, order, inverseOrder, named(name))
        case .reflexive(let name, let column, let other, let order)?:
            return Self.pairs(column, other, order, order, named(name)) + " UNION " + Self.pairs(other, column, order, order, named(name))
        case nil: return nil
        }
    }

    private static func pairs(_ owner: String, _ target: String, _ position: String?, _ ownerPosition: String?, _ table: String) -> String {
        "SELECT \(owner) AS owner, \(target) AS target, \(position ?? "NULL") AS position, \(ownerPosition ?? "NULL") AS back FROM \(table)"
    }
}

extension CocoaError {
    fileprivate static func sharedTarget(_ relationship: NSRelationshipDescription) -> CocoaError {
        let isInverse = !relationship.isToMany
        let advice = isInverse ? "make \(relationship.path) to-many" : "give \(relationship.path) an inverse that is to-many"
        return .coreData(
            .migration,
            "Several objects lead to one, which \(relationship.path) cannot keep: \(advice), or migrate with a mapping model.",
            userInfo: ["entity": relationship.entity.name ?? "", "property": relationship.name]
        )
    }
}
