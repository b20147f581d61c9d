import CShims
import Foundation

/// A question about texts, prepared once and asked many times over UTF-8 bytes.
///
/// Texts are compared byte by byte after folding, never by canonical equivalence. Every text contains, begins and ends with the empty one.
public struct TextMatcher: Sendable {
    public enum Kind: Sendable {
        case equal
        case beginsWith
        case endsWith
        case contains
        /// `?` is any scalar, `*` any number of them, a backslash takes their meaning away.
        case like
    }

    private let kind: Kind
    private let folding: TextFolding
    private let pattern: [UInt8]
    private let like: LikePattern?

    public init(kind: Kind, options: NSComparisonPredicate.Options = [], pattern: String) {
        self.kind = kind
        folding = options.folding
        self.pattern = folding.foldedBytes(pattern)
        like = kind == .like ? LikePattern(self.pattern) : nil
    }

    /// - Complexity: O(n), for `like` with several `*` O(n · m).
    public func matches(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        folding.withFolded(utf8) { matches(folded: $0) }
    }

    public func matches(_ text: String) -> Bool { withUTF8(text) { matches($0) } }

    func matches(_ value: Value) -> Bool {
        if case .text(let text) = value { matches(text) } else { false }
    }

    private func matches(folded text: UnsafeBufferPointer<UInt8>) -> Bool {
        if let like { return like.matches(text) }
        return pattern.withUnsafeBufferPointer { pattern in
            guard text.count >= pattern.count else { return false }
            return switch kind {
            case .equal: text.count == pattern.count && same(text[...], pattern)
            case .beginsWith: same(text.prefix(pattern.count), pattern)
            case .endsWith: same(text.suffix(pattern.count), pattern)
            case .contains, .like: contains(text, pattern)
            }
        }
    }

    /// Both have the same length.
    private func same(_ text: Slice<UnsafeBufferPointer<UInt8>>, _ pattern: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let a = UnsafeBufferPointer(rebasing: text).baseAddress, let b = pattern.baseAddress else { return true }
        return memcmp(a, b, pattern.count) == 0
    }

    private func contains(_ text: UnsafeBufferPointer<UInt8>, _ pattern: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !pattern.isEmpty, let text = UnsafeRawBufferPointer(text).baseAddress.map({ ($0, text.count) }),
            let needle = pattern.baseAddress
        else { return true }
        return cd_memmem(text.0, text.1, needle, pattern.count) != nil
    }
}
