extension Model.Predicate {
    /// The condition in the format language of predicates.
    public var format: String {
        switch self {
        case .format(let text): text
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): comparison.format
        case .not(let predicate): "NOT \(predicate.part)"
        case .and(let predicates): predicates.isEmpty ? "TRUEPREDICATE" : predicates.map(\.part).joined(separator: " AND ")
        case .or(let predicates): predicates.isEmpty ? "FALSEPREDICATE" : predicates.map(\.part).joined(separator: " OR ")
        }
    }

    /// The condition as a part of another.
    private var part: String {
        switch self {
        case .constant, .comparison: format
        case .format, .not, .and, .or: "(\(format))"
        }
    }
}

extension Model.Predicate.Comparison {
    fileprivate var format: String { "\(modifier.keyword)\(left.format) \(operation.keyword)\(optionText) \(right.format)" }

    private var optionText: String {
        let letters = zip("cdnl", [1, 2, 4, 8]).filter { options & $0.1 != 0 }.map(\.0)
        return letters.isEmpty ? "" : "[\(String(letters))]"
    }
}

extension Model.Predicate.Modifier {
    fileprivate var keyword: String {
        switch self {
        case .direct: ""
        case .all: "ALL "
        case .any: "ANY "
        }
    }
}

extension Model.Predicate.Operator {
    fileprivate var keyword: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        }
    }
}
