import Foundation

/// Whether predicates and expressions say the same, compared pair by pair without recursion.
enum StructureComparison {
    fileprivate enum Node {
        case expression(NSExpression)
        case predicate(NSPredicate)
    }

    static func areEqual(_ left: NSExpression, _ right: NSExpression) -> Bool { areEqual(.expression(left), .expression(right)) }
    static func areEqual(_ left: NSPredicate, _ right: NSPredicate) -> Bool { areEqual(.predicate(left), .predicate(right)) }

    private static func areEqual(_ left: Node, _ right: Node) -> Bool {
        var waiting = [(left, right)]
        while let pair = waiting.popLast() {
            switch pair {
            case (.expression(let a), .expression(let b)):
                if a === b { continue }
                guard a.agreesAlone(with: b), add(a.children, b.children, to: &waiting) else { return false }
            case (.predicate(let a), .predicate(let b)):
                if a === b { continue }
                guard a.agreesAlone(with: b), add(a.children, b.children, to: &waiting) else { return false }
            default: return false
            }
        }
        return true
    }

    private static func add(_ left: [Node], _ right: [Node], to waiting: inout [(Node, Node)]) -> Bool {
        guard left.count == right.count else { return false }
        waiting += zip(left, right)
        return true
    }
}

extension NSExpression {
    /// Whether the two are the same but for the expressions and predicates in them.
    fileprivate func agreesAlone(with other: NSExpression) -> Bool {
        switch (tree, other.tree) {
        case (.constant(let a), .constant(let b)): sameConstant(a, b)
        case (.evaluatedObject, .evaluatedObject), (.anyKey, .anyKey), (.index, .index), (.aggregate, .aggregate): true
        case (.conditional, .conditional): true
        case (.variable(let a), .variable(let b)): a == b
        case (.keyPath(_, let a), .keyPath(_, let b)): a == b
        case (.function(let a, _), .function(let b, _)): a == b
        case (.call(_, let a, _), .call(_, let b, _)): a == b
        case (.set(let a, _, _), .set(let b, _, _)): a == b
        case (.subquery(_, let a, _), .subquery(_, let b, _)): a == b
        default: false
        }
    }

    private func sameConstant(_ a: Any?, _ b: Any?) -> Bool {
        if a == nil || b == nil { return a == nil && b == nil }
        return Value(a).isEqual(to: Value(b))
    }

    fileprivate var children: [StructureComparison.Node] {
        switch tree {
        case .constant, .evaluatedObject, .anyKey, .variable, .keyPath(nil, _): []
        case .keyPath(let operand?, _): [.expression(operand)]
        case .function(_, let arguments), .aggregate(let arguments), .block(_, let arguments):
            arguments.map { .expression($0) }
        case .call(let target, _, let arguments): ([target] + arguments).map { .expression($0) }
        case .index(let collection, let index): [.expression(collection), .expression(index.expression)]
        case .set(_, let left, let right): [.expression(left), .expression(right)]
        case .subquery(let collection, _, let predicate): [.expression(collection), .predicate(predicate)]
        case .conditional(let predicate, let yes, let no): [.predicate(predicate), .expression(yes), .expression(no)]
        }
    }

    /// Leaves constants out: values that are equal need not print alike.
    var structuralHash: Int {
        var hasher = Hasher()
        hasher.combine(expressionType)
        switch tree {
        case .keyPath(_, let name), .variable(let name), .function(let name, _), .call(_, let name, _): hasher.combine(name)
        default: break
        }
        return hasher.finalize()
    }
}

extension NSPredicate {
    fileprivate func agreesAlone(with other: NSPredicate) -> Bool {
        switch (shape, other.shape) {
        case (.constant(let a), .constant(let b)): a == b
        case (.compound(let a), .compound(let b)): a.compoundPredicateType == b.compoundPredicateType
        case (.comparison(let a), .comparison(let b)):
            a.predicateOperatorType == b.predicateOperatorType && a.options == b.options
                && a.comparisonPredicateModifier == b.comparisonPredicateModifier
        case (.opaque, .opaque): isEqual(other)
        default: false
        }
    }

    fileprivate var children: [StructureComparison.Node] {
        switch shape {
        case .constant, .opaque: []
        case .compound(let compound): compound.subpredicates.map { .predicate($0) }
        case .comparison(let comparison): [.expression(comparison.leftExpression), .expression(comparison.rightExpression)]
        }
    }
}
