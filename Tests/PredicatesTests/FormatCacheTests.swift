import Foundation
import Testing

@testable import Predicates

@Suite("A format that was read before")
struct FormatCacheTests {
    /// Formats with the arguments that they are given in turn.
    static var formats: [(String, [[Any?]])] {
        [
            ("name == %@", [["a"], ["b"], [nil], [7], [Date(timeIntervalSinceReferenceDate: 5)]]),
            ("%K ==[cd] %@ OR NOT (%d < age)", [["name", "a", 3], ["first.name", "b", 4], ["SELF", "c", 5]]),
            ("ANY dogs.%K == %@", [["name", "a"], ["age", 4]]),
            ("age BETWEEN %@", [[[1, 2]], [[3, 4]]]),
            ("name IN %@ AND (age > 3 OR age == %ld) AND TRUEPREDICATE", [[["a"], 1], [["b", "c"], 2]]),
            ("{%d, %d} == a", [[1, 2], [3, 4]]),
            ("a == -%d AND b + %d == 3", [[1, 2], [3, 4]]),
            ("SUBQUERY(dogs, $d, $d.name == %@).@count > %d", [["a", 1], ["b", 2]]),
            ("a == 1 AND b == 'x'", [[], []]),
            ("%@ AND a == %@", [[NSPredicate(format: "b == 1"), 2], [NSPredicate(value: false), 3]]),
            ("a == %@", [[1], [NSExpression(forKeyPath: "b")], ["x"]]),
        ]
    }

    @Test("means what its arguments say now, not what others have said", arguments: formats.indices)
    func others(_ index: Int) throws {
        let (format, arguments) = Self.formats[index]
        for round in 0..<2 {
            for (number, values) in arguments.enumerated() {
                // Spaces make it another format, which nobody has read.
                let spaces = String(repeating: " ", count: 1 + number + round * arguments.count)
                let (found, fresh) = (
                    try NSPredicate(parsing: format, arguments: values), try NSPredicate(parsing: format + spaces, arguments: values)
                )
                #expect(found.printedFormat == fresh.printedFormat && found == fresh)
            }
        }
    }

    private final class Owner {}

    @Test("lets go of what it was filled with")
    func arguments() throws {
        weak var kept: Owner?
        for format in ["owner == %@ AND a == 1", "%@ == owner", "NOT (owner IN %@)", "n BETWEEN {%@, 3}"] {
            do {
                let owner = Owner()
                kept = owner
                _ = try? NSPredicate(parsing: format, arguments: [owner])
            }
            #expect(kept == nil, "\(format)")
        }
    }

    @Test("refuses what it would have refused, with the same words")
    func refusals() throws {
        _ = try NSPredicate(parsing: "n == %d AND m == %@", arguments: [1, 2])
        for arguments: [Any?] in [["x", 2], [1], [1, 2, 3], []] {
            let (known, fresh) = (error("n == %d AND m == %@", arguments), error("n == %d AND m == %@ ", arguments))
            #expect(known != nil && known == fresh)
        }
        _ = try NSPredicate(parsing: "n BETWEEN %@", arguments: [[1, 2]])
        #expect(error("n BETWEEN %@", [[1]]) != nil)
    }

    private func error(_ format: String, _ arguments: [Any?]) -> String? {
        do {
            _ = try NSPredicate(parsing: format, arguments: arguments)
            return nil
        } catch {
            return (error as? PredicateFormatError)?.reason
        }
    }

    @Test("is told from one that is equal as a text but has other bytes")
    func canonicalEquivalence() throws {
        for format in ["a == '\u{e9}' AND b == %@", "a == 'e\u{301}' AND b == %@"] {
            let predicate = try NSPredicate(parsing: format, arguments: ["x"])
            #expect(predicate.printedFormat.unicodeScalars.count == format.unicodeScalars.count + 1)
        }
    }

    @Test("is not kept where there are thousands of others")
    func manyFormats() throws {
        for number in 0..<2_000 { _ = try NSPredicate(parsing: "k\(number) == %d", arguments: [number]) }
        #expect(try NSPredicate(parsing: "k3 == %d", arguments: [4]).printedFormat == "k3 == 4")
    }
}
