import Foundation

/// MATCHES: the whole text must match the regular expression.
public struct RegularExpressionMatcher: Sendable {
    private let expression: NSRegularExpression
    private let folding: TextFolding

    /// - Throws: `PredicateEvaluationError.invalidPattern`.
    public init(pattern: String, options: NSComparisonPredicate.Options = []) throws {
        // Case is left to the expression: folding its text would turn \D into \d.
        folding = options.folding.isDiacriticInsensitive ? .diacriticInsensitive : .literal
        let ignoresCase = options.folding.isCaseInsensitive
        let flags: NSRegularExpression.Options = ignoresCase ? .caseInsensitive : []
        do {
            // Read alone first: unbalanced parentheses must not find their partner in ours. An empty one is refused there.
            if !pattern.isEmpty { _ = try NSRegularExpression(pattern: folding.fold(pattern), options: flags) }
            expression = try Self.whole(folding.fold(pattern), flags)
        } catch {
            throw PredicateEvaluationError.invalidPattern(pattern, reason: error.localizedDescription)
        }
    }

    /// What must match to the end of the text.
    ///
    /// NB: the parenthesis that closes the pattern would belong to a comment of `(?x)`, or to a quotation that `\Q` began, that ends with the
    /// pattern. Then it is missing, and the pattern is refused: a line break ends the first, and `\E` the other.
    private static func whole(_ pattern: String, _ flags: NSRegularExpression.Options) throws -> NSRegularExpression {
        for end in ["", "\n"] {
            if let expression = try? NSRegularExpression(pattern: "(?:\(pattern)\(end))\\z", options: flags) { return expression }
        }
        return try NSRegularExpression(pattern: "(?:\(pattern)\\E)\\z", options: flags)
    }

    public func matches(_ text: String) -> Bool {
        let text = folding.fold(text)
        return expression.firstMatch(in: text, options: .anchored, range: NSRange(location: 0, length: text.utf16.count)) != nil
    }

    public func matches(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool { matches(String(decoding: utf8, as: UTF8.self)) }
}
