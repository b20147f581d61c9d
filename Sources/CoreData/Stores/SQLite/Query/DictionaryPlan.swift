import Foundation
import Predicates
import SQLiteDriver

/// The statement of a fetch for dictionaries, and how to read its rows.
struct DictionaryPlan {
    /// How a value is read from a column of the result.
    enum Reading {
        case attribute(NSAttributeDescription)
        case value(SQLKind, NSAttributeType)
        /// The key of a row, whose entity's number is in another column, or known.
        case object(NSEntityDescription, number: Int32?)
    }

    let sql: String
    let parameters: [SQLiteValue]
    let readings: [Reading]

    /// - Throws: `CocoaError` 134060 for what a store cannot compute, naming it.
    init(_ query: DictionaryQuery, cache: PlanCache, home: StoreIdentity?) throws {
        var writer = DictionarySQL(query, cache, home)
        try writer.select()
        try writer.filter()
        try writer.group()
        try writer.sort()
        (sql, parameters, readings) = (writer.statement, writer.parameters, writer.readings)
    }
}

/// Writes the statement clause by clause.
private struct DictionarySQL {
    private let query: DictionaryQuery
    private var sql: PredicateSQL
    private let frame: PlanFrame
    private var selected: [SQLText] = []
    private var operands: [String: SQLOperand] = [:]
    /// What stands alone must be grouped by.
    private var plain: [(column: DictionaryQuery.Column, text: SQLText)] = []
    private var hasAggregates = false
    private(set) var readings: [DictionaryPlan.Reading] = []
    private var (condition, groups, having, order) = (SQLText(), "", SQLText(), "")

    init(_ query: DictionaryQuery, _ cache: PlanCache, _ home: StoreIdentity?) {
        self.query = query
        frame = cache.frame(entity: query.rows.entity, includesSubentities: query.rows.includesSubentities, result: .references)
        sql = PredicateSQL(entity: frame.entity, cache: cache, home: home)
    }

    var statement: String {
        let columns = selected.enumerated().map { "\($1.sql) AS c\($0)" }.joined(separator: ", ")
        var text = "SELECT \(query.isDistinct ? "DISTINCT " : "")\(columns) FROM \(frame.entity.table) t0\(sql.scopes[0].joinClauses)"
        text += condition.sql + groups
        if !having.sql.isEmpty { text += " HAVING " + having.sql }
        return text + order + limit.sql
    }

    var parameters: [SQLiteValue] {
        selected.flatMap(\.parameters) + condition.parameters + having.parameters + limit.parameters
    }

    private var limit: SQLText { FetchPlan.limit(query.rows) }

    private func refusal(_ reason: String) -> CocoaError { DictionaryQuery.refusal(query.rows.entity, reason) }

    /// Runs a translation; what SQL cannot say is refused.
    private mutating func translated<Result>(_ what: String, _ body: (inout PredicateSQL) throws -> Result) throws -> Result {
        do {
            let result = try body(&sql)
            if let error = sql.otherKind { throw error }
            return result
        } catch is BeyondSQL {
            let hint =
                " It computes count:, sum:, average:, min: and max:, also of one to-many relationship’s contents, TERNARY, and arithmetic with "
                + "dates and with numbers that are not decimal: fetch what else takes part, and compute with what was fetched."
            throw DictionaryQuery.refusal(query.rows.entity, "\(what) is nothing that a store can compute", hint: hint)
        }
    }

    mutating func select() throws {
        sql.aggregation = .allowed
        for column in query.columns {
            sql.hasAggregate = false
            let (text, reading, operand) = try translated("the column “\(column.name)”") { try $0.column(column) }
            selected.append(text)
            readings.append(reading)
            operands[column.name] = operand
            if sql.hasAggregate {
                hasAggregates = true
            } else if !operand.isConstant {
                plain.append((column, text))
            }
        }
        for (index, reading) in readings.enumerated() {
            guard case .object(let entity, nil) = reading, let text = entityNumber(selected[index].sql, entity) else { continue }
            readings[index] = .object(entity, number: Int32(selected.count))
            selected.append(SQLText(sql: text))
        }
        sql.aggregation = nil
    }

    /// The number of the entity that the row with a key is of; nil where it can be only one.
    private func entityNumber(_ key: String, _ entity: NSEntityDescription) -> String? {
        guard let stored = sql.schema.entityIfStored(entity), stored.hasSubentities else { return nil }
        if key == SQLNames.key(of: "t0") { return SQLNames.entity(of: "t0") }
        return "(SELECT e.\(SQLNames.entity) FROM \(stored.table) e WHERE e.\(SQLNames.key) = \(key))"
    }

    mutating func filter() throws {
        sql.text.sql = frame.entityFilter
        if let predicate = query.rows.predicate {
            let beyond = try sql.writeConjuncts(of: predicate)
            if !beyond.isEmpty { throw refusal("its predicate has a part that only memory can evaluate; fetch objects with it") }
        }
        condition = sql.text
        sql.text = SQLText()
    }

    mutating func group() throws {
        var grouped: [SQLText] = []
        for group in query.groups {
            // NB: a column translated again would have other names in it, and be another one to SQLite.
            let column = query.columns.firstIndex { $0.name == group.name }.map { selected[$0] }
            let text = try column ?? translated("the group “\(group.name)”") { try $0.column(group).text }
            guard text.parameters.isEmpty else { throw refusal("it is grouped by “\(group.name)”, which has a constant in it") }
            grouped.append(text)
        }
        if hasAggregates || !grouped.isEmpty, let (column, _) = plain.first(where: { !grouped.contains($0.text) }) {
            throw ungrouped(column)
        }
        if !grouped.isEmpty { groups = " GROUP BY " + grouped.map(\.sql).joined(separator: ", ") }
        guard let predicate = query.having else { return }
        (sql.aggregation, sql.selected) = (.allowed, selectedOperands)
        having = try translated("the havingPredicate") { try $0.apart { try $0.write(predicate) } }
        (sql.aggregation, sql.selected) = (nil, [:])
    }

    private func ungrouped(_ column: DictionaryQuery.Column) -> CocoaError {
        guard column.isOfContents else {
            return refusal("the column “\(column.name)” is neither an aggregate nor grouped by")
        }
        return refusal(
            """
            the column “\(column.name)” is over the contents of a to-many relationship, for each object, and not over groups: fetch the entity that \
            the relationship leads to, and group by a key path along its inverse
            """
        )
    }

    private var selectedOperands: [String: SQLOperand] {
        Dictionary(
            uniqueKeysWithValues: query.columns.enumerated().map { ($1.name, SQLOperand("c\($0)", operands[$1.name]?.kind ?? .null)) }
        )
    }

    mutating func sort() throws {
        let names = selectedOperands
        let isGrouped = hasAggregates || !query.groups.isEmpty
        for descriptor in query.rows.sortDescriptors {
            guard case .key(let key) = descriptor.sortKey else { throw refusal("it is sorted by what is no column") }
            if isGrouped, names[key] == nil, !query.groups.contains(where: { $0.name == key }) {
                throw refusal("it is sorted by “\(key)”, which is neither a column nor grouped by")
            }
            let term = try translated("the order by “\(key)”") { try $0.term(descriptor, names[key]) }
            order += (order.isEmpty ? " ORDER BY " : ", ") + term
        }
    }
}

extension PredicateSQL {
    /// A column of a fetch for dictionaries. Attributes are read as they are stored, whatever SQL can make of them.
    fileprivate mutating func column(_ column: DictionaryQuery.Column) throws
        -> (text: SQLText, reading: DictionaryPlan.Reading, operand: SQLOperand)
    {
        switch try target(of: column.expression) {
        case .attribute(let text, let attribute)?:
            let operand = try? operand(.attribute(column: text, attribute))
            return (SQLText(sql: text), .attribute(attribute), operand ?? SQLOperand(text, .foreign))
        case .row(let key, let entity)?:
            return (SQLText(sql: key), .object(entity, number: nil), SQLOperand(key, .row(root: entity.rootEntity.index)))
        default:
            let operand = try operand(column.expression)
            return (operand.text, .value(operand.kind, column.type), operand)
        }
    }
}

extension DictionaryQuery.Column {
    /// Whether it is an aggregate, of what a relationship of each object holds: `sum:(books.pages)` or `books.@sum.pages`.
    fileprivate var isOfContents: Bool {
        switch expression.tree {
        case .function(let name, _): PredicateSQL.aggregateFunctions[name] != nil
        case .keyPath(_, let path): path.contains("@")
        default: false
        }
    }
}
