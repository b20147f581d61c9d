import Foundation

/// The compiled right side of a text comparison.
///
/// NB: predicates are shared between threads although Foundation's class is not Sendable; hence the lock.
// Sendable: the lock guards what was compiled, which does not change.
final class PatternCache: @unchecked Sendable {
    private enum Compiled {
        case text(TextMatcher)
        case regularExpression(RegularExpressionMatcher)
    }

    /// For comparisons that have no pattern.
    static let unused = PatternCache()

    private let lock = NSLock()
    private var last: (pattern: String, compiled: Compiled)?

    func matches(_ text: String, _ comparison: NSComparisonPredicate, _ pattern: String) throws -> Bool {
        switch try compiled(comparison, pattern) {
        case .text(let matcher): matcher.matches(text)
        case .regularExpression(let matcher): matcher.matches(text)
        }
    }

    private func compiled(_ comparison: NSComparisonPredicate, _ pattern: String) throws -> Compiled {
        lock.lock()
        defer { lock.unlock() }
        // Equal as texts is not enough: canonically equivalent patterns differ in their bytes.
        if let last, last.pattern.hasSameBytes(as: pattern) { return last.compiled }
        let compiled = try compile(comparison.predicateOperatorType, comparison.options, pattern)
        last = (pattern, compiled)
        return compiled
    }

    private func compile(
        _ type: NSComparisonPredicate.Operator,
        _ options: NSComparisonPredicate.Options,
        _ pattern: String
    ) throws -> Compiled {
        switch type {
        case .matches: .regularExpression(try RegularExpressionMatcher(pattern: pattern, options: options))
        case .like: .text(TextMatcher(kind: .like, options: options, pattern: pattern))
        case .beginsWith: .text(TextMatcher(kind: .beginsWith, options: options, pattern: pattern))
        case .endsWith: .text(TextMatcher(kind: .endsWith, options: options, pattern: pattern))
        default: .text(TextMatcher(kind: .contains, options: options, pattern: pattern))
        }
    }
}
