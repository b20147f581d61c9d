extension Model {
    /// An expression: text where the file has text, a tree where it has objects.
    public indirect enum Expression: Sendable, Equatable {
        /// Text in the format language of predicates, unread.
        case text(String)
        /// Nil stands for nil.
        case constant(Value?)
        /// SELF.
        case evaluatedObject
        case variable(String)
        /// A key path read from an operand, or from the evaluated object when there is none.
        case keyPath(Expression?, String)
        /// One of the predefined functions, such as `sum:`.
        case function(String, [Expression])
        /// A method of an object.
        case call(Expression, String, [Expression])
        case aggregate([Expression])
        case set(SetOperation, Expression, Expression)
        case subquery(Expression, variable: String, Predicate)
        case conditional(Predicate, Expression, Expression)
        /// The result of a fetch, or its count.
        case fetch(request: Expression, context: Expression, countOnly: Bool)
        case anyKey

        /// The raw value is the expression type in archives.
        public enum SetOperation: Int, Sendable {
            case union = 5
            case intersect = 6
            case minus = 7
        }
    }

    /// A condition: text where the file has text, a tree where it has objects.
    public indirect enum Predicate: Sendable, Equatable {
        /// Text in the format language of predicates, unread.
        case format(String)
        case constant(Bool)
        case comparison(Comparison)
        case not(Predicate)
        case and([Predicate])
        case or([Predicate])

        /// Two expressions and how they are compared.
        public struct Comparison: Sendable, Equatable {
            public var left: Expression
            public var right: Expression
            public var operation: Operator
            public var modifier: Modifier
            /// Bits: 1 regardless of case, 2 regardless of diacritics, 4 normalised, 8 by the rules of the locale.
            public var options: Int

            public init(_ left: Expression, _ operation: Operator, _ right: Expression, modifier: Modifier = .direct, options: Int = 0) {
                self.left = left
                self.right = right
                self.operation = operation
                self.modifier = modifier
                self.options = options
            }
        }

        /// The raw value is the one in archives.
        public enum Operator: Int, Sendable, CaseIterable {
            case lessThan = 0
            case lessThanOrEqualTo = 1
            case greaterThan = 2
            case greaterThanOrEqualTo = 3
            case equalTo = 4
            case notEqualTo = 5
            case matches = 6
            case like = 7
            case beginsWith = 8
            case endsWith = 9
            case `in` = 10
            case contains = 99
            case between = 100
        }

        /// Which elements of the left side's collection must satisfy the comparison.
        public enum Modifier: Int, Sendable {
            case direct = 0
            case all = 1
            case any = 2
        }
    }
}
