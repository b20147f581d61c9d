import Predicates
import class Predicates.NSExpression

/// The key paths that a predicate and an order read from the fetched objects, as lists of keys.
///
/// What a block reads is not among them: blocks are evaluated in memory, where unsaved values are read anyway.
struct ReadPaths {
    private(set) var paths: Set<[String]> = []

    init(_ predicate: PredicateTree?, _ sortDescriptors: [NSSortDescriptor]) {
        if let predicate { collect(predicate) }
        for descriptor in sortDescriptors { if case .key(let path) = descriptor.sortKey { paths.insert(Self.keys(path)) } }
    }

    private static func keys(_ path: String) -> [String] { path.split(separator: ".").map(String.init) }

    /// A part of a predicate that has not been looked at, with where the variables of the subqueries around it lead to.
    private enum Part {
        case predicate(PredicateTree, [String: [String]])
        case expression(NSExpression, [String: [String]])
    }

    /// Part by part, without recursion: predicates may be nested deep.
    private mutating func collect(_ predicate: PredicateTree) {
        var waiting: [Part] = [.predicate(predicate, [:])]
        while let part = waiting.popLast() {
            switch part {
            case .predicate(let predicate, let variables): waiting += Self.parts(of: predicate, variables)
            case .expression(let expression, let variables):
                if let path = path(of: expression, variables) {
                    paths.insert(path)
                } else {
                    waiting += parts(of: expression, variables)
                }
            }
        }
    }

    private static func parts(of predicate: PredicateTree, _ variables: [String: [String]]) -> [Part] {
        switch predicate {
        case .constant, .opaque: []
        case .and(let parts), .or(let parts): parts.map { .predicate($0, variables) }
        case .not(let part): [.predicate(part, variables)]
        case .comparison(let comparison):
            [.expression(comparison.leftExpression, variables), .expression(comparison.rightExpression, variables)]
        }
    }

    private func parts(of expression: NSExpression, _ variables: [String: [String]]) -> [Part] {
        func all(_ expressions: [NSExpression]) -> [Part] { expressions.map { .expression($0, variables) } }
        switch expression.tree {
        case .constant, .evaluatedObject, .anyKey, .variable: return []
        case .keyPath(let operand, _): return operand.map { all([$0]) } ?? []
        case .function(_, let arguments), .aggregate(let arguments), .block(_, let arguments): return all(arguments)
        case .call(let target, _, let arguments): return all([target] + arguments)
        case .index(let collection, .at(let index)): return all([collection, index])
        case .index(let collection, _): return all([collection])
        case .set(_, let left, let right): return all([left, right])
        case .subquery(let collection, let variable, let predicate):
            guard let path = path(of: collection, variables) else { return all([collection]) }
            return all([collection]) + [.predicate(predicate.tree, variables.merging([variable: path]) { $1 })]
        case .conditional(let condition, let yes, let no): return all([yes, no]) + [.predicate(condition.tree, variables)]
        }
    }

    /// The path that an expression is, seen from the fetched object; nil for every other expression.
    private func path(of expression: NSExpression, _ variables: [String: [String]]) -> [String]? {
        switch expression.tree {
        case .evaluatedObject: []
        case .variable(let name): variables[name]
        case .keyPath(nil, let path): Self.keys(path)
        case .keyPath(let operand?, let path): self.path(of: operand, variables).map { $0 + Self.keys(path) }
        default: nil
        }
    }
}
