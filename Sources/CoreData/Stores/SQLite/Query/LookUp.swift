import Predicates
import SQLiteDriver

/// A fetch by the value of one attribute, the commonest of all: its statement is the same for every value.
struct LookUp {
    /// What the text of the statement depends on.
    struct Shape: Hashable {
        let attribute: String
        let kind: SQLKind
        let isLimited: Bool
        let hasOffset: Bool
    }

    let shape: Shape
    /// The value that is looked for.
    let value: SQLiteValue

    /// Nil for every other fetch.
    init?(_ query: FetchQuery) {
        guard case .comparison(let comparison)? = query.predicate, query.sortDescriptors.isEmpty,
            comparison.predicateOperatorType == .equalTo, comparison.comparisonPredicateModifier == .direct, comparison.options.isEmpty,
            case .keyPath(nil, let name) = comparison.leftExpression.tree, query.entity.attributesByName[name] != nil,
            case .constant(let constant) = comparison.rightExpression.tree, case .scalar(let scalar) = PredicateConstant(constant)
        else { return nil }
        shape = Shape(attribute: name, kind: scalar.kind, isLimited: query.limit > 0, hasOffset: query.offset > 0)
        value = scalar.value
    }
}
