/// The value at the end of to-one relationships.
struct DerivedPath {
    /// The columns that are read, one of each table: foreign keys, and the attribute.
    let columns: [String]
    /// Those of the relationships' destinations.
    let tables: [String]
    private let function: Derivation.Function?
    private let source: String
    /// Whether triggers write what is read: `NEW` has what it was before they did.
    private let isDerived: Bool
    /// By relationship: whether its column may go on naming a row that is deleted.
    private let isLeftBehind: [Bool]

    /// Nil where the store does not keep one of the entities.
    init?(
        _ links: [NSRelationshipDescription],
        _ attribute: NSAttributeDescription,
        _ function: Derivation.Function?,
        of entity: SQLEntity,
        _ schema: SQLSchema
    ) {
        var (columns, tables, owner): ([String], [String], SQLEntity) = ([], [], entity)
        for link in links {
            guard let column = owner.columns[link.name]?.name, let next = schema.entityIfStored(link.destination) else { return nil }
            columns.append(column)
            tables.append(next.table)
            owner = next
        }
        guard let column = owner.columns[attribute.name]?.name else { return nil }
        (self.columns, self.tables, self.function, source) = (columns + [column], tables, function, entity.table)
        isDerived = attribute is NSDerivedAttributeDescription
        isLeftBehind = links.map { link in link.inverseRelationship.map { $0.deleteRule == .noActionDeleteRule } ?? true }
    }

    /// The value for a row of the source that is written.
    var valueOfWritten: String { value(of: tables.isEmpty && isDerived ? source : "NEW") }

    /// What changes the value at the end of so many relationships more than one.
    func events(at level: Int) -> [DerivedEvent] {
        let (isLast, column) = (level == tables.count - 1, columns[level + 1])
        let (table, rows) = (tables[level], owners(leadingTo: SQLNames.key(of: "NEW"), level))
        let value = isLast && level == 0 && !isDerived ? applied("NEW.\(column)") : value(of: source)
        let suffix = tables.count == 1 ? "" : "_\(level + 1)"
        let written = [
            DerivedEvent("INSERT" + suffix, "INSERT", on: table, set: value, of: rows, isInsert: true),
            DerivedEvent("UPDATE" + suffix, "UPDATE OF \(column)", on: table, set: value, of: rows),
        ]
        guard isLeftBehind[level] else { return written }
        let left = owners(leadingTo: SQLNames.key(of: "OLD"), level)
        return written + [DerivedEvent("DELETE" + suffix, "DELETE", on: table, set: self.value(of: source), of: left)]
    }

    private func applied(_ value: String) -> String { function.map { "\(SQLDialect.name(of: $0))(\(value))" } ?? value }

    /// The value for a row of the source, which has that name.
    ///
    /// NB: where a table is its own destination, a plain name would be the inner one.
    func value(of row: String) -> String {
        guard !tables.isEmpty else { return applied("\(row).\(columns[0])") }
        var key = "\(row).\(columns[0])"
        for (level, table) in tables.enumerated() {
            let column = "d\(level).\(columns[level + 1])"
            let value = level == tables.count - 1 ? applied(column) : column
            key = "(SELECT \(value) FROM \(table) AS d\(level) WHERE d\(level).\(SQLNames.key) = \(key))"
        }
        return key
    }

    /// The rows of the source that lead to a key, after so many relationships more than one.
    private func owners(leadingTo key: String, _ level: Int) -> String {
        var condition = "\(columns[level]) = \(key)"
        for outer in (0..<level).reversed() {
            condition = "\(columns[outer]) IN (SELECT \(SQLNames.key) FROM \(tables[outer]) WHERE \(condition))"
        }
        return condition
    }
}
