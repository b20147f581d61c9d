import Foundation
import Predicates
import class Predicates.NSExpression

extension PredicateExpressions.Variable: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        guard let name = translation.names[key] else { throw PredicateTranslation.refusal("a variable of nobody") }
        return name
    }
}

extension PredicateExpressions.Value: TranslatableExpression, TranslatablePredicate {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression { NSExpression(forConstantValue: value) }

    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        guard let value = value as? Bool else { throw PredicateTranslation.refusal("\(Output.self) for a condition") }
        return NSPredicate(value: value)
    }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression { NSExpression(forConstantValue: nil) }
}

extension PredicateExpressions.KeyPath: TranslatableExpression, TranslatablePredicate, NamedValue {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        if kind == .collectionCount { return PredicateTranslation.count(try translation.expression(root)) }
        guard kind == nil, let name = (Root.Output.self as? any KeyPathNaming.Type)?.keyPathNames[keyPath] else {
            throw PredicateTranslation.refusal("\(keyPath), of which nobody knows the name (KeyPathNaming)")
        }
        return PredicateTranslation.path(name, of: try translation.expression(root))
    }

    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        if kind == .collectionIsEmpty {
            let count = PredicateTranslation.count(try translation.expression(root))
            return PredicateTranslation.compare(count, .equalTo, NSExpression(forConstantValue: 0))
        }
        return PredicateTranslation.areEqual(try expression(translation), NSExpression(forConstantValue: true))
    }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression { try translation.expression(inner) }
}

/// `author?.name`: behind nil is nil.
extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        try translation.naming(variable.key, translation.expression(wrapped)).expression(transform)
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        let (value, other) = (try translation.expression(lhs), try translation.expression(rhs))
        return NSExpression(forConditional: PredicateTranslation.isNil(value, true), trueExpression: other, falseExpression: value)
    }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        NSExpression(
            forConditional: try translation.predicate(test),
            trueExpression: try translation.expression(trueBranch),
            falseExpression: try translation.expression(falseBranch)
        )
    }
}

extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        let name =
            switch op {
            case .add: "add:to:"
            case .subtract: "from:subtract:"
            case .multiply: "multiply:by:"
            @unknown default: throw PredicateTranslation.refusal("\(op)")
            }
        return NSExpression(forFunction: name, arguments: [try translation.expression(lhs), try translation.expression(rhs)])
    }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        NSExpression(forFunction: "divide:by:", arguments: [try translation.expression(lhs), try translation.expression(rhs)])
    }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        NSExpression(forFunction: "divide:by:", arguments: [try translation.expression(lhs), try translation.expression(rhs)])
    }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        NSExpression(forFunction: "modulus:by:", arguments: [try translation.expression(lhs), try translation.expression(rhs)])
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        NSExpression(forFunction: "chs:", arguments: [try translation.expression(wrapped)])
    }
}

extension PredicateExpressions.Filter: TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression {
        try translation.members(of: sequence, variable.key, where: filter)
    }
}
