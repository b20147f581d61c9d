import Foundation

/// A comparison of two expressions.
///
/// Immutable; a copy is the object itself.
open class NSComparisonPredicate: NSPredicate {
    public let leftExpression: NSExpression
    public let rightExpression: NSExpression
    public let comparisonPredicateModifier: Modifier
    public let predicateOperatorType: Operator
    public let options: Options
    /// What the right side compiles to when it is a pattern; kept so that a filter over many objects compiles it once.
    let patterns: PatternCache

    public init(
        leftExpression: NSExpression,
        rightExpression: NSExpression,
        modifier: Modifier,
        type: Operator,
        options: Options = []
    ) {
        self.leftExpression = leftExpression
        self.rightExpression = rightExpression
        comparisonPredicateModifier = modifier
        predicateOperatorType = type
        self.options = options
        patterns = type.mayHavePattern ? PatternCache() : .unused
        // NB: as a constant it would be equal to NSPredicate(value: true), which looks at the base class's storage only.
        super.init(block: { _, _ in false })
    }

    /// Whether the comparison holds for an object, with Foundation's meaning of nil (`nil != "x"` is true).
    ///
    /// - Precondition: keys, variables, functions and patterns are right. `tree.evaluate` throws instead.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        do {
            return try PredicateTree.comparison(self).evaluate(object, variables: bindings ?? [:]) ?? false
        } catch {
            // Objects throw errors that say more when they are printed than what is wrong.
            let reason = error.localizedDescription
            fatalError("NSPredicate '\(printedFormat)' cannot be evaluated: \(reason) (predicate.tree.evaluate(_:) throws this instead.)")
        }
    }

    open override func copy(with zone: NSZone? = nil) -> Any { self }
    open override func copy() -> Any { self }

    @available(*, deprecated, message: "use printedFormat, which every predicate has")
    open override var predicateFormat: String { printedFormat }
    open override var description: String { printedFormat }
    open override var debugDescription: String { printedFormat }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(leftExpression)
        hasher.combine(rightExpression)
        hasher.combine(predicateOperatorType)
        return hasher.finalize()
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSComparisonPredicate else { return false }
        return StructureComparison.areEqual(self, other)
    }
}

extension NSComparisonPredicate {
    public enum Modifier: UInt, Sendable {
        case direct = 0
        /// Every element of the left side's collection.
        case all = 1
        /// At least one element of the left side's collection.
        case any = 2
    }

    /// Apple's raw values.
    public enum Operator: UInt, Sendable {
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
        /// Cannot be evaluated: there are no selectors to call on this platform.
        case customSelector = 11
        case contains = 99
        case between = 100
    }

    /// How texts are compared: `[c]`, `[d]`, `[n]`, `[l]` in a format.
    public struct Options: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let caseInsensitive = Options(rawValue: 1)
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// The texts need no preparation; stands above the other options.
        public static let normalized = Options(rawValue: 4)
        /// Order by the rules of the current locale.
        public static let localeSensitive = Options(rawValue: 8)

        /// How text is folded before it is compared.
        public var folding: TextFolding {
            if contains(.normalized) { return .literal }
            return TextFolding(isCaseInsensitive: contains(.caseInsensitive), isDiacriticInsensitive: contains(.diacriticInsensitive))
        }
    }
}

extension NSComparisonPredicate.Operator {
    /// Whether the right side may be a text that is compiled.
    fileprivate var mayHavePattern: Bool {
        switch self {
        case .matches, .like, .beginsWith, .endsWith, .in, .contains: true
        default: false
        }
    }
}
