extension SQLSchema {
    /// Everything that makes a new store, in order: tables, their indexes, the three system tables, and the entities' numbers.
    ///
    /// Left out: R-tree and partial indexes, indexes over expressions, and the triggers of derived attributes.
    var creationStatements: [String] {
        tables.flatMap(tableStatements) + tables.flatMap(indexStatements) + Self.systemTables + entities.map(numberStatement)
    }

    static let systemTables = [
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    ]

    private func tableStatements(_ table: SQLTable) -> [String] {
        [table.creationStatement] + table.entities.flatMap(joinTables(namedBy:)).map(\.creationStatement)
    }

    private func joinTables(namedBy entity: NSEntityDescription) -> [SQLJoinTable] {
        joinTables.filter { $0.master.entity === entity }
    }

    private func indexStatements(_ table: SQLTable) -> [String] {
        var statements = table.foreignKeys.map { index(named: "\(table.name)_\($0)_INDEX", on: table, [$0]) }
        for entity in table.entities {
            statements += joinTables(namedBy: entity).map(\.indexStatement)
            if entity === table.entities[0], table.entities.count > 1 {
                statements.append(index(named: "\(table.name)_Z_ENT_INDEX", on: table, ["Z_ENT"]))
            }
            statements += entity.indexes.compactMap { fetchIndex($0, of: entity, on: table) }
            statements += entity.constraintNames.map { uniqueIndex($0, of: entity, on: table) }
        }
        return statements
    }

    private func index(named name: String, unique: Bool = false, on table: SQLTable, _ terms: [String]) -> String {
        let kind = unique ? "UNIQUE INDEX" : "INDEX"
        return "CREATE \(kind) \(SQLNames.quoted(name)) ON \(table.name) (\(terms.joined(separator: ", ")))"
    }

    /// Nil for an index that is not made: what is left out above, and one over a single relationship, whose foreign key is indexed anyway.
    private func fetchIndex(_ description: NSFetchIndexDescription, of entity: NSEntityDescription, on table: SQLTable) -> String? {
        let elements = description.elements
        guard description.partialIndexPredicate == nil, elements.allSatisfy({ $0.collationType == .binary }),
            !(elements.count == 1 && elements[0].property is NSRelationshipDescription)
        else { return nil }
        let columns = elements.compactMap { column($0.propertyName ?? "", of: entity) }
        guard !elements.isEmpty, columns.count == elements.count else { return nil }
        let terms = zip(columns, elements).map { "\($0) COLLATE BINARY \($1.isAscending ? "ASC" : "DESC")" }
        return index(named: "Z_\(entity.name ?? "")_\(description.name)", on: table, terms)
    }

    private func column(_ name: String, of entity: NSEntityDescription) -> String? {
        self.entity(for: entity).columns[name]?.name ?? Self.systemColumns[name]
    }

    /// What indexes can name besides properties.
    private static let systemColumns = ["objectID": "Z_PK", "entity": "Z_ENT"]

    private func uniqueIndex(_ names: [String], of entity: NSEntityDescription, on table: SQLTable) -> String {
        let columns = names.map { name in
            guard let column = column(name, of: entity) else {
                misuse(
                    "A uniqueness constraint of \(entity.name ?? "") names \(name), which has no column: use attributes and to-one relationships."
                )
            }
            return "\(column) COLLATE BINARY ASC"
        }
        return index(named: "Z_\(entity.name ?? "")_UNIQUE_\(names.joined(separator: "_"))", unique: true, on: table, columns)
    }

    private func numberStatement(_ entity: SQLEntity) -> String {
        let name = (entity.description.name ?? "").replacingOccurrences(of: "'", with: "''")
        return "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(\(entity.number), '\(name)', \(entity.superNumber), 0)"
    }
}
