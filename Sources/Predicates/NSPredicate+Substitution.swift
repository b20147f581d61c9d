import Foundation

/// What takes the place of variables.
private struct Substitution {
    var variables: [String: Any]
    /// Whether a path that begins at a value is replaced by what it leads to.
    var readsPaths = false

    func expression(for name: String) -> NSExpression? {
        variables[name].map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }
    }

    /// The variable of a subquery hides one of the same name outside.
    func hiding(_ name: String) -> Self {
        Substitution(variables: variables.filter { $0.key != name }, readsPaths: readsPaths)
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

extension NSPredicate {
    /// A copy in which variables are replaced by constants; variables without a value stay.
    ///
    /// A value that is an `NSExpression` is put in as it is. A subclass of the client's own comes back as a plain predicate.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        substituting(Substitution(variables: variables))
    }

    /// As `withSubstitutionVariables`, with the values at the ends of paths that begin at a variable in place of these paths: what they are now.
    ///
    /// A comparison with a constant is one that a store can make, and compares with nil as if nil had been written. A path that cannot be read
    /// stays, and evaluation tells why.
    package func withValues(of variables: [String: Any]) -> NSPredicate {
        substituting(Substitution(variables: variables, readsPaths: true))
    }

    fileprivate func substituting(_ variables: Substitution) -> NSPredicate {
        switch shape {
        case .constant: self
        // What cannot be looked into gets the variables when it is asked.
        case .opaque:
            NSPredicate { object, bindings in
                self.evaluate(with: object, substitutionVariables: variables.variables.merging(bindings ?? [:]) { old, _ in old })
            }
        case .compound(let compound):
            CompoundPredicate(
                type: compound.compoundPredicateType,
                subpredicates: compound.subpredicates.map { $0.substituting(variables) }
            )
        case .comparison(let comparison):
            NSComparisonPredicate(
                leftExpression: comparison.leftExpression.substituting(variables),
                rightExpression: comparison.rightExpression.substituting(variables),
                modifier: comparison.comparisonPredicateModifier,
                type: comparison.predicateOperatorType,
                options: comparison.options
            )
        }
    }
}

extension NSExpression {
    fileprivate func substituting(_ variables: Substitution) -> NSExpression {
        switch tree {
        case .constant, .evaluatedObject, .anyKey: self
        case .variable(let name): variables.expression(for: name) ?? self
        case .keyPath(nil, _): self
        case .keyPath(let operand?, let path): variables.path(path, from: operand.substituting(variables))
        case .function(let name, let arguments): NSExpression(.function(name, arguments.map { $0.substituting(variables) }))
        case .call(let target, let name, let arguments):
            NSExpression(.call(target: target.substituting(variables), name, arguments.map { $0.substituting(variables) }))
        case .index(let collection, .at(let index)):
            NSExpression(.index(collection.substituting(variables), .at(index.substituting(variables))))
        case .index(let collection, let index): NSExpression(.index(collection.substituting(variables), index))
        case .aggregate(let elements): NSExpression(.aggregate(elements.map { $0.substituting(variables) }))
        case .set(let operation, let left, let right):
            NSExpression(.set(operation, left.substituting(variables), right.substituting(variables)))
        case .subquery(let collection, let variable, let predicate):
            NSExpression(
                .subquery(
                    collection.substituting(variables),
                    variable: variable,
                    predicate.substituting(variables.hiding(variable))
                )
            )
        case .conditional(let predicate, let yes, let no):
            NSExpression(
                .conditional(predicate.substituting(variables), then: yes.substituting(variables), else: no.substituting(variables))
            )
        case .block(let block, let arguments): NSExpression(.block(block, arguments.map { $0.substituting(variables) }))
        }
    }
}
