import Foundation
import Predicates
import SQLiteDriver
import class Predicates.NSExpression

/// Expressions that a batch update assigns, in SQL.
///
/// What reads other rows is computed for all rows before the first is written, as objects would.
struct ExpressionSQL {
    private struct Term {
        let name: String
        let column: String
        let value: SQLText
        let conversion: Conversion
    }

    private let entity: SQLEntity
    private var sql: PredicateSQL
    private var terms: [Term] = []

    init(_ entity: SQLEntity, _ store: SQLiteStore) {
        self.entity = entity
        sql = PredicateSQL(entity: entity, cache: store.plans, home: store.home)
    }

    /// - Throws: `CocoaError` for an expression that SQL cannot compute, or of a kind that the attribute does not take; it names the key.
    mutating func assign(_ expression: NSExpression, to attribute: NSAttributeDescription, _ column: SQLColumn) throws {
        let given = BatchValue(entity: entity.description, key: attribute.name)
        let operand: SQLOperand
        do {
            operand = try sql.operand(expression)
        } catch is BeyondSQL {
            throw given.error(.coreData, "was given “\(expression)”, which is nothing that a store can compute")
        }
        guard !column.isMarked, let conversion = Conversion(operand, attribute) else {
            let kind = (attribute.attributeValueClassName ?? "?").withArticle
            throw given.error(.managedObjectValidation, "takes \(kind), which “\(expression)” is not")
        }
        terms.append(Term(name: attribute.name, column: column.name, value: operand.text, conversion: conversion))
    }

    private var joins: String { sql.scopes[0].joinClauses }

    /// Whether an expression reads, through a join or a subselect, what another row may be about to be.
    private var readsOthers: Bool { !joins.isEmpty || terms.contains { $0.value.sql.contains("SELECT") } }

    /// What stands behind SET.
    var assignments: [SQLText] {
        terms.enumerated().map { index, term in
            let value = readsOthers ? SQLText(sql: "s.v\(index)") : term.value
            var text = SQLText(sql: "\(term.column) = ")
            text.append(term.conversion.converted(value))
            return text
        }
    }

    /// What stands behind the assignments: the clause that names the rows, or a query of them with what is to be written.
    func rest(_ clause: SQLText) -> SQLText {
        guard readsOthers else { return clause }
        var text = SQLText(sql: " FROM (SELECT t0.\(SQLNames.key) AS k")
        for (index, term) in terms.enumerated() {
            text.append(", ")
            text.append(term.value)
            text.append(" AS v\(index)")
        }
        text.append(" FROM \(entity.table) t0\(joins)")
        text.append(clause)
        text.append(") AS s WHERE t0.\(SQLNames.key) = s.k")
        return text
    }

    var isEmpty: Bool { terms.isEmpty }
    /// The columns that get a value.
    var columns: [String] { terms.map(\.column) }

    /// A query of the keys of rows, and of what their columns get.
    func values(_ clause: SQLText) -> SQLText {
        var text = SQLText(sql: "SELECT \(SQLNames.key(of: "t0"))")
        for term in terms {
            text.append(", ")
            text.append(term.conversion.converted(term.value))
        }
        text.append(" FROM \(entity.table) t0\(joins)")
        text.append(clause)
        return text
    }

    /// The name of an attribute that cannot hold what its expression gives of one of the rows; nil where there is none.
    ///
    /// NB: rows before that one may have been written. It has not been, nor has any where values of other rows count.
    func misfit(_ clause: SQLText, _ connection: Connection) throws -> String? {
        for term in terms {
            guard let test = term.conversion.test(term.value) else { continue }
            var text = SQLText(sql: "SELECT 1 FROM \(entity.table) t0\(joins)")
            text.append(clause)
            text.append(clause.sql.isEmpty ? " WHERE (" : " AND (")
            text.append(test)
            text.append(") IS NOT TRUE LIMIT 1")
            if try !connection.rows(text.sql, text.parameters).isEmpty { return term.name }
        }
        return nil
    }
}

/// How a value of an expression becomes that of an attribute.
struct Conversion {
    private enum Form { case asIs, integer(ClosedRange<Int64>), real }

    private let form: Form
    private let isOptional: Bool
    /// Whether a value that is in range is an integer already.
    private let isWhole: Bool
    /// Sizes of numbers that would be read as others; nil where there are none.
    private let beyond: ClosedRange<Double>?

    /// Nil for a kind that the attribute does not take.
    init?(_ value: SQLOperand, _ attribute: NSAttributeDescription) {
        let kind = value.kind
        (isOptional, isWhole, beyond) = (attribute.isOptional, value.isWhole, Self.beyond(attribute.attributeType))
        switch (attribute.attributeType, kind) {
        case (_, .null): form = .asIs
        case (.integer16AttributeType, _) where kind.isNumber: form = .integer(Int64(Int16.min)...Int64(Int16.max))
        case (.integer32AttributeType, _) where kind.isNumber: form = .integer(Int64(Int32.min)...Int64(Int32.max))
        case (.integer64AttributeType, _) where kind.isNumber: form = .integer(.min ... .max)
        case (.booleanAttributeType, .integer): form = .integer(0...1)
        case (.doubleAttributeType, _) where kind.isNumber, (.floatAttributeType, _) where kind.isNumber: form = .real
        case (.decimalAttributeType, _) where kind.isNumber: form = .asIs
        case (.stringAttributeType, .text), (.dateAttributeType, .date), (.UUIDAttributeType, .uuid), (.URIAttributeType, .url),
            (.binaryDataAttributeType, .data):
            form = .asIs
        default: return nil
        }
    }

    private static func beyond(_ type: NSAttributeType) -> ClosedRange<Double>? {
        let float = Float.greatestFiniteMagnitude
        return switch type {
        // Rounded to a float, these are infinite.
        case .floatAttributeType: Double(float) + Double(float.ulp) / 2...Double.greatestFiniteMagnitude
        case .decimalAttributeType: NSDecimalNumber(decimal: .greatestFiniteMagnitude).doubleValue.nextUp...Double.infinity
        default: nil
        }
    }

    /// Whether the attribute can hold a value; nil where it always can.
    func test(_ value: SQLText) -> SQLText? {
        let fits: SQLText? =
            switch form {
            case .asIs, .real: beyond.map { within($0, value) } ?? (isOptional ? nil : wrap("(", value, " IS NOT NULL)"))
            case .integer(let range): wrap("(", value, " BETWEEN \(range.lowerBound) AND \(range.upperBound))")
            }
        guard isOptional, var fits else { return fits }
        fits.append(" OR ")
        fits.append(wrap("(", value, " IS NULL)"))
        return wrap("(", fits, ")")
    }

    private func within(_ beyond: ClosedRange<Double>, _ value: SQLText) -> SQLText {
        func isOutside(_ low: Double, _ high: Double) -> SQLText {
            SQLText(sql: "(\(value.sql)) NOT BETWEEN ? AND ?", parameters: value.parameters + [.real(low), .real(high)])
        }
        var text = isOutside(beyond.lowerBound, beyond.upperBound)
        text.append(" AND ")
        text.append(isOutside(-beyond.upperBound, -beyond.lowerBound))
        return wrap("(", text, ")")
    }

    /// The value; fails where the attribute cannot hold it.
    func converted(_ value: SQLText) -> SQLText {
        let result =
            switch form {
            case .asIs: value
            case .integer where isWhole: value
            case .integer: wrap("CAST(", value, " AS INTEGER)")
            case .real: wrap("CAST(", value, " AS REAL)")
            }
        guard let test = test(value) else { return result }
        var text = wrap("CASE WHEN ", test, " THEN ")
        text.append(result)
        text.append(" ELSE \(SQLDialect.failure) END")
        return text
    }

    private func wrap(_ before: String, _ inner: SQLText, _ after: String) -> SQLText {
        SQLText(sql: before + inner.sql + after, parameters: inner.parameters)
    }
}
