import Foundation
import ModelFormat
import Predicates
import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

extension ModelTextParser {
    /// Reads texts of model sources with the grammar of `NSPredicate(format:)`.
    package static let predicates = ModelTextParser(
        predicate: { try Model.Predicate(NSPredicate(parsing: $0).tree) },
        expression: { text in
            // NB: what is no expression of predicates may still be one that a derived attribute understands; that stays text.
            guard let parsed = try? NSExpression(parsing: text) else { return .text(text) }
            return try Model.Expression(parsed).asFunction
        }
    )
}

extension Model.Predicate {
    /// - Throws: `ModelFormatError` for what archives have no form for, such as blocks.
    package init(_ tree: PredicateTree) throws {
        switch tree {
        case .constant(let value): self = .constant(value)
        case .and(let parts): self = .and(try parts.map(Model.Predicate.init))
        case .or(let parts): self = .or(try parts.map(Model.Predicate.init))
        case .not(let part): self = .not(try Model.Predicate(part))
        case .comparison(let comparison): self = .comparison(try Comparison(comparison))
        case .opaque: throw ModelFormatError(nil, "a predicate made of code has no place in a compiled model")
        }
    }
}

extension Model.Predicate.Comparison {
    fileprivate init(_ comparison: NSComparisonPredicate) throws {
        // Both enumerations have the raw values of archives.
        guard let operation = Model.Predicate.Operator(rawValue: Int(comparison.predicateOperatorType.rawValue)),
            let modifier = Model.Predicate.Modifier(rawValue: Int(comparison.comparisonPredicateModifier.rawValue))
        else { throw ModelFormatError(nil, "the operator of \(comparison.printedFormat) has no place in a compiled model") }
        self.init(
            try Model.Expression(comparison.leftExpression),
            operation,
            try Model.Expression(comparison.rightExpression),
            modifier: modifier,
            options: Int(comparison.options.rawValue)
        )
    }
}

extension Model.Expression {
    /// - Throws: as for predicates.
    package init(_ expression: NSExpression) throws {
        switch expression.tree {
        case .constant(let value): self = .constant(try Self.constant(value))
        case .evaluatedObject: self = .evaluatedObject
        case .anyKey: self = .anyKey
        case .variable(let name): self = .variable(name)
        case .keyPath(let operand, let path): self = .keyPath(try operand.map(Model.Expression.init), path)
        case .function(let name, let arguments): self = .function(name, try arguments.map(Model.Expression.init))
        case .call(let target, let name, let arguments):
            self = .call(try Model.Expression(target), name, try arguments.map(Model.Expression.init))
        case .index(let collection, .at(let index)):
            self = .function("objectFrom:withIndex:", [try Model.Expression(collection), try Model.Expression(index)])
        case .aggregate(let elements): self = .aggregate(try elements.map(Model.Expression.init))
        case .set(let operation, let left, let right): self = .set(.init(operation), try Self(left), try Self(right))
        case .subquery(let collection, let variable, let predicate):
            self = .subquery(try Self(collection), variable: variable, try Model.Predicate(predicate.tree))
        case .conditional(let predicate, let yes, let no):
            self = .conditional(try Model.Predicate(predicate.tree), try Self(yes), try Self(no))
        case .index, .block: throw ModelFormatError(nil, "the expression \(expression) has no place in a compiled model")
        }
    }

    private static func constant(_ value: Any?) throws -> Model.Value? {
        guard let value, !(value is NSNull) else { return nil }
        if let known = Model.Value(of: value) { return known }
        throw ModelFormatError(nil, "the constant \(value) has no place in a compiled model")
    }

    /// A key path that ends in a collection operator as the function that it stands for, which is what compilers write.
    fileprivate var asFunction: Model.Expression {
        guard case .keyPath(nil, let path) = self, let place = path.range(of: ".@", options: .backwards),
            !path[place.upperBound...].contains(".")
        else { return self }
        return .function("\(path[place.upperBound...]):", [.keyPath(nil, String(path[..<place.lowerBound]))])
    }
}

extension Model.Expression.SetOperation {
    fileprivate init(_ operation: Predicates.SetOperation) {
        switch operation {
        case .union: self = .union
        case .intersect: self = .intersect
        case .minus: self = .minus
        }
    }
}
