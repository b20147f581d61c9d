import Predicates
import class Predicates.NSExpression

/// The key paths that a predicate and an order read from the fetched objects, as lists of keys.
///
/// What a block reads is not among them: blocks are evaluated in memory, where unsaved values are read anyway.
struct ReadPaths {
    private(set) var paths: Set<[String]> = []

    init(_ predicate: PredicateTree?, _ sortDescriptors: [NSSortDescriptor]) {
        if let predicate { collect(predicate, [:]) }
        for descriptor in sortDescriptors { if case .key(let path) = descriptor.sortKey { paths.insert(Self.keys(path)) } }
    }

    private static func keys(_ path: String) -> [String] { path.split(separator: ".").map(String.init) }

    /// - Parameter variables: where the variables of the subqueries around lead to.
    private mutating func collect(_ predicate: PredicateTree, _ variables: [String: [String]]) {
        switch predicate {
        case .constant, .opaque: break
        case .and(let parts), .or(let parts): for part in parts { collect(part, variables) }
        case .not(let part): collect(part, variables)
        case .comparison(let comparison):
            collect(comparison.leftExpression, variables)
            collect(comparison.rightExpression, variables)
        }
    }

    private mutating func collect(_ expression: NSExpression, _ variables: [String: [String]]) {
        if let path = path(of: expression, variables) {
            paths.insert(path)
            return
        }
        switch expression.tree {
        case .constant, .evaluatedObject, .anyKey, .variable: break
        case .keyPath(let operand, _): if let operand { collect(operand, variables) }
        case .function(_, let arguments), .aggregate(let arguments), .block(_, let arguments):
            for argument in arguments { collect(argument, variables) }
        case .call(let target, _, let arguments): for part in [target] + arguments { collect(part, variables) }
        case .index(let collection, .at(let index)): for part in [collection, index] { collect(part, variables) }
        case .index(let collection, _): collect(collection, variables)
        case .set(_, let left, let right): for part in [left, right] { collect(part, variables) }
        case .subquery(let collection, let variable, let predicate):
            collect(collection, variables)
            guard let path = path(of: collection, variables) else { return }
            collect(predicate.tree, variables.merging([variable: path]) { $1 })
        case .conditional(let condition, let yes, let no):
            collect(condition.tree, variables)
            for part in [yes, no] { collect(part, variables) }
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
