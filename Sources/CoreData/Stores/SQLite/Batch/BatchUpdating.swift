import Foundation
import Predicates
import SQLiteDriver
import class Predicates.NSExpression

/// Writes values into all rows of a query, with one statement where relationships have nothing to do with it.
struct BatchUpdating {
    private let store: SQLiteStore
    private let connection: Connection
    private let query: FetchQuery
    private let assignments: [BatchAssignment]
    private let decision: BatchDecision?
    private let collectsKeys: Bool
    private let entity: SQLEntity
    private var touched = TouchedRows()

    init(
        _ store: SQLiteStore,
        _ connection: Connection,
        _ query: FetchQuery,
        _ assignments: [BatchAssignment],
        _ decision: BatchDecision?,
        collectsKeys: Bool
    ) {
        (self.store, self.connection, self.query, self.assignments) = (store, connection, query, assignments)
        (self.decision, self.collectsKeys) = (decision, collectsKeys)
        entity = store.schema.entity(for: query.entity)
    }

    mutating func run() throws -> BatchChanges {
        let selection = try RowSelection(query, store, connection, decision)
        if leadsElsewhere, try selection.rows(KeyReader(store: store, connection: connection)).isEmpty { return BatchChanges() }
        var values = ExpressionSQL(entity, store)
        var terms: [SQLText] = []
        for assignment in assignments { terms += try self.terms(assignment, &values) }
        terms.append(SQLText(sql: SQLDialect.advanceVersion))
        let relationships = assignments.filter { ($0.property as? NSRelationshipDescription)?.inverse != nil }
        if !collectsKeys, relationships.isEmpty {
            let count = try write(terms, values, selection.clause)
            var changes = BatchChanges()
            (changes.count, changes.unlistedRoots) = (count, [query.entity.rootEntity.index])
            return changes
        }
        let rows = try selection.rows(KeyReader(store: store, connection: connection))
        let keys = SQLiteValue.keys(rows.map(\.key))
        let pairings = try pairings(of: relationships, rows)
        for assignment in relationships { try relate(assignment, keys) }
        let clause = SQLText(sql: " WHERE t0.\(SQLNames.key) IN \(SQLDialect.list)", parameters: [keys])
        if !rows.isEmpty { _ = try write(terms, values, clause) }
        for pairing in pairings { try pairing.write(&touched) }
        touched.exclude(rows.lazy.map(\.key), root: query.entity.rootEntity.index)
        try touched.advance(store, connection)
        return changes(rows)
    }

    /// Whether a relationship gets an object of another store, which no row of this one can have.
    private var leadsElsewhere: Bool {
        assignments.contains { assignment in
            guard case .constant(let value) = assignment.value, let target = value.target else { return false }
            return target.store != store.number
        }
    }

    /// What becomes of the other ends of one-to-one relationships.
    private func pairings(of assignments: [BatchAssignment], _ rows: [KeyReader.Found]) throws -> [BatchPairing] {
        try assignments.compactMap { assignment in
            guard let relationship = assignment.property as? NSRelationshipDescription, case .constant(let value) = assignment.value,
                var pairing = BatchPairing(relationship, store, connection)
            else { return nil }
            if rows.count > 1, let target = value.target {
                throw BatchValue(entity: query.entity, key: assignment.name).error(
                    .managedObjectValidation,
                    "is one of two ends that are both to-one, and \(rows.count) objects would get p\(target.key), which only one can have"
                )
            }
            for row in rows { pairing.add(row, value.target) }
            return pairing
        }
    }

    private func changes(_ rows: [KeyReader.Found]) -> BatchChanges {
        var changes = BatchChanges()
        changes.count = rows.count
        let names = assignments.map(\.name).sorted()
        changes.updated =
            Dictionary(grouping: rows, by: \.entity).sorted { $0.key < $1.key }
            .map { BatchChanges.Rows(entity: $0.key, keys: $0.value.map(\.key), properties: names) } + touched.rows
        return changes
    }

    private func write(_ terms: [SQLText], _ values: ExpressionSQL, _ clause: SQLText) throws -> Int {
        do {
            do {
                return try writeAtOnce(terms, values, clause)
            } catch let error as SQLiteError where error.isBrokenUniqueIndex && !values.isEmpty {
                return try writeApart(terms, values, clause)
            }
        } catch let error as SQLiteError where SQLDialect.isFailure(error) {
            guard let name = try values.misfit(clause, connection) else { throw error }
            throw BatchValue(entity: query.entity, key: name).error(
                .managedObjectValidation,
                "has no room for what its expression gives of a row: nothing was written"
            )
        }
    }

    private func writeAtOnce(_ terms: [SQLText], _ values: ExpressionSQL, _ clause: SQLText) throws -> Int {
        var text = SQLText(sql: "UPDATE \(entity.table) AS t0 SET ")
        text.append((terms + values.assignments)[...], separator: ", ")
        text.append(values.rest(clause))
        try connection.run(text.sql, text.parameters)
        return connection.changes
    }

    /// As `writeAtOnce`, where a row may get the unique value of one that gets another: nobody has one in between.
    ///
    /// NB: SQLite looks at a unique index row by row, and takes NULLs for distinct.
    private func writeApart(_ terms: [SQLText], _ values: ExpressionSQL, _ clause: SQLText) throws -> Int {
        let (apart, columns) = ("temp.cd_batch_values", values.columns)
        let names = columns.indices.map { "v\($0)" }
        try connection.execute("CREATE TEMP TABLE cd_batch_values (k INTEGER PRIMARY KEY, \(names.joined(separator: ", ")))")
        let query = values.values(clause)
        try connection.run("INSERT INTO \(apart) \(query.sql)", query.parameters)
        let cleared = columns.map { "\($0) = NULL" }.joined(separator: ", ")
        try connection.run("UPDATE \(entity.table) SET \(cleared) WHERE \(SQLNames.key) IN (SELECT k FROM \(apart))")
        var text = SQLText(sql: "UPDATE \(entity.table) AS t0 SET ")
        text.append((terms + zip(columns, names).map { SQLText(sql: "\($0) = s.\($1)") })[...], separator: ", ")
        text.append(" FROM \(apart) AS s WHERE t0.\(SQLNames.key) = s.k")
        try connection.run(text.sql, text.parameters)
        let count = connection.changes
        try connection.execute("DROP TABLE \(apart)")
        return count
    }

    /// What is to stand behind SET for a property that gets a constant.
    private func terms(_ assignment: BatchAssignment, _ values: inout ExpressionSQL) throws -> [SQLText] {
        guard let column = entity.columns[assignment.name] else {
            throw BatchValue(entity: query.entity, key: assignment.name).error(.coreData, "is not kept in this store")
        }
        switch assignment.value {
        case .expression(let expression):
            guard let attribute = assignment.property as? NSAttributeDescription else { return [] }
            try values.assign(expression, to: attribute, column)
            return []
        case .constant(.reference(let target)):
            let value = BatchValue(entity: query.entity, key: assignment.name)
            try BatchTargets(store: store, connection: connection).require([target], for: value)
            return set(column.name, .integer(target.key))
                + set(column.entityColumn, .integer(Int64(store.schema.number(ofEntityAt: target.entity))))
        case .constant(let value):
            return set(column.name, value.stored(isMarked: column.isMarked)) + set(column.entityColumn, .null)
                + set(column.orderColumn, .null)
        }
    }

    private func set(_ column: String?, _ value: SQLiteValue) -> [SQLText] {
        column.map { [SQLText(sql: "\($0) = ?", parameters: [value])] } ?? []
    }

    /// Who loses a member counts as changed, and who gets one; a member goes to the end of its new owner's.
    private mutating func relate(_ assignment: BatchAssignment, _ keys: SQLiteValue) throws {
        guard let relationship = assignment.property as? NSRelationshipDescription, let inverse = relationship.inverse, inverse.isToMany,
            let column = entity.columns[assignment.name], case .constant(let value) = assignment.value
        else { return }
        let target = value.target
        let key = target.map { SQLiteValue.integer($0.key) } ?? .null
        let moving = "o.\(SQLNames.key) IN \(SQLDialect.firstList) AND \(SQLDialect.isOther("o.\(column.name)", "?2"))"
        let table = store.schema.entity(for: relationship.destination).table
        let join = SQLNames.join(table, "d", on: "o.\(column.name)")
        let owners = "SELECT DISTINCT \(SQLNames.reference("d")) FROM \(entity.table) o \(join) WHERE \(moving)"
        let root = relationship.destination.rootEntity.index
        let former = try KeyReader(store: store, connection: connection).rows(owners, [keys, key])
        for owner in former { touched.add(owner, inverse.name, root: root) }
        guard let target else { return }
        let moved = "SELECT o.\(SQLNames.key) FROM \(entity.table) o WHERE \(moving) ORDER BY o.\(SQLNames.key)"
        let members = try connection.rows(moved, [keys, key])
        if !members.isEmpty { touched.add((target.key, Int(target.entity)), inverse.name, root: root) }
        guard let order = column.orderColumn else { return }
        let mark = store.orderMarks.mark(table: entity.table, column: order)
        let sql = "UPDATE \(entity.table) SET \(order) = ? WHERE \(SQLNames.key) = ?"
        for member in members {
            try connection.run(sql, [.integer(try mark.next(connection)), member[0]])
        }
    }
}

extension SlotValue {
    /// What a relationship leads to.
    fileprivate var target: RowReference? { if case .reference(let target) = self { target } else { nil } }

    /// As a column has it.
    fileprivate func stored(isMarked: Bool) -> SQLiteValue {
        switch self {
        case .null, .reference: .null
        case .integer(let number): .integer(number)
        case .boolean(let flag): .integer(flag ? 1 : 0)
        case .float(let number): .real(Double(number))
        case .double(let number): .real(number)
        case .date(let date): .real(date.timeIntervalSinceReferenceDate)
        case .uuid(let uuid): .blob(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) })
        case .decimal(let number):
            switch StoredNumber(number) {
            case .integer(let integer): .integer(integer)
            case .real(let double): .real(double)
            }
        case .string(let text): .text(text)
        case .binary(let data): .blob(isMarked ? [1] + [UInt8](data) : [UInt8](data))
        }
    }
}
