import Foundation

/// A format that was read once, to be filled with other arguments without reading it again.
///
/// Of formats whose arguments are whole sides of comparisons: what such a format means does not depend on the arguments.
struct FormatTemplate {
    private indirect enum Part {
        case fixed(NSPredicate)
        case comparison(Comparison)
        case compound(NSCompoundPredicate.LogicalType, [Part])
    }

    // NB: the arguments of the first use are not kept: they may be objects, which would live on with their contexts.
    private struct Comparison {
        let left, right: Side
        let modifier: NSComparisonPredicate.Modifier
        let type: NSComparisonPredicate.Operator
        let options: NSComparisonPredicate.Options
    }

    private enum Side {
        case fixed(NSExpression)
        /// An argument, by its conversion.
        case argument(Character)
    }

    private let whole: Part

    /// Nil where an argument is anything but a side of a comparison.
    ///
    /// - Parameter arguments: the expressions that the arguments have become, in order.
    init?(_ predicate: NSPredicate, _ arguments: [ArgumentExpression]) {
        var rest = arguments[...]
        whole = Self.part(predicate, &rest)
        guard rest.isEmpty else { return nil }
    }

    private static func part(_ predicate: NSPredicate, _ rest: inout ArraySlice<ArgumentExpression>) -> Part {
        let count = rest.count
        let part =
            switch predicate.shape {
            case .constant, .opaque: Part.fixed(predicate)
            case .compound(let compound):
                Part.compound(compound.compoundPredicateType, compound.subpredicates.map { Self.part($0, &rest) })
            case .comparison(let comparison):
                Part.comparison(Self.comparison(comparison, &rest))
            }
        return rest.count == count ? .fixed(predicate) : part
    }

    private static func comparison(_ predicate: NSComparisonPredicate, _ rest: inout ArraySlice<ArgumentExpression>) -> Comparison {
        let left = side(predicate.leftExpression, &rest)
        let areBounds = predicate.predicateOperatorType == .between
        return Comparison(
            left: left,
            // Bounds are looked at while a format is read.
            right: areBounds ? .fixed(predicate.rightExpression) : side(predicate.rightExpression, &rest),
            modifier: predicate.comparisonPredicateModifier,
            type: predicate.predicateOperatorType,
            options: predicate.options
        )
    }

    private static func side(_ expression: NSExpression, _ rest: inout ArraySlice<ArgumentExpression>) -> Side {
        guard let first = rest.first, first.expression === expression else { return .fixed(expression) }
        rest.removeFirst()
        return .argument(first.conversion)
    }

    /// The predicate with these arguments; nil where reading the format says more: why they do not fit, or what a predicate among them becomes.
    func filled(with values: [Any?]) -> NSPredicate? {
        var arguments = FormatArguments(values)
        let predicate = Self.fill(whole, &arguments)
        return arguments.remaining == 0 ? predicate : nil
    }

    private static func fill(_ part: Part, _ arguments: inout FormatArguments) -> NSPredicate? {
        switch part {
        case .fixed(let predicate): return predicate
        case .compound(let type, let parts):
            var predicates: [NSPredicate] = []
            for part in parts {
                guard let predicate = fill(part, &arguments) else { return nil }
                predicates.append(predicate)
            }
            return CompoundPredicate(type: type, subpredicates: predicates)
        case .comparison(let comparison):
            guard let left = expression(comparison.left, &arguments), let right = expression(comparison.right, &arguments) else {
                return nil
            }
            return NSComparisonPredicate(
                leftExpression: left,
                rightExpression: right,
                modifier: comparison.modifier,
                type: comparison.type,
                options: comparison.options
            )
        }
    }

    private static func expression(_ side: Side, _ arguments: inout FormatArguments) -> NSExpression? {
        switch side {
        case .fixed(let expression): return expression
        case .argument(let conversion):
            guard case .success(let value) = arguments.take(for: conversion) else { return nil }
            if let value, type(of: value) is AnyClass, value is NSPredicate || value is NSExpression { return nil }
            return ArgumentExpression(conversion, value).expression
        }
    }
}

/// What an argument of a format becomes, where it is neither a predicate nor an expression already.
struct ArgumentExpression {
    let conversion: Character
    let expression: NSExpression

    init(_ conversion: Character, _ value: Any?) {
        self.conversion = conversion
        expression = conversion == "K" ? NSExpression(forKeyPath: value as? String ?? "") : NSExpression(forConstantValue: value)
    }
}
