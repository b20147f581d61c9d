extension SQLSchema {
    /// Everything that makes a new store, in order: tables, their indexes, the three system tables, and the entities' numbers.
    ///
    /// Left out: R-tree and partial indexes, and indexes over expressions.
    var creationStatements: [String] {
        tables.flatMap(tableStatements) + tables.flatMap(indexStatements) + derivedColumns.flatMap(\.triggers) + Self.systemTables
            + entities.map(numberStatement)
    }

    static let systemTables = [
        """
        CREATE TABLE \(SQLNames.entityTable) (\(SQLNames.entity) \(ColumnType.integer) PRIMARY KEY, \
        \(SQLNames.entityName) \(ColumnType.text), \(SQLNames.superentity) \(ColumnType.integer), \(SQLNames.lastKey) \(ColumnType.integer))
        """,
        """
        CREATE TABLE \(SQLNames.metadataTable) (\(SQLNames.metadataVersion) \(ColumnType.integer) PRIMARY KEY, \
        \(SQLNames.identifier) \(ColumnType.text)(255), \(SQLNames.propertyList) \(ColumnType.data))
        """,
        "CREATE TABLE \(SQLNames.modelTable) (\(SQLNames.modelContent) \(ColumnType.data))",
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
                statements.append(index(named: "\(table.name)_\(SQLNames.entity)_INDEX", on: table, [SQLNames.entity]))
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
        let terms = zip(columns, elements).map { "\($0) \(SQLDialect.byBytes) \($1.isAscending ? "ASC" : "DESC")" }
        return index(named: SQLNames.fetchIndex(description.name, of: entity), on: table, terms)
    }

    private func column(_ name: String, of entity: NSEntityDescription) -> String? {
        self.entity(for: entity).columns[name]?.name ?? Self.systemColumns[name]
    }

    /// What indexes can name besides properties.
    private static let systemColumns = ["objectID": SQLNames.key, "entity": SQLNames.entity]

    private func uniqueIndex(_ names: [String], of entity: NSEntityDescription, on table: SQLTable) -> String {
        let columns = names.map { name in
            guard let column = column(name, of: entity) else {
                misuse(
                    "A uniqueness constraint of \(entity.name ?? "") names \(name), which has no column: use attributes and to-one relationships."
                )
            }
            return "\(column) \(SQLDialect.byBytes) ASC"
        }
        return index(named: SQLNames.uniqueIndex(over: names, of: entity), unique: true, on: table, columns)
    }

    private func numberStatement(_ entity: SQLEntity) -> String {
        let name = (entity.description.name ?? "").replacingOccurrences(of: "'", with: "''")
        let columns = [SQLNames.entity, SQLNames.entityName, SQLNames.superentity, SQLNames.lastKey].joined(separator: ", ")
        return "INSERT INTO \(SQLNames.entityTable)(\(columns)) VALUES(\(entity.number), '\(name)', \(entity.superNumber), 0)"
    }
}
