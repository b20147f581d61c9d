import SQLiteDriver

/// A relationship of objects that were copied, to what the objects have become that it led to.
struct CopiedRelationship {
    let relationship: NSRelationshipDescription
    let followed: NSRelationshipDescription
    /// The number of the mapping that the owners were copied by.
    let mapping: Int
    /// The number of the one mapping whose objects are meant; nil for those of any.
    let targets: Int?
}

extension RowCopy {
    /// What became of what, for those who lead to it.
    func note(_ pairs: [(source: RowReference, destination: RowReference)], mapping: Int) throws {
        guard !pairs.isEmpty else { return }
        let (old, new) = (source.model.entitiesInIndexOrder, destination.model.entitiesInIndexOrder)
        try write { connection in
            try connection.withCached("INSERT OR IGNORE INTO temp.became(root, key, mapping, made, kind) VALUES(?1, ?2, ?3, ?4, ?5)") {
                for (before, now) in pairs {
                    let numbers = [
                        Int64(source.schema.entity(for: old[Int(before.entity)]).rootNumber), before.key, Int64(mapping), now.key,
                        Int64(destination.schema.entity(for: new[Int(now.entity)]).number),
                    ]
                    try $0.bind(numbers.map(SQLiteValue.integer))
                    try $0.run()
                }
            }
        }
    }

    /// What became of the objects of a mapping that were copied.
    func noteCopied(by mapping: Int) throws {
        guard let rows = copied[mapping] else { return }
        try write { connection in
            try connection.run(
                """
                INSERT OR IGNORE INTO temp.became(root, key, mapping, made, kind) SELECT \(rows.old.rootNumber), Z_PK, \(mapping), \
                Z_PK + \(rows.distance), \(rows.new.number) FROM source.\(rows.old.table) WHERE Z_ENT = \(rows.old.number) AND Z_PK > 0
                """
            )
        }
    }

    /// Gives all owners what they lead to, and nothing else.
    ///
    /// - Returns: whether it was done; false where it takes somebody who chooses, or a form that is not written here.
    func relate(_ copied: CopiedRelationship) throws -> Bool {
        guard let writer = RelationWriter(copied, self) else { return false }
        let isDone = try write { connection in
            try connection.run("DELETE FROM temp.relation")
            try connection.run(writer.collection)
            for ambiguity in writer.ambiguities where try !connection.rows(ambiguity).isEmpty { return false }
            for statement in writer.statements { try connection.run(statement) }
            return true
        }
        guard isDone else { return false }
        for entity in [copied.relationship.entity, copied.relationship.destination] as [NSEntityDescription] {
            destination.cache.forget(root: entity.rootEntity.index)
        }
        destination.orderMarks.forget()
        return true
    }
}

/// The statements for one relationship.
private struct RelationWriter {
    /// Puts owners and targets that are there into the table `relation`.
    let collection: String
    /// Find whether somebody has several, where there is room for one.
    private(set) var ambiguities: [String] = []
    /// Write what is in that table.
    private(set) var statements: [String] = []

    /// The keys of the owners.
    private let made: String
    private let owner, target: SQLEntity

    init?(_ copied: CopiedRelationship, _ copy: RowCopy) {
        let (old, new) = (copy.source.schema, copy.destination.schema)
        let relationship = copied.relationship
        guard relationship.inverse !== relationship, let rows = copy.copied[copied.mapping],
            let before = old.entityIfStored(copied.followed.destination), let target = new.entityIfStored(relationship.destination),
            let pairs = old.pairs(of: copied.followed.name, in: rows.old, named: { "source.\($0)" })
        else { return nil }
        (owner, self.target, made) = (rows.new, target, "BETWEEN \(rows.keys.lowerBound) AND \(rows.keys.upperBound)")
        let mapping = copied.targets.map { " AND t.mapping = \($0)" } ?? ""
        collection = """
            INSERT OR IGNORE INTO temp.relation(owner, target, kind, position, back) SELECT o.Z_PK, t.made, t.kind, \
            \(Self.place("position", "o.Z_PK", "pair.target, t.made", relationship.isOrdered)), \
            \(Self.place("back", "t.made", "pair.owner", relationship.inverse?.isOrdered ?? false)) FROM (\(pairs)) pair \
            CROSS JOIN main.\(owner.table) o ON o.Z_PK = pair.owner + \(rows.distance) AND o.Z_PK \(made) \
            CROSS JOIN temp.became t ON t.root = \(before.rootNumber) AND t.key = pair.target\(mapping) \
            WHERE t.kind IN (\(MigrationScript.list(target.kinds(new)))) AND EXISTS (SELECT 1 FROM main.\(target.table) WHERE Z_PK = t.made)\
            \(relationship.isOrdered ? " ORDER BY o.Z_PK, pair.position" : "")
            """
        guard write(relationship) else { return nil }
    }

    private static func place(_ known: String, _ owner: String, _ target: String, _ isOrdered: Bool) -> String {
        let place = "\(OrderKeys.spacing) * row_number() OVER (PARTITION BY \(owner) ORDER BY \(target))"
        return isOrdered ? "coalesce(pair.\(known), \(place))" : "NULL"
    }

    private mutating func write(_ relationship: NSRelationshipDescription) -> Bool {
        if let column = owner.columns[relationship.name] {
            let back = relationship.inverse.flatMap { $0.isToMany ? nil : target.columns[$0.name] }
            if let back { clear(column, back) }
            writeKeys(column)
            if let back { writeBack(back) }
            return true
        }
        switch owner.toMany[relationship.name] {
        case .foreignKey(let table, let column, let entityColumn, let order)?:
            ambiguities.append(Self.several("target"))
            let values = [(column, "relation.owner"), (entityColumn, "\(owner.number)"), (order, "relation.position")]
            clear(table, values.map(\.0), "\(column) \(made)")
            set(table, values, of: "target")
        case .joinTable(let name, let column, let target, let order, let back)?: writePairs(name, column, target, order, back)
        case .reflexive?, nil: return false
        }
        return true
    }

    private static func several(_ end: String) -> String { "SELECT 1 FROM temp.relation GROUP BY \(end) HAVING count(*) > 1 LIMIT 1" }

    /// NB: an object that leads to its owner already has its place among that one's.
    private mutating func writeKeys(_ column: SQLColumn) {
        ambiguities.append(Self.several("owner"))
        clear(owner.table, column.names, "\(column.name) IS NOT NULL AND Z_PK \(made) AND Z_PK NOT IN (SELECT owner FROM temp.relation)")
        let values = [(column.name, "relation.target"), (column.entityColumn, "relation.kind"), (column.orderColumn, "relation.back")]
        set(owner.table, values, of: "owner", " AND \(owner.table).\(column.name) IS NOT relation.target")
    }

    /// One object has one at either end, each of which says so: whoever had one of these before has none.
    private mutating func clear(_ column: SQLColumn, _ back: SQLColumn) {
        ambiguities.append(Self.several("target"))
        clear(target.table, back.names, "\(back.name) \(made)")
        let others = "\(column.name) IN (SELECT target FROM temp.relation) AND Z_PK NOT IN (SELECT owner FROM temp.relation)"
        clear(owner.table, column.names, others)
    }

    private mutating func writeBack(_ back: SQLColumn) {
        set(target.table, [(back.name, "relation.owner"), (back.entityColumn, "\(owner.number)")], of: "target")
    }

    private mutating func clear(_ table: String, _ columns: [String?], _ rows: String) {
        let none = columns.compactMap { $0.map { "\($0) = NULL" } }
        statements.append("UPDATE main.\(table) SET \(none.joined(separator: ", ")) WHERE \(rows)")
    }

    private mutating func set(_ table: String, _ values: [(String?, String)], of row: String, _ others: String = "") {
        let set = values.compactMap { value in value.0.map { "\($0) = \(value.1)" } }
        let rows = "Z_PK = relation.\(row)\(others)"
        statements.append("UPDATE main.\(table) SET \(set.joined(separator: ", ")) FROM temp.relation WHERE \(rows)")
    }

    private mutating func writePairs(_ table: String, _ owner: String, _ target: String, _ order: String?, _ back: String?) {
        let places = [(order, "position"), (back, "back")].compactMap { place in place.0.map { ($0, place.1) } }
        let names = [owner, target] + places.map(\.0)
        let values = ["owner", "target"] + places.map(\.1)
        let conflict = order.map { "(\(owner), \(target)) DO UPDATE SET \($0) = excluded.\($0)" } ?? "DO NOTHING"
        statements += [
            """
            DELETE FROM main.\(table) WHERE \(owner) \(made) \
            AND NOT EXISTS (SELECT 1 FROM temp.relation r WHERE r.owner = \(owner) AND r.target = \(target))
            """,
            """
            INSERT INTO main.\(table)(\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM temp.relation WHERE true \
            ON CONFLICT \(conflict)
            """,
        ]
    }
}

extension SQLColumn {
    /// The column and those that go with it.
    fileprivate var names: [String?] { [name, entityColumn, orderColumn] }
}

extension SQLEntity {
    /// The numbers of an entity and those below.
    fileprivate func kinds(_ schema: SQLSchema) -> [Int] {
        ([description] + description.allSubentities).compactMap { schema.numbering[$0] }
    }
}
