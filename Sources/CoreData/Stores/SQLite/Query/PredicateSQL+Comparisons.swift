import Predicates
import SQLiteDriver
import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

extension PredicateSQL {
    mutating func write(_ comparison: NSComparisonPredicate) throws {
        switch comparison.comparisonPredicateModifier {
        case .any: try writeQuantified(comparison, isUniversal: false)
        case .all: try writeQuantified(comparison, isUniversal: true)
        case .direct:
            if try writeElementTest(comparison) { return }
            if try writeTupleMembership(comparison) { return }
            try write(comparison, left: operand(comparison.leftExpression))
        }
    }

    /// Writes a comparison whose left side is known already.
    mutating func write(_ comparison: NSComparisonPredicate, left: SQLOperand) throws {
        let right = comparison.rightExpression
        switch comparison.predicateOperatorType {
        case .equalTo: writeEquality(left, try counterpart(of: left, comparison), isNegated: false, collation(comparison))
        case .notEqualTo: writeEquality(left, try counterpart(of: left, comparison), isNegated: true, collation(comparison))
        case .lessThan: writeOrder(left, " < ", try counterpart(of: left, comparison), try orderCollation(comparison))
        case .lessThanOrEqualTo: writeOrder(left, " <= ", try counterpart(of: left, comparison), try orderCollation(comparison))
        case .greaterThan: writeOrder(left, " > ", try counterpart(of: left, comparison), try orderCollation(comparison))
        case .greaterThanOrEqualTo: writeOrder(left, " >= ", try counterpart(of: left, comparison), try orderCollation(comparison))
        case .in: try writeMembership(of: left, in: right, comparison)
        case .between: try writeBetween(left, comparison)
        case .contains, .beginsWith, .endsWith, .like, .matches:
            try writeTextMatch(comparison, text: left, pattern: try operand(right))
        case .customSelector: throw BeyondSQL()
        }
    }

    /// The right side of a comparison.
    private mutating func counterpart(of left: SQLOperand, _ comparison: NSComparisonPredicate) throws -> SQLOperand {
        let right = try operand(comparison.rightExpression)
        noteKinds(left, right, comparison)
        return right
    }

    /// ` COLLATE cd_c` and the like, or nothing where texts are compared as they are.
    private func collation(_ comparison: NSComparisonPredicate) -> String {
        SQLFunctions.collation(for: comparison.options).map { " COLLATE " + $0 } ?? ""
    }

    private func orderCollation(_ comparison: NSComparisonPredicate) throws -> String {
        if comparison.options.contains(.localeSensitive) { throw BeyondSQL() }
        return collation(comparison)
    }

    private mutating func writeEquality(_ left: SQLOperand, _ right: SQLOperand, isNegated: Bool, _ collation: String) {
        if right.kind == .null { return writeNullTest(left, isNegated: isNegated) }
        if left.kind == .null { return writeNullTest(right, isNegated: isNegated) }
        guard left.kind.isComparable(to: right.kind) else { return writeUnlike(left, right, isNegated: isNegated) }
        write(left, isNegated ? " <> " : " = ", right)
        if left.kind == .text { text.append(collation) }
    }

    /// Equality with the options of a comparison.
    mutating func writeEquality(of left: SQLOperand, to right: SQLOperand, _ comparison: NSComparisonPredicate) {
        writeEquality(left, right, isNegated: false, collation(comparison))
    }

    private mutating func writeNullTest(_ operand: SQLOperand, isNegated: Bool) {
        if operand.isConstant { return text.append((operand.kind == .null) != isNegated ? "1" : "0") }
        text.append(operand.text)
        text.append(isNegated ? " IS NOT NULL" : " IS NULL")
    }

    /// Values of kinds that never meet: not equal, unless one is nil; then it is unknown.
    private mutating func writeUnlike(_ left: SQLOperand, _ right: SQLOperand, isNegated: Bool) {
        let columns = [left, right].filter { !$0.isConstant }
        if columns.isEmpty { return text.append(isNegated ? "1" : "0") }
        text.append("(")
        for (index, column) in columns.enumerated() {
            if index > 0 { text.append(isNegated ? " AND " : " OR ") }
            write(column, isNegated ? " = " : " <> ", column)
        }
        text.append(")")
    }

    private mutating func write(_ left: SQLOperand, _ symbol: String, _ right: SQLOperand) {
        text.append(left.text)
        text.append(symbol)
        text.append(right.text)
    }

    private mutating func writeOrder(_ left: SQLOperand, _ symbol: String, _ right: SQLOperand, _ collation: String) {
        guard left.kind.isComparable(to: right.kind), left.kind.isOrdered else { return text.append("NULL") }
        write(left, symbol, right)
        if left.kind == .text { text.append(collation) }
    }

    private mutating func writeBetween(_ value: SQLOperand, _ comparison: NSComparisonPredicate) throws {
        let collation = try orderCollation(comparison)
        let bounds = try elements(of: comparison.rightExpression)
        guard bounds.count == 2 else { throw BeyondSQL() }
        for bound in bounds { noteKinds(value, bound, comparison) }
        text.append("(")
        writeOrder(value, " >= ", bounds[0], collation)
        text.append(" AND ")
        writeOrder(value, " <= ", bounds[1], collation)
        text.append(")")
    }

    /// The elements of a list that is written out, or of a constant one.
    private mutating func elements(of list: NSExpression) throws -> [SQLOperand] {
        switch list.tree {
        case .aggregate(let expressions):
            var operands: [SQLOperand] = []
            for expression in expressions { operands.append(try operand(expression)) }
            return operands
        case .constant(let value):
            guard case .list(let elements) = PredicateConstant(value) else { throw BeyondSQL() }
            return elements.map { SQLOperand(constant($0) ?? .foreign) }
        default: throw BeyondSQL()
        }
    }
}

/// IN.
extension PredicateSQL {
    private mutating func writeMembership(of element: SQLOperand, in list: NSExpression, _ comparison: NSComparisonPredicate) throws {
        if let values = constants(in: list) {
            for value in values { noteKinds(element, value.kind, comparison) }
            return writeMembership(of: element, in: values, collation(comparison))
        }
        if case .aggregate = list.tree { return writeEqualities(element, try elements(of: list), collation(comparison)) }
        // The other meaning of IN: a text in a text.
        try writeTextMatch(comparison, text: try operand(list), pattern: element)
    }

    /// The elements of a list of constants; nil for anything else.
    private func constants(in list: NSExpression) -> [SQLConstant]? {
        switch list.tree {
        case .constant(let value):
            guard case .list(let elements) = PredicateConstant(value) else { return nil }
            return elements.map { constant($0) ?? .foreign }
        case .aggregate(let expressions):
            var values: [SQLConstant] = []
            for expression in expressions {
                guard case .constant(let value) = expression.tree else { return nil }
                values.append(constant(value) ?? .foreign)
            }
            return values
        default: return nil
        }
    }

    private mutating func writeMembership(of element: SQLOperand, in list: [SQLConstant], _ collation: String) {
        if list.isEmpty { return text.append("0") }
        if element.kind == .null { return text.append("NULL") }
        let found = list.filter { element.kind.isComparable(to: $0.kind) }
        let values = found.map(\.value)
        let hasNull = list.contains { $0.kind == .null }
        if values.isEmpty {
            return hasNull ? text.append("NULL") : writeUnlike(element, SQLOperand(.foreign), isNegated: false)
        }
        text.append(element.text)
        if element.kind == .text { text.append(collation) }
        text.append(" IN ")
        write(values, hasNull: hasNull)
    }

    private mutating func write(_ values: [SQLiteValue], hasNull: Bool) {
        if values.count >= 100, let json = JSONList.text(of: values, hasNull: hasNull) {
            return text.append(SQLText(sql: SQLDialect.list, parameters: [.text(json)]))
        }
        text.append("(")
        text.append(parameters: values)
        text.append(hasNull ? ", NULL)" : ")")
    }

    private mutating func writeEqualities(_ element: SQLOperand, _ list: [SQLOperand], _ collation: String) {
        var parts: [SQLText] = []
        for candidate in list {
            // Here a nil in the list is an element that is not known, not a question for nil.
            if element.kind == .null || candidate.kind == .null {
                parts.append(SQLText(sql: "NULL"))
            } else {
                parts.append(apart { $0.writeEquality(element, candidate, isNegated: false, collation) })
            }
        }
        text.append("(")
        text.append(parts[...], separator: " OR ")
        text.append(")")
    }
}
