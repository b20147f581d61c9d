/// Bounds and patterns as predicates.
extension Model.Attribute {
    /// The predicates and warnings of `minimum`, `maximum`, `pattern` and `validations`.
    ///
    /// A warning that is a number is the code of the error that the predicate's failure makes.
    public var allValidations: [Validation] {
        let subject = boundSubject
        let bounds = [(Model.Predicate.Operator.greaterThanOrEqualTo, minimum), (.lessThanOrEqualTo, maximum)].compactMap {
            operation,
            value in
            value?.suited(to: boundType).flatMap { value in
                boundWarning(operation).map { Validation(.comparison(.init(subject, operation, .constant(value))), warning: $0) }
            }
        }
        let patterns = pattern.map {
            Validation(.comparison(.init(.evaluatedObject, .matches, .constant(.string($0)))), warning: Self.patternWarning)
        }
        return bounds + [patterns].compactMap { $0 } + validations
    }

    private static let patternWarning = "1680"

    /// What the bounds limit: a text's length, or the value itself.
    private var boundSubject: Model.Expression { type == .string ? .keyPath(nil, "length") : .evaluatedObject }
    private var boundType: Model.ValueType { type == .string ? .integer64 : type }

    private func boundWarning(_ operation: Model.Predicate.Operator) -> String? {
        let isMinimum = operation == .greaterThanOrEqualTo
        switch type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float: return isMinimum ? "1620" : "1610"
        case .date: return isMinimum ? "1640" : "1630"
        case .string: return isMinimum ? "1670" : "1660"
        default: return nil
        }
    }

    /// Makes a validation a bound or a pattern if it is one of those, else keeps it as it is.
    mutating func add(_ validation: Validation) {
        if !addBound(validation) && !addPattern(validation) { validations.append(validation) }
    }

    private mutating func addBound(_ validation: Validation) -> Bool {
        guard case .comparison(let comparison) = validation.predicate, case .constant(let value?) = comparison.right,
            comparison == .init(boundSubject, comparison.operation, comparison.right), let bound = value.suited(to: boundType),
            boundWarning(comparison.operation) == validation.warning
        else { return false }
        switch comparison.operation {
        case .greaterThanOrEqualTo where minimum == nil: minimum = bound
        case .lessThanOrEqualTo where maximum == nil: maximum = bound
        default: return false
        }
        return true
    }

    private mutating func addPattern(_ validation: Validation) -> Bool {
        guard case .comparison(let comparison) = validation.predicate, case .constant(.string(let text)?) = comparison.right,
            comparison == .init(.evaluatedObject, .matches, comparison.right), pattern == nil, validation.warning == Self.patternWarning
        else { return false }
        pattern = text
        return true
    }
}
