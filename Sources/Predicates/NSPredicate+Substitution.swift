import Foundation

extension NSPredicate {
    /// A copy in which variables are replaced by constants; variables without a value stay.
    ///
    /// A value that is an `NSExpression` is put in as it is. A subclass of the client's own comes back as a plain predicate.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        Rebuilding.predicate(self, Substitution(variables: variables))
    }

    /// As `withSubstitutionVariables`, with the values at the ends of paths that begin at a variable in place of these paths: what they are now.
    ///
    /// A comparison with a constant is one that a store can make, and compares with nil as if nil had been written. A path that cannot be read
    /// stays, and evaluation tells why.
    package func withValues(of variables: [String: Any]) -> NSPredicate {
        Rebuilding.predicate(self, Substitution(variables: variables, readsPaths: true))
    }

    /// A copy with other constants, where `replacement` gives one.
    package func replacingConstants(_ replacement: @escaping (Any) -> Any?) -> NSPredicate {
        Rebuilding.predicate(self, Substitution(variables: [:], replacement: replacement))
    }
}

/// What takes the place of variables, and of constants.
private struct Substitution {
    var variables: [String: Any]
    /// Whether a path that begins at a value is replaced by what it leads to.
    var readsPaths = false
    /// Of a constant; nil where it stays.
    var replacement: (Any) -> Any? = { _ in nil }

    func expression(for name: String) -> NSExpression? {
        variables[name].map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }
    }

    func expression(inPlaceOf constant: Any?) -> NSExpression? { constant.flatMap(replacement).map(NSExpression.init(forConstantValue:)) }

    /// The variable of a subquery hides one of the same name outside.
    func hiding(_ name: String) -> Self {
        Substitution(variables: variables.filter { $0.key != name }, readsPaths: readsPaths, replacement: replacement)
    }

    func path(_ path: String, from operand: NSExpression) -> NSExpression {
        let whole = NSExpression(.keyPath(operand: operand, path))
        guard readsPaths, case .constant = operand.tree else { return whole }
        do {
            return NSExpression(forConstantValue: try whole.value(for: nil))
        } catch {
            // It fails again, with a reason, when somebody evaluates the predicate.
            return whole
        }
    }
}

/// Makes predicates and expressions anew from their leaves up, without recursion.
private struct Rebuilding {
    enum Node {
        case expression(NSExpression)
        case predicate(NSPredicate)
    }

    /// A node whose parts are being rebuilt.
    private struct Level {
        let node: Node
        let substitution: Substitution
        let parts: [(Node, Substitution)]
        var expressions: [NSExpression] = []
        var predicates: [NSPredicate] = []

        init(_ node: Node, _ substitution: Substitution) {
            (self.node, self.substitution) = (node, substitution)
            parts = node.parts(substitution)
        }

        var nextPart: (Node, Substitution)? {
            let made = expressions.count + predicates.count
            return made < parts.count ? parts[made] : nil
        }

        mutating func add(_ part: Node) {
            switch part {
            case .expression(let expression): expressions.append(expression)
            case .predicate(let predicate): predicates.append(predicate)
            }
        }

        var rebuilt: Node {
            switch node {
            case .expression(let expression): .expression(expression.rebuilt(substitution, expressions, predicates))
            case .predicate(let predicate): .predicate(predicate.rebuilt(substitution, expressions, predicates))
            }
        }
    }

    static func predicate(_ predicate: NSPredicate, _ substitution: Substitution) -> NSPredicate {
        var levels = [Level(.predicate(predicate), substitution)]
        while true {
            if let (part, substitution) = levels[levels.count - 1].nextPart {
                levels.append(Level(part, substitution))
                continue
            }
            let made = levels.removeLast().rebuilt
            if levels.isEmpty {
                // What began as a predicate is one again.
                if case .predicate(let predicate) = made { return predicate }
                return predicate
            }
            levels[levels.count - 1].add(made)
        }
    }
}

extension Rebuilding.Node {
    fileprivate func parts(_ substitution: Substitution) -> [(Rebuilding.Node, Substitution)] {
        switch self {
        case .predicate(let predicate): predicate.parts.map { ($0, substitution) }
        case .expression(let expression):
            if case .subquery(let collection, let variable, let predicate) = expression.tree {
                [(.expression(collection), substitution), (.predicate(predicate), substitution.hiding(variable))]
            } else {
                expression.parts.map { ($0, substitution) }
            }
        }
    }
}

extension NSPredicate {
    fileprivate var parts: [Rebuilding.Node] {
        switch shape {
        case .constant, .opaque: []
        case .compound(let compound): compound.subpredicates.map { .predicate($0) }
        case .comparison(let comparison): [.expression(comparison.leftExpression), .expression(comparison.rightExpression)]
        }
    }

    fileprivate func rebuilt(_ variables: Substitution, _ expressions: [NSExpression], _ predicates: [NSPredicate]) -> NSPredicate {
        switch shape {
        case .constant: self
        // What cannot be looked into gets the variables when it is asked.
        case .opaque:
            NSPredicate { object, bindings in
                self.evaluate(with: object, substitutionVariables: variables.variables.merging(bindings ?? [:]) { old, _ in old })
            }
        case .compound(let compound): CompoundPredicate(type: compound.compoundPredicateType, subpredicates: predicates)
        case .comparison(let comparison):
            NSComparisonPredicate(
                leftExpression: expressions[0],
                rightExpression: expressions[1],
                modifier: comparison.comparisonPredicateModifier,
                type: comparison.predicateOperatorType,
                options: comparison.options
            )
        }
    }
}

extension NSExpression {
    fileprivate var parts: [Rebuilding.Node] {
        switch tree {
        case .constant, .evaluatedObject, .anyKey, .variable, .keyPath(nil, _): []
        case .keyPath(let operand?, _): [.expression(operand)]
        case .function(_, let arguments), .aggregate(let arguments), .block(_, let arguments): arguments.map { .expression($0) }
        case .call(let target, _, let arguments): ([target] + arguments).map { .expression($0) }
        case .index(let collection, .at(let index)): [.expression(collection), .expression(index)]
        case .index(let collection, _): [.expression(collection)]
        case .set(_, let left, let right): [.expression(left), .expression(right)]
        case .subquery(let collection, _, let predicate): [.expression(collection), .predicate(predicate)]
        case .conditional(let predicate, let yes, let no): [.predicate(predicate), .expression(yes), .expression(no)]
        }
    }

    fileprivate func rebuilt(_ variables: Substitution, _ parts: [NSExpression], _ predicates: [NSPredicate]) -> NSExpression {
        switch tree {
        case .evaluatedObject, .anyKey, .keyPath(nil, _): self
        case .constant(let value): variables.expression(inPlaceOf: value) ?? self
        case .variable(let name): variables.expression(for: name) ?? self
        case .keyPath(_, let path): variables.path(path, from: parts[0])
        case .function(let name, _): NSExpression(.function(name, parts))
        case .call(_, let name, _): NSExpression(.call(target: parts[0], name, Array(parts.dropFirst())))
        case .index(_, .at): NSExpression(.index(parts[0], .at(parts[1])))
        case .index(_, let index): NSExpression(.index(parts[0], index))
        case .aggregate: NSExpression(.aggregate(parts))
        case .set(let operation, _, _): NSExpression(.set(operation, parts[0], parts[1]))
        case .subquery(_, let variable, _): NSExpression(.subquery(parts[0], variable: variable, predicates[0]))
        case .conditional: NSExpression(.conditional(predicates[0], then: parts[0], else: parts[1]))
        case .block(let block, _): NSExpression(.block(block, parts))
        }
    }
}
