/// Predicates and expressions as objects of a keyed archive.
///
/// The parser reads text, for which this module knows no grammar.
struct PredicateWriter {
    let parser: ModelTextParser

    func predicate(_ predicate: Model.Predicate?, _ archive: inout KeyedArchive) throws -> PropertyListNode {
        switch predicate {
        case nil: return KeyedArchive.null
        case .format(let text)?:
            let parsed = try parser.predicate(text)
            guard case .format = parsed else { return try self.predicate(parsed, &archive) }
            throw ModelFormatError(nil, "the predicate \(text) is text, and text has no place in a compiled model")
        case .constant(let value)?: return archive.object([value ? "NSTruePredicate" : "NSFalsePredicate", "NSPredicate", "NSObject"], [:])
        case .comparison(let comparison)?: return try self.comparison(comparison, &archive)
        case .not(let part)?: return try compound(0, [part], &archive)
        case .and(let parts)?: return try compound(1, parts, &archive)
        case .or(let parts)?: return try compound(2, parts, &archive)
        }
    }

    private func compound(_ type: Int64, _ parts: [Model.Predicate], _ archive: inout KeyedArchive) throws -> PropertyListNode {
        let parts = try parts.map { try predicate($0, &archive) }
        let keys = ["NSCompoundPredicateType": PropertyListNode.integer(type), "NSSubpredicates": archive.array(parts)]
        return archive.object(["NSCompoundPredicate", "NSPredicate", "NSObject"], keys)
    }

    private func comparison(_ comparison: Model.Predicate.Comparison, _ archive: inout KeyedArchive) throws -> PropertyListNode {
        let keys = [
            "NSLeftExpression": try expression(comparison.left, &archive), "NSRightExpression": try expression(comparison.right, &archive),
            "NSPredicateOperator": comparator(comparison, &archive),
        ]
        return archive.object(["NSComparisonPredicate", "NSPredicate", "NSObject"], keys)
    }

    private func comparator(_ comparison: Model.Predicate.Comparison, _ archive: inout KeyedArchive) -> PropertyListNode {
        let (type, options) = (Int64(comparison.operation.rawValue), PropertyListNode.integer(Int64(comparison.options)))
        var keys: [String: PropertyListNode] = [
            "NSOperatorType": .integer(type), "NSModifier": .integer(Int64(comparison.modifier.rawValue)),
        ]
        switch comparison.operation {
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            keys.merge(["NSVariant": .integer(type), "NSOptions": options]) { $1 }
        case .equalTo, .notEqualTo: keys.merge(["NSNegate": .bool(type == 5), "NSOptions": options]) { $1 }
        default: keys["NSFlags"] = options
        }
        return archive.object(comparison.operation.lineage + ["NSPredicateOperator", "NSObject"], keys)
    }
}

extension Model.Predicate.Operator {
    fileprivate var lineage: [String] {
        switch self {
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo: ["NSComparisonPredicateOperator"]
        case .equalTo, .notEqualTo: ["NSEqualityPredicateOperator"]
        case .matches: ["NSMatchingPredicateOperator", "NSStringPredicateOperator"]
        case .like: ["NSLikePredicateOperator", "NSMatchingPredicateOperator", "NSStringPredicateOperator"]
        case .beginsWith, .endsWith: ["NSSubstringPredicateOperator", "NSStringPredicateOperator"]
        case .in, .contains: ["NSInPredicateOperator"]
        case .between: ["NSBetweenPredicateOperator"]
        }
    }
}

/// Expressions.
extension PredicateWriter {
    func expression(_ expression: Model.Expression, _ archive: inout KeyedArchive) throws -> PropertyListNode {
        switch expression {
        case .text(let text):
            let parsed = try parser.expression(text)
            guard case .text = parsed else { return try self.expression(parsed, &archive) }
            throw ModelFormatError(nil, "the expression \(text) is text, and text has no place in a compiled model")
        case .constant(let value): return try constant(value, &archive)
        case .evaluatedObject: return object("NSSelfExpression", 1, [:], &archive)
        case .variable(let name): return object("NSVariableExpression", 2, ["NSVariable": archive.string(name)], &archive)
        case .keyPath(let operand, let path): return try keyPath(operand, path, &archive)
        case .function(let name, let arguments): return try function(name, on: functions(&archive), arguments, &archive)
        case .call(let target, let name, let arguments):
            return try function(name, on: self.expression(target, &archive), arguments, &archive)
        case .aggregate(let elements):
            let collection = archive.array(try elements.map { try self.expression($0, &archive) })
            return object("NSAggregateExpression", 14, ["NSCollection": collection], &archive)
        case .anyKey: return object("NSAnyKeyExpression", 15, [:], &archive)
        case .set, .subquery, .conditional, .fetch: return try combination(expression, &archive)
        }
    }

    private func object(
        _ name: String,
        _ type: Int64,
        _ keys: [String: PropertyListNode],
        _ archive: inout KeyedArchive
    ) -> PropertyListNode {
        archive.object([name, "NSExpression", "NSObject"], keys.merging(["NSExpressionType": .integer(type)]) { $1 })
    }

    private func constant(_ value: Model.Value?, _ archive: inout KeyedArchive) throws -> PropertyListNode {
        let key = value == nil ? "NSConstantValueClassName" : "NSConstantValue"
        return object("NSConstantValueExpression", 0, [key: try archive.value(value)], &archive)
    }

    /// What predefined functions are called on.
    private func functions(_ archive: inout KeyedArchive) -> PropertyListNode {
        let name = archive.string("_NSPredicateUtilities")
        return object("NSConstantValueExpression", 0, ["NSConstantValueClassName": name], &archive)
    }

    private func function(
        _ name: String,
        on operand: PropertyListNode,
        _ arguments: [Model.Expression],
        _ archive: inout KeyedArchive
    ) throws -> PropertyListNode {
        let arguments = archive.array(try arguments.map { try expression($0, &archive) })
        let keys = ["NSOperand": operand, "NSSelectorName": archive.string(name), "NSArguments": arguments]
        return object("NSFunctionExpression", 4, keys, &archive)
    }

    /// NB: only a key path of the evaluated object has the type of key paths; others have that of functions.
    private func keyPath(_ operand: Model.Expression?, _ path: String, _ archive: inout KeyedArchive) throws -> PropertyListNode {
        let specifier = object("NSKeyPathSpecifierExpression", 10, ["NSKeyPath": archive.string(path)], &archive)
        let selector = operand == nil && !path.contains(".") ? "valueForKey:" : "valueForKeyPath:"
        return archive.object(
            ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression", "NSObject"],
            [
                "NSOperand": try expression(operand ?? .evaluatedObject, &archive), "NSSelectorName": archive.string(selector),
                "NSArguments": archive.array([specifier], mutable: true), "NSExpressionType": .integer(operand == nil ? 3 : 4),
            ]
        )
    }

    private func combination(_ expression: Model.Expression, _ archive: inout KeyedArchive) throws -> PropertyListNode {
        switch expression {
        case .set(let operation, let left, let right):
            let keys = ["NSLeftExpression": try self.expression(left, &archive), "NSRightExpression": try self.expression(right, &archive)]
            return object("NSSetExpression", Int64(operation.rawValue), keys, &archive)
        case .subquery(let collection, let variable, let predicate):
            let keys = [
                "NSExpression": try self.expression(collection, &archive), "NSVariable": archive.string(variable),
                "NSPredicate": try self.predicate(predicate, &archive),
            ]
            return object("NSSubqueryExpression", 13, keys, &archive)
        case .conditional(let predicate, let yes, let no):
            let keys = [
                "NSPredicate": try self.predicate(predicate, &archive), "NSTrueExpression": try self.expression(yes, &archive),
                "NSFalseExpression": try self.expression(no, &archive),
            ]
            return object("NSTernaryExpression", 20, keys, &archive)
        case .fetch(let request, let context, let countOnly):
            let keys = [
                "NSFRExpression": try self.expression(request, &archive), "NSMOCExpression": try self.expression(context, &archive),
                "NSCountOnlyFlag": PropertyListNode.bool(countOnly),
            ]
            return object("NSFetchRequestExpression", 50, keys, &archive)
        default: return try self.expression(expression, &archive)
        }
    }
}
