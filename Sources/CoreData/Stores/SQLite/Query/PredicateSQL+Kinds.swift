import Foundation
import Predicates
import class Predicates.NSComparisonPredicate

/// What is compared with a property ought to be of its kind. Where it is not, the condition finds nothing, as evaluation in memory does; the error
/// says so, for whoever asks a store.
extension PredicateSQL {
    mutating func noteKinds(_ left: SQLOperand, _ right: SQLOperand, _ comparison: NSComparisonPredicate) {
        if right.isConstant {
            noteKinds(left, right.kind, comparison)
        } else if left.isConstant, case .keyPath = comparison.rightExpression.tree {
            noteKinds(right.kind, besides: left.kind, comparison)
        }
    }

    mutating func noteKinds(_ left: SQLOperand, _ constant: SQLKind, _ comparison: NSComparisonPredicate) {
        if !left.isConstant, case .keyPath = comparison.leftExpression.tree { noteKinds(left.kind, besides: constant, comparison) }
    }

    /// Of a row of another tree, of another store, or of none, there is nothing to say: it is just not there.
    private mutating func noteKinds(_ property: SQLKind, besides constant: SQLKind, _ comparison: NSComparisonPredicate) {
        if property.isComparable(to: constant) || otherKind != nil { return }
        guard let kind = property.noun, let other = constant.noun, kind != other else { return }
        otherKind = CocoaError.coreData(
            .coreData,
            """
            The predicate \(comparison.printedFormat) of \(scopes[0].entity.description.name ?? "?") compares \(kind) with \
            \(other), which it never is. Give it a value of the property's type.
            """
        )
    }
}

extension SQLKind {
    /// What a value of the kind is; nil where it says nothing about that.
    fileprivate var noun: String? {
        switch self {
        case .integer, .real, .float, .decimal: "a number"
        case .text: "a text"
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .row: "an object"
        case .entity, .null, .foreign: nil
        }
    }
}
