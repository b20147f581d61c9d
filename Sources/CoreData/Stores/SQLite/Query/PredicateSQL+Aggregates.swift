import Predicates
import class Predicates.NSExpression

/// Aggregates over the rows of a group, for the columns of a fetch for dictionaries.
extension PredicateSQL {
    /// Whether aggregates are meant for the rows of a group, and may be written.
    enum Aggregation { case allowed, underWay }

    static let aggregateFunctions = ["count:": "COUNT", "sum:": "SUM", "average:": "AVG", "min:": "MIN", "max:": "MAX"]

    /// A column that has been selected, where conditions on groups name it: `$name`, or just `name`.
    func selectedColumn(_ expression: NSExpression) -> SQLOperand? {
        switch expression.tree {
        case .variable(let name), .keyPath(nil, let name): selected[name]
        default: nil
        }
    }

    /// - Throws: `BeyondSQL` where the function is no aggregate, or none is meant; the error for a condition on single objects that has one.
    mutating func aggregate(_ name: String, _ arguments: [NSExpression]) throws -> SQLOperand {
        guard let function = Self.aggregateFunctions[name], arguments.count == 1 else { throw BeyondSQL() }
        guard let aggregation else {
            try requireSeveral(arguments[0], name)
            throw BeyondSQL()
        }
        guard aggregation == .allowed else {
            throw DictionaryQuery.refusal(scopes[0].entity.description, "the aggregate \(name) is inside of another one")
        }
        (self.aggregation, hasAggregate) = (.underWay, true)
        defer { self.aggregation = .allowed }
        let target = try target(of: arguments[0])
        if case .collection(let collection, let rest)? = target { return try aggregate(name, of: collection, rest) }
        // What has a column can be counted, whatever it holds.
        if name == "count:", case .attribute(let column, _)? = target { return SQLOperand("COUNT(\(column))", .integer) }
        let operand = try operand(arguments[0])
        let text = SQLText(sql: "\(function)(\(operand.text.sql))", parameters: operand.text.parameters)
        return try aggregate(function, text, operand.kind)
    }

    /// - Throws: the error for an aggregate of an attribute's one value, with which all rows of a table are meant: memory would find every object.
    private mutating func requireSeveral(_ expression: NSExpression, _ name: String) throws {
        guard case .attribute(_, let attribute)? = try target(of: expression),
            ![.transformableAttributeType, .undefinedAttributeType].contains(attribute.attributeType)
        else { return }
        throw CocoaError.coreData(
            .coreData,
            """
            A predicate of \(scopes[0].entity.description.name ?? "?") has \(name)(\(expression)), which a condition on single objects cannot have: \
            fetch that as a column of dictionaries before, and give its value as an argument; for the greatest or the least, sort by it with a \
            fetchLimit of 1.
            """
        )
    }

    /// What the store computes of a group or of a collection, for a column: memory has no part in it.
    func aggregate(_ function: String, _ text: SQLText, _ kind: SQLKind) throws -> SQLOperand {
        switch function {
        case "COUNT": return SQLOperand(text, .integer)
        case "MIN", "MAX": if kind.isOrdered { return SQLOperand(text, kind) }
        case "AVG": if kind.isNumber { return SQLOperand(text, .real) }
        default:
            // NB: of nothing SQL's sum is NULL.
            if kind.isNumber { return SQLOperand(SQLText(sql: "COALESCE(\(text.sql), 0)", parameters: text.parameters), kind) }
        }
        throw BeyondSQL()
    }

    /// Over the contents of a to-many relationship, for each row.
    private mutating func aggregate(_ name: String, of collection: SQLCollection, _ rest: ArraySlice<String>) throws -> SQLOperand {
        hasAggregate = false
        if name == "count:" { return try aggregate(["@count"], of: collection) }
        let operators = ["sum:": "@sum", "average:": "@avg", "min:": "@min", "max:": "@max"]
        guard let keyOperator = operators[name] else { throw BeyondSQL() }
        return try aggregate([keyOperator] + rest, of: collection)
    }
}
