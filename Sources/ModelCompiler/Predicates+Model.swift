import Foundation
import ModelFormat
import Predicates
import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

/// Predicates and expressions of model files.
extension NSPredicate {
    /// - Throws: `PredicateFormatError` for malformed text, `ModelFormatError` for what can only be asked in a fetch.
    package static func make(_ predicate: Model.Predicate) throws -> NSPredicate {
        switch predicate {
        case .format(let text): try parsing(text) { try NSPredicate(parsing: text) }
        case .constant(let value): NSPredicate(value: value)
        case .comparison(let comparison): try make(comparison)
        case .not(let part): CompoundPredicate(type: .not, subpredicates: [try make(part)])
        case .and(let parts): CompoundPredicate(type: .and, subpredicates: try parts.map(make))
        case .or(let parts): CompoundPredicate(type: .or, subpredicates: try parts.map(make))
        }
    }

    private static func make(_ comparison: Model.Predicate.Comparison) throws -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: try NSExpression.make(comparison.left),
            rightExpression: try NSExpression.make(comparison.right),
            // Both enumerations have the raw values of archives.
            modifier: NSComparisonPredicate.Modifier(rawValue: UInt(comparison.modifier.rawValue)) ?? .direct,
            type: NSComparisonPredicate.Operator(rawValue: UInt(comparison.operation.rawValue)) ?? .equalTo,
            options: NSComparisonPredicate.Options(rawValue: UInt(comparison.options & 0xf))
        )
    }
}

/// Malformed text in a file is an error of the file.
private func parsing<Result>(_ text: String, _ parse: () throws -> Result) throws -> Result {
    do {
        return try parse()
    } catch {
        throw ModelFormatError(nil, "\(error)")
    }
}

extension NSExpression {
    package static func make(_ expression: Model.Expression) throws -> NSExpression {
        switch expression {
        case .text(let text): try parsing(text) { try NSExpression(parsing: text) }
        case .constant(let value): NSExpression(forConstantValue: value?.plain)
        case .evaluatedObject: expressionForEvaluatedObject()
        case .variable(let name): NSExpression(forVariable: name)
        case .keyPath(nil, let path): NSExpression(forKeyPath: path)
        case .keyPath(let operand?, let path): NSExpression(.keyPath(operand: try make(operand), path))
        case .function(let name, let arguments): NSExpression(.function(name, try arguments.map(make)))
        case .call(let target, let name, let arguments): NSExpression(.call(target: try make(target), name, try arguments.map(make)))
        case .aggregate(let elements): NSExpression(.aggregate(try elements.map(make)))
        case .set(let operation, let left, let right): NSExpression(.set(operation.here, try make(left), try make(right)))
        case .subquery(let collection, let variable, let predicate):
            NSExpression(.subquery(try make(collection), variable: variable, try NSPredicate.make(predicate)))
        case .conditional(let predicate, let yes, let no):
            NSExpression(.conditional(try NSPredicate.make(predicate), then: try make(yes), else: try make(no)))
        case .fetch: throw ModelFormatError(nil, "an expression that fetches stands where only values can")
        case .anyKey: expressionForAnyKey()
        }
    }
}

extension Model.Expression.SetOperation {
    fileprivate var here: Predicates.SetOperation {
        switch self {
        case .union: .union
        case .intersect: .intersect
        case .minus: .minus
        }
    }
}
