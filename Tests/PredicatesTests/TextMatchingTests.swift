import Foundation
import Predicates
import Testing

@Suite("Matching text in UTF-8")
struct TextMatchingTests {
    static let options: [(NSComparisonPredicate.Options, String.CompareOptions)] = [
        ([], []), ([.caseInsensitive], [.caseInsensitive]), ([.diacriticInsensitive], [.diacriticInsensitive]),
        ([.caseInsensitive, .diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive]),
    ]

    static func folded(_ text: String, _ options: String.CompareOptions) -> [UInt8] {
        Array((options.isEmpty ? text : text.folding(options: options, locale: nil)).utf8)
    }

    @Test("folds every scalar as Foundation does")
    func scalars() {
        for (ours, theirs) in Self.options {
            let scalars = Array(0..<0x600) + Array(0x1E00..<0x2100) + [0xFB01, 0x10400, 0x1F600]
            for scalar in scalars.compactMap(Unicode.Scalar.init) {
                let text = "a\(scalar)B"
                let pattern = text.folding(options: theirs, locale: nil)
                // * The folded text has to be found as itself and in the unfolded one.
                #expect(TextMatcher(kind: .equal, options: ours, pattern: theirs.isEmpty ? text : pattern).matches(text), "\(scalar.value)")
            }
        }
    }

    @Test("finds what a search in Foundation's folded text finds", arguments: 0..<40)
    func property(seed: Int) {
        var generator = Seeded(state: UInt64(seed) &* 7919 &+ 1)
        let alphabets: [[Unicode.Scalar]] = [
            Array("abAB*?\\ ".unicodeScalars), Array("aAéÉèßÿŸİıŁłØøŉǰ^`".unicodeScalars),
            Array("e\u{301}\u{308}éE ÅA\u{30A}\u{212B}".unicodeScalars),
            Array("aσςΣяЯ字ﬁ😀é".unicodeScalars), (0..<0x260).compactMap(Unicode.Scalar.init),
        ]
        let alphabet = alphabets[seed % alphabets.count]
        func word(_ length: Int) -> String {
            var view = String.UnicodeScalarView()
            for _ in 0..<length { view.append(alphabet.randomElement(using: &generator)!) }
            return String(view)
        }
        for _ in 0..<200 {
            let text = word(.random(in: 0...8, using: &generator)), pattern = word(.random(in: 0...3, using: &generator))
            for (ours, theirs) in Self.options {
                let haystack = Self.folded(text, theirs), needle = Self.folded(pattern, theirs)
                func matches(_ kind: TextMatcher.Kind) -> Bool { TextMatcher(kind: kind, options: ours, pattern: pattern).matches(text) }
                #expect(matches(.equal) == (haystack == needle), "\(text) == \(pattern)")
                #expect(matches(.beginsWith) == haystack.starts(with: needle), "\(text) begins with \(pattern)")
                #expect(matches(.endsWith) == haystack.reversed().starts(with: needle.reversed()), "\(text) ends with \(pattern)")
                #expect(matches(.contains) == contains(haystack, needle), "\(text) contains \(pattern)")
                #expect(matches(.like) == like(haystack[...], needle[...]), "\(text) like \(pattern)")
            }
        }
    }

    @Test("by a regular expression matches to the end of the text, whatever the pattern ends with")
    func openPatterns() throws {
        let cases: [(String, matching: [String], other: [String])] = [
            ("(?x) a b # a comment", ["ab"], ["a b", "ab "]), ("(?x)a#", ["a"], ["a#", "aa"]), ("a(?x)  b  # c \\Q", ["ab"], ["a  b"]),
            ("\\Qa.b", ["a.b"], ["axb", "a.bc"]), ("\\Q)", [")"], ["", "))"]), ("a\\Q(\\E|b", ["a(", "b"], ["a", "a(b"]),
            ("\\Q#", ["#"], ["# "]), ("a|ab", ["a", "ab"], ["b", "abb"]), ("(?x)a\n#b\nc", ["ac"], ["abc"]), ("a#b", ["a#b"], ["a"]),
            ("(?x)a\\#", ["a#"], ["a"]), ("\\Qa\\", ["a\\"], ["a"]),
        ]
        for (pattern, matching, other) in cases {
            let matcher = try RegularExpressionMatcher(pattern: pattern)
            for text in matching { #expect(matcher.matches(text), "\(pattern) on \(text)") }
            for text in other { #expect(!matcher.matches(text), "\(pattern) on \(text)") }
        }
        for pattern in ["a)|(b", "(", "a\\", "(?x)( # )"] {
            #expect(throws: PredicateEvaluationError.self, "\(pattern)") { try RegularExpressionMatcher(pattern: pattern) }
        }
    }

    /// The naive search.
    private func contains(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        text.count >= pattern.count && (0...(text.count - pattern.count)).contains { text[$0...].starts(with: pattern) }
    }

    /// The definition of LIKE, by recursion.
    private func like(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        switch first {
        case UInt8(ascii: "*"): return (text.startIndex...text.endIndex).contains { like(text[$0...], pattern.dropFirst()) }
        case UInt8(ascii: "?"):
            guard !text.isEmpty else { return false }
            return like(text.dropFirst().drop { $0 & 0xC0 == 0x80 }, pattern.dropFirst())
        case UInt8(ascii: "\\") where pattern.count > 1:
            return text.first == pattern.dropFirst().first && like(text.dropFirst(), pattern.dropFirst(2))
        default: return text.first == first && like(text.dropFirst(), pattern.dropFirst())
        }
    }

    static let likes: [(String, String, Bool)] = [
        ("", "", true), ("", "*", true), ("", "?", false), ("abc", "a*", true), ("abc", "*c", true), ("abc", "*b*", true),
        ("abc", "a?c", true),
        ("abc", "?", false), ("a*c", "a\\*c", true), ("abc", "a\\*c", false), ("a?c", "a\\?c", true), ("a\\", "a\\", true),
        ("a\nb", "a*b", true),
        ("😀", "?", true), ("é", "?", true), ("e\u{301}", "?", false), ("aaab", "*aab", true), ("mississippi", "m*iss*pi", true),
    ]

    @Test("knows wildcards and how to escape them", arguments: likes)
    func wildcards(text: String, pattern: String, holds: Bool) {
        #expect(TextMatcher(kind: .like, pattern: pattern).matches(text) == holds)
    }

    @Test("needs no more than quadratic time for a hostile pattern")
    func hostile() {
        let matcher = TextMatcher(kind: .like, options: [.caseInsensitive], pattern: String(repeating: "a*", count: 100) + "b")
        #expect(!matcher.matches(String(repeating: "A", count: 2_000)))
    }

    @Test(
        "takes bytes that are no UTF-8 for replacement characters when it folds",
        arguments: [
            [0xC3], [0x61, 0xC3], [0xC3, 0x61], [0x80], [0xFF, 0xFE], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xC8, 0xC8], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]]
    )
    func malformed(bytes: [UInt8]) {
        for (ours, theirs) in Self.options where !theirs.isEmpty {
            let repaired = String(decoding: bytes, as: UTF8.self)
            let matcher = TextMatcher(kind: .equal, options: ours, pattern: repaired)
            #expect(bytes.withUnsafeBufferPointer { matcher.matches($0) })
        }
        _ = bytes.withUnsafeBufferPointer { TextMatcher(kind: .like, pattern: "*?").matches($0) }
    }

    @Test("finds a NUL and what lies behind it")
    func nul() {
        #expect(TextMatcher(kind: .contains, pattern: "\0b").matches("a\0b"))
        #expect(TextMatcher(kind: .endsWith, options: [.caseInsensitive], pattern: "B").matches("a\0b"))
    }

    @Test("lets options [n] stand above the others")
    func normalized() {
        #expect(!TextMatcher(kind: .equal, options: [.normalized, .caseInsensitive], pattern: "A").matches("a"))
    }

    static let expressions: [(String, String, NSComparisonPredicate.Options, Bool)] = [
        ("abc", "b", [], false), ("abc", ".b.", [], true), ("ab", "a|ab", [], true), ("ABC", "abc", [], false),
        ("ABC", "abc", .caseInsensitive, true),
        ("crème", "creme", .diacriticInsensitive, true), ("5", "\\D", .caseInsensitive, false), ("a\n", "a", [], false), ("", "", [], true),
        ("😀", ".", [], true), ("foobar", "foo(?=bar).*", [], true), ("^a$", "\\^a\\$", [], true),
    ]

    @Test("by a regular expression takes the whole text", arguments: expressions)
    func regularExpressions(text: String, pattern: String, options: NSComparisonPredicate.Options, holds: Bool) throws {
        #expect(try RegularExpressionMatcher(pattern: pattern, options: options).matches(text) == holds)
    }

    @Test("orders by bytes, folded where asked")
    func order() {
        func compare(_ a: String, _ b: String, _ folding: TextFolding = .literal) -> Int32 {
            var a = a, b = b
            return a.withUTF8 { a in b.withUTF8 { TextOrder.compare(a, $0, folding: folding) } }.signum()
        }
        #expect(compare("", "") == 0)
        #expect(compare("", "a") == -1)
        #expect(compare("Z", "a") == -1)
        #expect(compare("Z", "a", .caseInsensitive) == 1)
        #expect(compare("ab", "a") == 1)
        #expect(compare("é", "f", .caseAndDiacriticInsensitive) == -1)
        #expect(compare("É", "e\u{301}", .caseAndDiacriticInsensitive) == 0)
    }
}

/// Random numbers that come again with the same seed.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var result = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        result = (result ^ (result >> 27)) &* 0x94D0_49BB_1331_11EB
        return result ^ (result >> 31)
    }
}
