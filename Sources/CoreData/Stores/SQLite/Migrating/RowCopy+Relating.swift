import SQLiteDriver

/// A relationship of objects that were copied, to what the objects have become that it led to.
struct CopiedRelationship {
    let relationship: NSRelationshipDescription
    let followed: NSRelationshipDescription
    /// The entities that the owners are of, before and now.
    let owners: (old: NSEntityDescription, new: NSEntityDescription)
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

    /// What became of the objects of a mapping that were copied, as far as it is there.
    func noteCopied(by mapping: Int) throws {
        guard let (old, new, distance) = copied[mapping] else { return }
        try write { connection in
            try connection.run(
                """
                INSERT OR IGNORE INTO temp.became(root, key, mapping, made, kind) SELECT \(old.rootNumber), Z_PK, \(mapping), Z_PK + \(distance), \
                \(new.number) FROM source.\(old.table) s WHERE Z_ENT = \(old.number) AND Z_PK > 0 \
                AND EXISTS (SELECT 1 FROM main.\(new.table) WHERE Z_PK = s.Z_PK + \(distance))
                """
            )
        }
    }

    /// Objects were deleted again.
    func forget(_ deleted: Set<RowReference>) throws {
        guard !deleted.isEmpty else { return }
        let new = destination.model.entitiesInIndexOrder
        try write { connection in
            for reference in deleted {
                let number = destination.schema.entity(for: new[Int(reference.entity)]).number
                try connection.run(
                    "DELETE FROM temp.became WHERE made = ?1 AND kind = ?2",
                    [.integer(reference.key), .integer(Int64(number))]
                )
            }
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
            if let ambiguity = writer.ambiguity, try !connection.rows(ambiguity).isEmpty { return false }
            for statement in writer.statements { try connection.run(statement) }
            return true
        }
        guard isDone else { return false }
        for entity in [copied.owners.new, copied.relationship.destination] as [NSEntityDescription] {
            destination.cache.forget(root: entity.rootEntity.index)
        }
        destination.orderMarks.forget()
        return true
    }
}

/// The statements for one relationship.
private struct RelationWriter {
    /// Puts owners and targets into the table `relation`.
    let collection: String
    /// Finds whether somebody has several, where there is room for one.
    private(set) var ambiguity: String?
    /// Writes what is in that table.
    private(set) var statements: [String] = []

    private let made: String

    init?(_ copied: CopiedRelationship, _ copy: RowCopy) {
        let (old, new) = (copy.source.schema, copy.destination.schema)
        let relationship = copied.relationship
        guard let owner = old.entityIfStored(copied.owners.old), let target = old.entityIfStored(copied.followed.destination),
            let destination = new.entityIfStored(copied.owners.new), let kinds = new.entityIfStored(relationship.destination)?.kinds(new),
            let pairs = old.pairs(of: copied.followed.name, in: owner, named: { "source.\($0)" })
        else { return nil }
        made = "SELECT made FROM temp.became WHERE mapping = \(copied.mapping)"
        let inverseIsOrdered = relationship.inverse?.isOrdered ?? false
        let mapping = copied.targets.map { " AND t.mapping = \($0)" } ?? ""
        collection = """
            INSERT OR IGNORE INTO temp.relation(owner, target, kind, position, back) SELECT o.made, t.made, t.kind, \
            \(Self.place("position", "o.made", "t.made", relationship.isOrdered)), \(Self.place("back", "t.made", "o.made", inverseIsOrdered)) \
            FROM (\(pairs)) pair \
            CROSS JOIN temp.became o ON o.root = \(owner.rootNumber) AND o.key = pair.owner AND o.mapping = \(copied.mapping) \
            CROSS JOIN temp.became t ON t.root = \(target.rootNumber) AND t.key = pair.target\(mapping) \
            WHERE t.kind IN (\(MigrationScript.list(kinds)))\(relationship.isOrdered ? " ORDER BY o.made, pair.position" : "")
            """
        guard write(relationship, destination) else { return nil }
    }

    private static func place(_ known: String, _ owner: String, _ target: String, _ isOrdered: Bool) -> String {
        let place = "\(OrderKeys.spacing) * row_number() OVER (PARTITION BY \(owner) ORDER BY \(target))"
        return isOrdered ? "coalesce(pair.\(known), \(place))" : "NULL"
    }

    private mutating func write(_ relationship: NSRelationshipDescription, _ owner: SQLEntity) -> Bool {
        if let column = owner.columns[relationship.name] {
            writeKeys(column, owner)
            return true
        }
        switch owner.toMany[relationship.name] {
        case .foreignKey(let table, let column, let entityColumn, let order)?:
            ambiguity = "SELECT 1 FROM temp.relation GROUP BY target HAVING count(*) > 1 LIMIT 1"
            let values = [(column, "relation.owner"), (entityColumn, "\(owner.number)"), (order, "relation.position")]
            update(table, values, among: column, of: "target")
        case .joinTable(let name, let column, let target, let order, let back)?: writePairs(name, column, target, order, back)
        case .reflexive?, nil: return false
        }
        return true
    }

    /// NB: an object that leads to its owner already has its place among that one's.
    private mutating func writeKeys(_ column: SQLColumn, _ owner: SQLEntity) {
        ambiguity = "SELECT 1 FROM temp.relation GROUP BY owner HAVING count(*) > 1 LIMIT 1"
        let values = [(column.name, "relation.target"), (column.entityColumn, "relation.kind"), (column.orderColumn, "relation.back")]
        update(owner.table, values, among: "Z_PK", of: "owner")
        statements[0] += " AND Z_PK NOT IN (SELECT owner FROM temp.relation)"
        statements[1] += " AND \(owner.table).\(column.name) IS NOT relation.target"
    }

    private mutating func update(_ table: String, _ values: [(String?, String)], among key: String, of row: String) {
        let known = values.compactMap { value in value.0.map { (column: $0, value: value.1) } }
        let (none, set) = (known.map { "\($0.column) = NULL" }, known.map { "\($0.column) = \($0.value)" })
        statements = [
            "UPDATE main.\(table) SET \(none.joined(separator: ", ")) WHERE \(known[0].column) IS NOT NULL AND \(key) IN (\(made))",
            "UPDATE main.\(table) SET \(set.joined(separator: ", ")) FROM temp.relation WHERE Z_PK = relation.\(row)",
        ]
    }

    private mutating func writePairs(_ table: String, _ owner: String, _ target: String, _ order: String?, _ back: String?) {
        let places = [(order, "position"), (back, "back")].compactMap { place in place.0.map { ($0, place.1) } }
        let names = [owner, target] + places.map(\.0)
        let values = ["owner", "target"] + places.map(\.1)
        let conflict = order.map { "(\(owner), \(target)) DO UPDATE SET \($0) = excluded.\($0)" } ?? "DO NOTHING"
        statements = [
            """
            DELETE FROM main.\(table) WHERE \(owner) IN (\(made)) \
            AND NOT EXISTS (SELECT 1 FROM temp.relation r WHERE r.owner = \(owner) AND r.target = \(target))
            """,
            """
            INSERT INTO main.\(table)(\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM temp.relation WHERE true \
            ON CONFLICT \(conflict)
            """,
        ]
    }
}

extension SQLEntity {
    /// The numbers of an entity and those below.
    fileprivate func kinds(_ schema: SQLSchema) -> [Int] {
        ([description] + description.allSubentities).compactMap { schema.numbering[$0] }
    }
}
