import Foundation

extension NSPredicate {
    /// A copy in which variables are replaced by constants; variables without a value stay.
    ///
    /// A value that is an `NSExpression` is put in as it is. A subclass of the client's own comes back as a plain predicate.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        substituting(variables)
    }

    func substituting(_ variables: [String: Any]) -> NSPredicate {
        switch shape {
        case .constant: self
        // What cannot be looked into gets the variables when it is asked.
        case .opaque:
            NSPredicate { object, bindings in
                self.evaluate(with: object, substitutionVariables: variables.merging(bindings ?? [:]) { old, _ in old })
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
    func substituting(_ variables: [String: Any]) -> NSExpression {
        switch tree {
        case .constant, .evaluatedObject, .anyKey: self
        case .variable(let name): variables[name].map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) } ?? self
        case .keyPath(let operand, let path): NSExpression(.keyPath(operand: operand?.substituting(variables), path))
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
                    // The variable of the subquery hides one of the same name outside.
                    predicate.substituting(variables.filter { $0.key != variable })
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
