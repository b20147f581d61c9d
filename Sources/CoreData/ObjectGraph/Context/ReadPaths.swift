import Predicates
import class Predicates.NSExpression

/// The key paths that a predicate and an order read from the fetched objects, as lists of keys.
///
/// What a block reads is not among them: blocks are evaluated in memory, where unsaved values are read anyway.
struct ReadPaths {
    private(set) var paths: Set<[String]> = []
    /// Whether something is read of which nobody knows what it is.
    private(set) var hasBlocks = false

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
            case .predicate(let predicate, let variables):
                if case .opaque = predicate { hasBlocks = true }
                waiting += Self.parts(of: predicate, variables)
            case .expression(let expression, let variables):
                if case .block = expression.tree { hasBlocks = true }
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

extension ReadPaths {
    /// Whether a relationship is followed, or asked for what it holds.
    func readRelationships(of entity: NSEntityDescription) -> Bool {
        paths.contains { $0.count > 1 || $0.first.map { entity.propertiesByName[$0] is NSRelationshipDescription } == true }
    }

    /// Whether all that is read is in rows, and so the same for every object that stands for one.
    func areStored(of entity: NSEntityDescription) -> Bool {
        !hasBlocks && paths.allSatisfy { Self.isStored($0[...], entity) }
    }

    private static func isStored(_ path: ArraySlice<String>, _ entity: NSEntityDescription) -> Bool {
        guard let key = path.first(where: { !$0.hasPrefix("@") }) else { return true }
        switch entity.propertiesByName[key] {
        case let relationship as NSRelationshipDescription:
            return isStored(path.dropFirst((path.firstIndex(of: key) ?? 0) - path.startIndex + 1), relationship.destination)
        case let property?: return property is NSAttributeDescription && !property.isTransient
        case nil: return ["self", "SELF", "objectID", "entity"].contains(key)
        }
    }
}
