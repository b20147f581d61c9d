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
        if kind == .collectionCount { return try memberCount(translation) }
        guard kind == nil, let name = (Root.Output.self as? any KeyPathNaming.Type)?.name(of: keyPath) else {
            throw PredicateTranslation.refusal("\(keyPath), of which nobody knows the name (KeyPathNaming)")
        }
        return PredicateTranslation.path(name, of: try translation.expression(root))
    }

    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate {
        guard kind == .collectionIsEmpty else {
            return PredicateTranslation.areEqual(try expression(translation), NSExpression(forConstantValue: true))
        }
        if Root.Output.self is any StringProtocol.Type {
            return PredicateTranslation.areEqual(try translation.expression(root), NSExpression(forConstantValue: ""))
        }
        return PredicateTranslation.compare(try memberCount(translation), .equalTo, NSExpression(forConstantValue: 0))
    }

    /// NB: stores count members of relationships only; the characters of a text are others in SQL than in Swift.
    private func memberCount(_ translation: PredicateTranslation) throws -> NSExpression {
        guard let type = Root.Output.self as? any Collection.Type, hasObjects(type) else {
            throw PredicateTranslation.refusal("the count of a \(Root.Output.self), which is no relationship")
        }
        return PredicateTranslation.count(try translation.expression(root))
    }

    private func hasObjects<Members: Collection>(_ type: Members.Type) -> Bool { Members.Element.self is NSManagedObject.Type }
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
