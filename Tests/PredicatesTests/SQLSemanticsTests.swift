import Foundation
import Predicates
import Testing

@Suite("In SQL's logic")
struct SQLSemanticsTests {
    static let object: [String: any Sendable] = ["one": 1, "text": "x", "list": [1, 2], "holes": [1, nil] as [Int?], "empty": [Int]()]

    static func answer(_ format: String, variables: [String: Any] = [:]) throws -> Bool? {
        try NSPredicate(parsing: format).tree.evaluate(object, semantics: .sql, variables: variables)
    }

    @Test(
        "has no answer where nil is compared",
        arguments: [
            "nothing == 1", "nothing != 1", "1 != nothing", "nothing < 1", "nothing >= 1", "nothing == nothing", "nothing != nothing",
            "nothing == other", "NOT nothing == 1", "nothing CONTAINS 'x'", "nothing BEGINSWITH 'x'", "text LIKE nothing",
            "text MATCHES nothing",
            "nothing ==[cd] 'x'", "nothing BETWEEN {0, 2}", "one BETWEEN {nothing, 2}", "one BETWEEN {0, nil}", "nothing IN {1, 2}",
            "nothing IN list",
            "one IN {2, nil}", "one IN nothing", "NOT one IN {2, nil}", "nothing IN {nil}", "nothing + 1 == 2", "1 / 0 == 1",
            "list CONTAINS nothing",
            "one == 1 AND nothing == 1", "one == 2 OR nothing == 1", "nothing == 1 AND nothing == 2", "empty.@avg.self == 0",
            "empty.@min.self == 0",
            "nothing.name.length == 1", "one < nil", "nil < 1",
        ]
    )
    func unknown(format: String) throws {
        #expect(try Self.answer(format) == nil)
        #expect(try Self.answer("NOT (\(format))") == nil)
    }

    @Test(
        "gives true",
        arguments: [
            "nothing == nil", "nil == nothing", "one != nil", "nil == nil", "NOT one == nil", "NOT nothing != nil", "nothing ==[c] nil",
            "one == 1 OR nothing == 1", "nothing == 1 OR one == 1", "one IN {1, nil}", "NOT one IN {}", "NOT nothing IN {}",
            "NOT nothing IN empty",
            "ANY holes == 1", "ANY holes == nil", "NOT ANY holes == 2", "NOT ALL holes == 1", "ALL list >= 1", "ALL empty == 1",
            "NOT ANY empty == 1",
            "NOT ANY nothing == 1", "nothing.@count == 0", "nothing.@sum.x == 0", "empty.@sum.self == 0", "empty.@avg.self == nil",
            "TERNARY(nothing == 1, 1, 2) == 2", "SUBQUERY(holes, $x, $x != 2).@count == 1", "nothing + 1 == nil", "text != 'y'",
            "text != 1",
            "1 / 0 == nil", "list CONTAINS 1", "NOT list CONTAINS 3",
        ]
    )
    func holds(format: String) throws {
        #expect(try Self.answer(format) == true)
        #expect(try Self.answer("NOT (\(format))") == false)
    }

    @Test(
        "is false as soon as a part of an AND is",
        arguments: ["one == 2 AND nothing == 1", "nothing == 1 AND one == 2", "one BETWEEN {2, nil}"]
    )
    func falseWins(format: String) throws {
        #expect(try Self.answer(format) == false)
    }

    @Test("takes a variable bound to nil for a literal nil")
    func variables() throws {
        #expect(try Self.answer("nothing == $x", variables: ["x": NSNull()]) == true)
        #expect(try Self.answer("one != $x", variables: ["x": NSNull()]) == true)
        #expect(try Self.answer("nothing == $x", variables: ["x": 1]) == nil)
    }

    @Test("treats a list given as an argument as one written out")
    func lists() throws {
        func answer(_ key: String, _ list: [Any]) throws -> Bool? {
            try NSPredicate(parsing: "%K IN %@", arguments: [key, list]).tree.evaluate(Self.object, semantics: .sql)
        }
        #expect(try answer("one", [1, NSNull()]) == true)
        #expect(try answer("one", [2, NSNull()]) == nil)
        #expect(try answer("one", [2]) == false)
        #expect(try answer("nothing", [1]) == nil)
        #expect(try answer("nothing", []) == false)
    }

    @Test("agrees with Foundation's wherever nil does not occur")
    func agreement() throws {
        for format in EvaluationTests.truths where !format.contains("nothing") && !format.contains("nil") && !format.contains("empty") {
            let tree = try NSPredicate(parsing: format).tree
            // The price of an item and the name of an element are nil for some; only such comparisons may differ.
            if format.contains("price") { continue }
            #expect(try tree.evaluate(shop, semantics: .sql) == tree.evaluate(shop), "\(format)")
        }
    }
}
