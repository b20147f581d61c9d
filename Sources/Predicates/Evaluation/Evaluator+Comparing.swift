import Foundation

extension Evaluator {
    func truth(of comparison: NSComparisonPredicate, for object: Any?) throws -> Bool? {
        let right = try comparison.rightExpression.constant ?? Value(try value(of: comparison.rightExpression, for: object))
        let left = try value(of: comparison.leftExpression, for: object)
        switch comparison.comparisonPredicateModifier {
        case .direct: return try holds(comparison, Value(left), right)
        case .any: return try elements(left).contains { try holds(comparison, Value($0), right) == true }
        case .all: return try elements(left).allSatisfy { try holds(comparison, Value($0), right) == true }
        }
    }

    /// What ANY and ALL go over: a single value counts as a collection of one, nil as an empty one.
    private func elements(_ value: Any?) -> [Any?] {
        let value = Value(value)
        return value.elements ?? (value.isNull ? [] : [value.any])
    }

    private func holds(_ comparison: NSComparisonPredicate, _ left: Value, _ right: Value) throws -> Bool? {
        switch comparison.predicateOperatorType {
        case .equalTo: equality(comparison, left, right)
        case .notEqualTo: equality(comparison, left, right).map { !$0 }
        case .lessThan: order(comparison, left, right).map { $0 == .orderedAscending } ?? undecided
        case .lessThanOrEqualTo: order(comparison, left, right).map { $0 != .orderedDescending } ?? undecided
        case .greaterThan: order(comparison, left, right).map { $0 == .orderedDescending } ?? undecided
        case .greaterThanOrEqualTo: order(comparison, left, right).map { $0 != .orderedAscending } ?? undecided
        case .in: try membership(comparison, of: left, in: right)
        case .contains: try containment(comparison, left, right)
        case .between: try between(comparison, left, right)
        case .beginsWith, .endsWith, .like, .matches: try textMatch(comparison, left, right)
        case .customSelector:
            throw PredicateEvaluationError.unsupported("a comparison by selector cannot be evaluated: selectors do not exist here")
        }
    }

    /// The answer to a question about values that cannot be compared.
    private var undecided: Bool? { semantics == .sql ? nil : false }

    private func equality(_ comparison: NSComparisonPredicate, _ left: Value, _ right: Value) -> Bool? {
        let isUnknown = semantics == .sql && (left.isNull || right.isNull)
        if isUnknown, !isNullLiteral(comparison.leftExpression), !isNullLiteral(comparison.rightExpression) { return nil }
        return left.isEqual(to: right, folding: comparison.options.folding)
    }

    /// A variable counts as what the caller bound it to, as if it had been substituted.
    private func isNullLiteral(_ expression: NSExpression) -> Bool {
        switch expression.tree {
        case .constant(let value): Value(value).isNull
        case .variable(let name): !iterated.contains(name) && Value(variables[name]).isNull
        default: false
        }
    }

    private func order(_ comparison: NSComparisonPredicate, _ left: Value, _ right: Value) -> ComparisonResult? {
        if comparison.options.contains(.localeSensitive), case .text(let a) = left, case .text(let b) = right {
            return a.compare(b, options: comparison.options.folding.compareOptions, locale: .current)
        }
        return left.order(to: right, folding: comparison.options.folding)
    }

    private func membership(_ comparison: NSComparisonPredicate, of element: Value, in collection: Value) throws -> Bool? {
        guard let elements = collection.candidates else {
            guard case .text = collection, case .text(let part) = element else { return undecided }
            return TextMatcher(kind: .contains, options: comparison.options, pattern: part).matches(collection)
        }
        if let members = comparison.rightExpression.members, comparison.options.folding == .literal {
            return membership(of: element, in: members)
        }
        return membership(of: element, in: elements, comparison.options.folding)
    }

    private func membership(of element: Value, in members: ConstantMembers) -> Bool? {
        guard semantics == .sql else { return members.contains(element) }
        if element.isNull { return members.elements.isEmpty ? false : nil }
        return members.contains(element) ? true : members.contains(.null) ? nil : false
    }

    /// SQL: unknown unless the element is found, when it or one of the list is nil. Nothing is in an empty list.
    private func membership(of element: Value, in elements: [Any?], _ folding: TextFolding) -> Bool? {
        var foundNull = false
        for candidate in elements {
            let candidate = Value(candidate)
            if semantics == .sql, candidate.isNull || element.isNull {
                foundNull = true
            } else if candidate.isEqual(to: element, folding: folding) {
                return true
            }
        }
        return foundNull ? nil : false
    }

    private func containment(_ comparison: NSComparisonPredicate, _ whole: Value, _ part: Value) throws -> Bool? {
        guard let elements = whole.elements else { return try textMatch(comparison, whole, part) }
        if semantics == .sql, part.isNull { return nil }
        return elements.contains { Value($0).isEqual(to: part, folding: comparison.options.folding) }
    }

    private func between(_ comparison: NSComparisonPredicate, _ value: Value, _ bounds: Value) throws -> Bool? {
        guard let elements = bounds.elements, elements.count == 2 else {
            throw PredicateEvaluationError.unsupported("BETWEEN needs a list of two bounds")
        }
        let isAbove = order(comparison, value, Value(elements[0])).map { $0 != .orderedAscending } ?? undecided
        let isBelow = order(comparison, value, Value(elements[1])).map { $0 != .orderedDescending } ?? undecided
        if isAbove == false || isBelow == false { return false }
        return isAbove == nil || isBelow == nil ? nil : true
    }

    private func textMatch(_ comparison: NSComparisonPredicate, _ left: Value, _ right: Value) throws -> Bool? {
        guard case .text(let text) = left, case .text(let pattern) = right else { return undecided }
        return try comparison.patterns.matches(text, comparison, pattern)
    }
}
