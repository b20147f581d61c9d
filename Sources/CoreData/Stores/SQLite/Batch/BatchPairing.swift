import SQLiteDriver

/// Lets both ends of a one-to-one relationship say the same, after a batch request has written one: each of the two has a column.
///
/// The end is that of objects which are set one after the other: who gets an object takes it from whoever had it.
struct BatchPairing {
    private let store: SQLiteStore
    private let connection: Connection
    private let relationship: NSRelationshipDescription
    private let inverse: NSRelationshipDescription
    /// What rows of the relationship's entity lead to in the end, by key, …
    private var ends: [Int64: RowReference?] = [:]
    /// … and those at its other end. Nothing where it is its own inverse: then all are above.
    private var inverseEnds: [Int64: RowReference?] = [:]

    /// Nil for a relationship that is not one-to-one.
    init?(_ relationship: NSRelationshipDescription, _ store: SQLiteStore, _ connection: Connection) {
        guard !relationship.isToMany, let inverse = relationship.inverse, !inverse.isToMany else { return nil }
        (self.relationship, self.inverse, self.store, self.connection) = (relationship, inverse, store, connection)
    }

    private var isReflexive: Bool { relationship === inverse }

    /// A row leads to an object from now on, or to none.
    mutating func add(_ row: KeyReader.Found, _ target: RowReference?) {
        if let former = ends[row.key] ?? nil { setInverse(former.key, nil) }
        ends[row.key] = .some(target)
        guard let target else { return }
        let former = isReflexive ? ends[target.key] : inverseEnds[target.key]
        if let former = former ?? nil, former.key != row.key { ends[former.key] = .some(nil) }
        setInverse(target.key, RowReference(key: row.key, entity: Int32(row.entity), store: store.number))
    }

    /// The same, said by a row at the other end.
    mutating func addInverse(_ row: KeyReader.Found, _ target: RowReference?) {
        swap(&ends, &inverseEnds)
        add(row, target)
        swap(&ends, &inverseEnds)
    }

    private mutating func setInverse(_ key: Int64, _ end: RowReference?) {
        if isReflexive { ends[key] = .some(end) } else { inverseEnds[key] = .some(end) }
    }

    /// Writes what is not so yet.
    ///
    /// - Parameter touched: gets the rows that are written here.
    func write(_ touched: inout TouchedRows) throws {
        try write(relationship, ends, others: isReflexive ? ends : inverseEnds, &touched)
        if !isReflexive { try write(inverse, inverseEnds, others: ends, &touched) }
    }

    /// Writes one of the two columns: rows that are in `ends` get what is there, and whoever else leads to one of `others` leads nowhere.
    private func write(
        _ property: NSRelationshipDescription,
        _ ends: [Int64: RowReference?],
        others: [Int64: RowReference?],
        _ touched: inout TouchedRows
    ) throws {
        guard let entity = store.schema.entityIfStored(property.entity), let column = entity.columns[property.name] else { return }
        let keys = SQLiteValue.keys(ends.keys.sorted())
        let select = "SELECT \(SQLNames.key), \(SQLNames.entity), \(column.name) FROM \(entity.table)"
        let inKeys = "\(SQLNames.key) IN \(SQLDialect.firstList)"
        var writes: [Write] = []
        try connection.withCached("\(select) WHERE \(inKeys)") { statement in
            try statement.bind([keys])
            while try statement.step() {
                let end = ends[statement.int(0)] ?? nil
                if statement.int(2) != end?.key ?? 0 { try writes.append(write(statement, end, property)) }
            }
        }
        try connection.withCached("\(select) WHERE \(column.name) IN \(SQLDialect.secondList) AND NOT \(inKeys)") {
            statement in
            try statement.bind([keys, .keys(others.keys.sorted())])
            while try statement.step() { try writes.append(write(statement, nil, property)) }
        }
        if !writes.isEmpty { try write(writes, column, entity) }
        for write in writes { touched.add(write.row, property.name, root: property.entity.rootEntity.index) }
    }

    private struct Write {
        let row: KeyReader.Found
        let end: RowReference?
    }

    /// - Throws: `CocoaError` 1570 for a row that has to have an object there.
    private func write(_ statement: Statement, _ end: RowReference?, _ property: NSRelationshipDescription) throws -> Write {
        let entity = store.schema.entity(numbered: Int(statement.int(1)))?.description ?? property.entity
        if end == nil, entity.relationshipsByName[property.name]?.isOptional == false {
            throw BatchValue(entity: entity, key: property.name).wouldBeMissing(statement.int(0))
        }
        return Write(row: (statement.int(0), entity.index), end: end)
    }

    private func write(_ writes: [Write], _ column: SQLColumn, _ entity: SQLEntity) throws {
        let values = writes.map { write in
            let number = write.end.map { store.schema.number(ofEntityAt: $0.entity) }
            return "[\(write.row.key),\(write.end.map { "\($0.key)" } ?? "null"),\(number.map { "\($0)" } ?? "null")]"
        }
        func element(_ index: Int) -> String { "json_extract(value, '$[\(index)]')" }
        let numbered = column.entityColumn.map { ", \($0) = j.number" } ?? ""
        try connection.run(
            """
            UPDATE \(entity.table) AS o SET \(column.name) = j.target\(numbered) \
            FROM (SELECT \(element(0)) AS k, \(element(1)) AS target, \(element(2)) AS number FROM \(SQLDialect.firstListTable)) AS j \
            WHERE o.\(SQLNames.key) = j.k
            """,
            [.text("[\(values.joined(separator: ","))]")]
        )
    }
}

extension BatchValue {
    /// Of an object that would lose what it has to have.
    func wouldBeMissing(_ key: Int64) -> CocoaError {
        error(.validationMissingMandatoryProperty, "is required, and p\(key) would lose it: nothing was written")
    }
}
