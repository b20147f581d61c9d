import Foundation
import Predicates
import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

extension PredicateExpressions.Conjunction: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        PredicateTranslation.all([try translation.predicate(lhs), try translation.predicate(rhs)])
    }
}

extension PredicateExpressions.Disjunction: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        PredicateTranslation.any([try translation.predicate(lhs), try translation.predicate(rhs)])
    }
}

extension PredicateExpressions.Negation: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        PredicateTranslation.not(try translation.predicate(wrapped))
    }
}

extension PredicateExpressions.Equal: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate { try translation.equality(of: lhs, rhs) }
}

extension PredicateExpressions.NotEqual: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        PredicateTranslation.not(try translation.equality(of: lhs, rhs))
    }
}

/// `title?.contains("x")`: false behind nil.
extension PredicateExpressions.OptionalFlatMap: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        let whole = try translation.expression(wrapped)
        let test = try translation.naming(variable.key, whole).predicate(transform)
        return PredicateTranslation.all([PredicateTranslation.isNil(whole, false), test])
    }
}

extension PredicateExpressions.NilCoalesce: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        if let other = rhs as? PredicateExpressions.Value<Bool>, !other.value { return try translation.predicate(lhs) }
        return PredicateTranslation.areEqual(try expression(translation), NSExpression(forConstantValue: true))
    }
}

extension PredicateExpressions.Comparison: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        let type: NSComparisonPredicate.Operator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            @unknown default: throw PredicateTranslation.refusal("\(op)")
            }
        let (left, right) = (try translation.expression(lhs), try translation.expression(rhs))
        return PredicateTranslation.known(PredicateTranslation.compare(left, type, right), [left, right])
    }
}

extension PredicateExpressions.SequenceContains: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        let (sequence, element) = (try translation.expression(sequence), try translation.expression(element))
        if case .constant(let list) = sequence.tree {
            guard let known = presentElements(of: list) else {
                return PredicateTranslation.known(PredicateTranslation.compare(element, .in, sequence), [element])
            }
            let isIn = PredicateTranslation.compare(element, .in, NSExpression(forConstantValue: known))
            return PredicateTranslation.any([
                PredicateTranslation.isNil(element, true), PredicateTranslation.known(isIn, [element]),
            ])
        }
        guard case .constant = element.tree else { throw PredicateTranslation.refusal("contains() of what is no constant") }
        return PredicateTranslation.compare(sequence, .contains, element)
    }

    /// The elements of a list that has nil among them, without that; nil for another one.
    private func presentElements(of list: Any?) -> [Any]? {
        guard RHS.Output.self is any ExpressibleByNilLiteral.Type, let list = list as? any Sequence else { return nil }
        let elements = list.map { unwrapped($0) }
        return elements.contains { $0 == nil } ? elements.compactMap { $0 } : nil
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        let found = try translation.members(of: sequence, variable.key, where: test)
        return PredicateTranslation.compare(PredicateTranslation.count(found), .greaterThan, NSExpression(forConstantValue: 0))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        let others = try translation.members(of: sequence, variable.key, where: test, isNegated: true)
        return PredicateTranslation.compare(PredicateTranslation.count(others), .equalTo, NSExpression(forConstantValue: 0))
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        try translation.textMatch(base, .beginsWith, prefix, of: Base.Output.self)
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        try translation.textMatch(base, .contains, other, of: Base.Output.self)
    }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        NSExpression(forAggregate: [try translation.expression(lower), try translation.expression(upper)])
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        let (range, element) = (try translation.expression(range), try translation.expression(element))
        switch range.tree {
        case .aggregate(let bounds):
            return PredicateTranslation.known(PredicateTranslation.compare(element, .between, range), [element] + bounds)
        case .constant(let value as any ConstantRange):
            return PredicateTranslation.known(value.contains(element), [element])
        default: throw PredicateTranslation.refusal("\(RangeExpression.Output.self)")
        }
    }
}

/// A range that a program has made before.
private protocol ConstantRange {
    func contains(_ element: NSExpression) -> NSPredicate
}

extension ClosedRange: ConstantRange {
    fileprivate func contains(_ element: NSExpression) -> NSPredicate {
        PredicateTranslation.compare(element, .between, NSExpression(forConstantValue: [lowerBound, upperBound]))
    }
}

extension Range: ConstantRange {
    fileprivate func contains(_ element: NSExpression) -> NSPredicate {
        PredicateTranslation.all([
            PredicateTranslation.compare(element, .greaterThanOrEqualTo, NSExpression(forConstantValue: lowerBound)),
            PredicateTranslation.compare(element, .lessThan, NSExpression(forConstantValue: upperBound)),
        ])
    }
}

extension PredicateTranslation {
    /// What is a condition itself may be compared with true: `title?.contains("x") == true`.
    fileprivate func equality(of left: Any, _ right: Any) throws -> NSPredicate {
        if !(left is any NamedValue), let condition = left as? any TranslatablePredicate, let flag = Self.flag(right), flag {
            return try condition.predicate(self)
        }
        return Self.areEqual(try expression(left), try expression(right))
    }

    private static func flag(_ expression: Any) -> Bool? {
        (expression as? PredicateExpressions.Value<Bool>)?.value ?? (expression as? PredicateExpressions.Value<Bool?>)?.value
    }

    fileprivate func textMatch(
        _ text: Any,
        _ type: NSComparisonPredicate.Operator,
        _ pattern: Any,
        of output: Any.Type
    ) throws -> NSPredicate {
        guard output is any StringProtocol.Type else { throw Self.refusal("a search in \(output)") }
        let (text, pattern) = (try expression(text), try expression(pattern))
        return Self.known(Self.compare(text, type, pattern), [text, pattern])
    }
}
