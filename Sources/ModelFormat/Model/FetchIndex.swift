extension Model {
    /// An index that speeds up fetches of an entity.
    public struct FetchIndex: Sendable, Equatable {
        public var name = ""
        public var elements: [Element] = []
        /// Limits the index to the objects that satisfy it.
        public var partialPredicate: Predicate?
        public var extras = Extras()

        public init() {}

        /// What an index sorts by: a property or an expression.
        public struct Element: Sendable, Equatable {
            /// The name of a property; for an expression, what a compiled file calls it.
            public var property: String?
            public var expression: Expression?
            public var expressionType: ValueType?
            public var collation = Collation.binary
            public var isAscending = true
            public var extras = Extras()

            public init() {}
        }

        /// The raw value is the one in compiled files.
        public enum Collation: Int, Sendable, CaseIterable {
            /// By value.
            case binary = 0
            /// By containment in ranges.
            case rTree = 1
        }
    }
}
