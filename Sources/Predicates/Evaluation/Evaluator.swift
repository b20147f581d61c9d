import Foundation

/// What nil means in a comparison.
public enum PredicateSemantics: Sendable {
    /// As `evaluate(with:)`: nil is a value that differs from every other, so `nil != "x"` holds.
    case foundation
    /// As in SQL: a comparison with nil is neither true nor false, unless it is with a literal nil.
    case sql
}

extension PredicateTree {
    /// Whether the predicate holds for an object; nil is SQL's unknown, which only `.sql` gives. A fetch keeps only true.
    ///
    /// In `.sql`, `x == nil` and `x != nil` with a literal nil are IS NULL and IS NOT NULL; `IN` is unknown when nothing matches and
    /// nil is in the list; ANY holds when the comparison is true of an element and ALL when it is true of each, never unknown;
    /// `@count` and `@sum` of nothing are 0, the average of nothing is nil.
    /// - Throws: `PredicateEvaluationError`, or what a `KeyValueSource` throws.
    public func evaluate(
        _ object: Any?,
        semantics: PredicateSemantics = .foundation,
        variables: [String: Any] = [:]
    ) throws -> Bool? {
        try Evaluator(semantics: semantics, variables: variables).truth(of: self, for: object)
    }
}

extension NSExpression {
    /// The value of the expression for an object.
    ///
    /// - Throws: `PredicateEvaluationError`, or what a `KeyValueSource` throws.
    public func value(
        for object: Any?,
        semantics: PredicateSemantics = .foundation,
        variables: [String: Any] = [:]
    ) throws -> Any? {
        try Evaluator(semantics: semantics, variables: variables).value(of: self, for: object)
    }
}

/// Evaluates predicates and expressions under one meaning of nil.
struct Evaluator {
    let semantics: PredicateSemantics
    var variables: [String: Any]
    /// The variables that stand for an element of a subquery's collection.
    var iterated: Set<String> = []
}
