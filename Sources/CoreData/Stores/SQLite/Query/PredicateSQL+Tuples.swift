import Predicates
import SQLiteDriver
import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

/// `{source, number} IN %@`: several columns that are together one of some lists of constants, as compound keys are looked up.
///
/// One look-up for each list, by the index over the columns, if there is one: a condition on each column alone would meet all combinations.
extension PredicateSQL {
    /// False for every other comparison.
    mutating func writeTupleMembership(_ comparison: NSComparisonPredicate) throws -> Bool {
        guard comparison.predicateOperatorType == .in, comparison.options.isEmpty, scopes.count == 1,
            case .aggregate(let parts) = comparison.leftExpression.tree, !parts.isEmpty,
            case .constant(let value) = comparison.rightExpression.tree, case .list(let lists) = PredicateConstant(value),
            let columns = try tupleColumns(parts)
        else { return false }
        writeMembership(of: columns, in: try lists.compactMap { try tuple($0, columns) })
        return true
    }

    /// Nil where one of the parts is no column of the row itself.
    private mutating func tupleColumns(_ parts: [NSExpression]) throws -> [SQLOperand]? {
        var columns: [SQLOperand] = []
        for part in parts {
            guard case .keyPath(nil, let name) = part.tree, scopes[0].entity.columns[name] != nil else { return nil }
            let column = try operand(part)
            guard column.text.sql.hasPrefix("t0."), column.text.parameters.isEmpty else { return nil }
            columns.append(column)
        }
        return columns
    }

    /// A list that the columns may be equal to; nil for one that no row can have.
    ///
    /// - Throws: `BeyondSQL` for one with a nil: lists with a nil at the same place are equal, while a NULL in SQL equals nothing.
    private func tuple(_ list: Any?, _ columns: [SQLOperand]) throws -> [SQLiteValue]? {
        guard case .list(let elements) = PredicateConstant(list), elements.count == columns.count else { return nil }
        var values: [SQLiteValue] = []
        for (element, column) in zip(elements, columns) {
            let constant = constant(element)
            if constant?.kind == .null { throw BeyondSQL() }
            guard let constant, column.kind.isComparable(to: constant.kind) else { return nil }
            values.append(constant.value)
        }
        return values
    }

    private mutating func writeMembership(of columns: [SQLOperand], in tuples: [[SQLiteValue]]) {
        if tuples.isEmpty { return text.append("0") }
        let names = columns.map { "o.\($0.text.sql.dropFirst("t0.".count))" }.joined(separator: ", ")
        text.append("t0.\(SQLNames.key) IN (SELECT o.\(SQLNames.key) FROM \(scopes[0].entity.table) AS o WHERE (\(names)) IN (")
        text.append(Self.rows(tuples, columns.map(\.kind.affinity)))
        text.append("))")
    }

    /// Lists as rows: as one parameter where JSON can hold them.
    ///
    /// NB: SQLite takes an index over several columns only for rows whose values have affinities.
    private static func rows(_ tuples: [[SQLiteValue]], _ affinities: [String]) -> SQLText {
        func casts(_ name: (Int) -> String) -> String {
            affinities.enumerated().map { "CAST(\(name($0)) AS \($1))" }.joined(separator: ", ")
        }
        let texts = tuples.compactMap { JSONList.text(of: $0, hasNull: false) }
        if texts.count == tuples.count {
            let json = SQLiteValue.text("[\(texts.joined(separator: ","))]")
            return SQLText(sql: "SELECT \(casts { "json_extract(value, '$[\($0)]')" }) FROM \(SQLDialect.listTable)", parameters: [json])
        }
        let row = "(\(Array(repeating: "?", count: affinities.count).joined(separator: ", ")))"
        let rows = Array(repeating: row, count: tuples.count).joined(separator: ", ")
        return SQLText(sql: "SELECT \(casts { "column\($0 + 1)" }) FROM (VALUES \(rows))", parameters: Array(tuples.joined()))
    }
}

extension SQLKind {
    /// What a value may be cast to and is still equal to the same values of a column.
    fileprivate var affinity: String {
        switch self {
        case .text, .url: "TEXT"
        case .data, .uuid: ColumnType.data
        default: "NUMERIC"
        }
    }
}
