import Foundation
import Predicates
import Testing

/// An object with keys, one of them unknown.
struct Person: KeyValueSource {
    var values: [String: (any Sendable)?]

    struct NoSuchKey: Error, Equatable { let key: String }

    func predicateValue(forKey key: String) throws -> Any? {
        guard let value = values[key] else { throw NoSuchKey(key: key) }
        return value
    }
}

private func dictionary(_ price: Int?, _ name: String) -> [String: Any] {
    var result: [String: Any] = ["name": name]
    if let price { result["price"] = price }
    return result
}

/// What most formats here are asked about.
nonisolated(unsafe) let shop: [String: Any] = [
    "name": "Crème", "age": 7, "half": 0.5, "big": Int64.max, "flag": true, "decimal": Decimal(string: "0.1")!,
    "date": Date(timeIntervalSinceReferenceDate: 100), "id": UUID(uuidString: "00000000-0000-0000-0000-000000000001")!,
    "data": Data([1, 2]), "url": URL(string: "http://a.b/c")!, "null": NSNull(), "list": [3, 1, 2],
    "items": [dictionary(3, "a"), dictionary(5, "b"), dictionary(nil, "c")],
    "tags": NSSet(array: ["x", "y"]), "ordered": NSOrderedSet(array: ["p", "q"]), "empty": [Any](),
    "boss": ["name": "Ada", "dogs": [["name": "Rex", "toys": ["ball", "bone"]], ["name": "Bo", "toys": ["rope"]]]],
]

@Suite("Evaluating")
struct EvaluationTests {
    static let truths: [String] = [
        "age == 7", "7 == age", "age != 8", "age < 8", "age <= 7", "age > 6.5", "age >= 7.0", "age BETWEEN {7, 9}", "age IN {1, 7}",
        "flag == YES", "flag == 1", "NOT flag == NO", "half == 0.5", "half < age", "decimal == 0.1", "decimal < 1",
        "name == 'Crème'", "name != 'creme'", "name ==[d] 'Creme'", "name ==[cd] 'CREME'", "name ==[c] 'CRÈME'", "name < 'D'",
        "name BEGINSWITH 'Cr'", "name ENDSWITH[c] 'ME'", "name CONTAINS[cd] 'REM'", "name LIKE 'C*m?'", "name MATCHES 'C.è.{2}'",
        "name MATCHES[c] '[a-z]+è[a-z]+'", "name MATCHES[cd] 'CREME'", "name LIKE[cd] 'cREM?'", "'è' IN name", "name.length == 5",
        "age + 1 == 8", "age - 1 * 2 == 5", "(age - 1) * 2 == 12", "age / 2 == 3", "age / 2.0 == 3.5", "2 ** 3 == 8", "2 ** 3 ** 2 == 512",
        "-age == 0 - 7", "age & 4 == 4", "age & 8 == 0", "age | 8 == 15", "age ^ 1 == 6", "1 << 4 == 16", "16 >> 2 == 4", "~0 == -1",
        "modulus:by:(age, 4) == 3", "sum(list) == 6", "sum({1, 2}) == 3", "average(list) == 2", "median(list) == 2", "min(list) == 1",
        "max(list) == 3", "count(list) == 3", "mode({1, 2, 2, 3, 3}) == {2, 3}", "stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2",
        "sqrt(16) == 4", "abs(-3) == 3", "floor(1.5) == 1", "ceiling(1.5) == 2", "trunc(-1.5) == -1", "ln(exp(1)) == 1", "log(100) == 2",
        "uppercase(name) == 'CRÈME'", "lowercase(name) == 'crème'", "canonical(name) == 'creme'", "length(name) == 5", "now() > date",
        "now() - date > 100", "date - CAST(40, 'NSDate') == 60", "date + age == CAST(107, 'NSDate')", "1 + date == CAST(101, 'NSDate')",
        "date > date - 60", "date - 100 == CAST(0, 'NSDate')", "date + date == nil", "age - date == nil", "date + name == nil",
        "date - nothing == nil", "nothing + date == nil", "date * 2 == nil",
        "random() >= 0", "randomn(1) == 0", "CAST('12', 'NSNumber') == 12", "CAST(date, 'NSNumber') == 100", "date == CAST(100, 'NSDate')",
        "TERNARY(age > 5, 'old', 'new') == 'old'", "FUNCTION(name, 'length') == 5",
        "list[0] == 3", "list[FIRST] == 3", "list[LAST] == 2", "list[SIZE] == 3", "list[9] == nil", "items[1].name == 'b'",
        "items.@count == 3", "items.@sum.price == 8", "items.@avg.price == 4", "items.@min.price == 3", "items.@max.name == 'c'",
        "items.@distinctUnionOfObjects.name == {'a', 'b', 'c'}", "empty.@sum.price == 0", "empty.@avg.price == 0",
        "empty.@min.price == nil",
        "ANY items.price == 5", "NOT ANY items.price == 4", "NONE items.price > 5", "ALL items.name <= 'c'", "ANY items.price == nil",
        "NOT ALL items.price > 0", "ALL empty.x == 1", "NOT ANY empty.x == 1", "ANY tags == 'x'", "ANY tags IN {'q', 'y'}",
        "tags CONTAINS 'x'", "'y' IN tags", "NOT 'z' IN tags", "list CONTAINS 3", "ordered CONTAINS 'q'", "ANY ordered BEGINSWITH 'p'",
        "boss.name == 'Ada'", "ANY boss.dogs.name == 'Rex'", "ANY boss.dogs.toys == 'rope'", "boss.dogs.toys.@count == 3",
        "SUBQUERY(items, $x, $x.price > 3).@count == 1", "SUBQUERY(items, $x, $x.price > 1 AND $x.name == 'a')[0].price == 3",
        "SUBQUERY(boss.dogs, $d, SUBQUERY($d.toys, $t, $t BEGINSWITH 'b').@count == 2).@count == 1", "SELF.age == 7", "SELF.self.age == 7",
        "nothing == nil", "nothing.at.all == nil", "null == nil", "nothing != 'x'", "NOT nothing == 'x'", "NOT nothing > 1",
        "NOT nothing < 1",
        "NOT nothing CONTAINS 'x'", "NOT nothing IN {1}", "nothing IN {nil}", "nothing.@count == nil", "nothing + 1 == nil",
        "list UNION {4} == {3, 1, 2, 4}", "list INTERSECT {1, 9} == {1}", "list MINUS {1} == {3, 2}", "1 / 0 == nil",
        "url == url", "data == data", "id == id", "id != data", "list == {3, 1, 2}", "list != {1, 2, 3}", "{} == empty",
    ]

    @Test("gives true", arguments: truths)
    func holds(format: String) throws {
        #expect(try NSPredicate(parsing: format).evaluate(with: shop))
        #expect(try NSPredicate(parsing: format).tree.evaluate(shop) == true)
        #expect(try NSPredicate(parsing: "NOT (\(format))").tree.evaluate(shop) == false)
    }

    @Test(
        "never traps on a pair that has no order, and finds it unequal",
        arguments: [
            "name < 1", "1 > name", "date > 3", "list < 1", "data < id", "tags > tags", "name BETWEEN {1, 2}", "age CONTAINS '7'",
            "age BEGINSWITH '7'", "age LIKE '*'", "age MATCHES '.'", "name IN 3", "age IN 'abc7'", "items > 3", "boss < 1", "id == 'x'",
        ]
    )
    func incomparable(format: String) throws {
        #expect(try NSPredicate(parsing: format).tree.evaluate(shop) == false)
        // An equality that cannot be is false in SQL; everything else has no answer.
        #expect(try NSPredicate(parsing: format).tree.evaluate(shop, semantics: .sql) == (format.contains("==") ? false : nil))
    }

    @Test("compares numbers of different types by their exact value")
    func numbers() throws {
        let big: [(any Sendable, any Sendable)] = [
            (Int64.max, Double(Int64.max)), (9_007_199_254_740_992.0, 9_007_199_254_740_993 as Int64), (0, 0.1),
            (UInt64.max - 1, UInt64.max),
            (Int64.max, UInt64(Int64.max) + 1), (Double(Int64.min), Int64.min + 1), (UInt64.max, Double(UInt64.max)), (-1, UInt8(0)),
            (Int8.min, Float(-127.5)), (-Double.infinity, Int.min), (Int.max, Double.infinity), (Decimal(string: "0.1")!, 0.2),
            (Decimal(string: "9007199254740992.5")!, 9_007_199_254_740_993 as Int64), (NSNumber(value: 1.5), NSNumber(value: 2)),
            (9_007_199_254_740_992.0, Decimal(9_007_199_254_740_993 as Int64)), (false, true), (NSDecimalNumber(string: "1.5"), Decimal(2)),
            (CGFloat(1), 1.5 as Float),
        ]
        for (less, more) in big {
            let pair = ["a": less, "b": more]
            #expect(
                NSPredicate(format: "a < b AND b > a AND a != b AND NOT a >= b AND NOT a == b").evaluate(with: pair),
                "\(less) < \(more)"
            )
        }
        let equal: [(any Sendable, any Sendable)] = [
            (1, true), (1, NSNumber(value: true)), (0.5, Float(0.5)), (UInt64(5), Int8(5)), (Decimal(5), 5),
            (NSDecimalNumber(string: "0.1"), 0.1),
            (-0.0, 0), (Double(1 << 62), Int64(1 << 62)), (NSNumber(value: UInt64.max), UInt64.max),
        ]
        for (a, b) in equal {
            #expect(NSPredicate(format: "a == b AND b == a AND a <= b AND NOT a < b").evaluate(with: ["a": a, "b": b]), "\(a) == \(b)")
        }
        #expect(!NSPredicate(format: "a == a OR a < 1 OR a > 1").evaluate(with: ["a": Double.nan]))
        let never = Date(timeIntervalSinceReferenceDate: .nan)
        #expect(!NSPredicate(format: "a == %@ OR a <= %@ OR a >= %@", argumentArray: [never, never, never]).evaluate(with: ["a": Date()]))
    }

    @Test("compares texts by their scalars, not by what they look like")
    func canonical() {
        let texts = ["composed": "\u{e9}", "decomposed": "e\u{301}"]
        #expect(NSPredicate(format: "composed != decomposed AND composed ==[d] decomposed").evaluate(with: texts))
        #expect(NSPredicate(format: "a < b").evaluate(with: ["a": "\u{FFFD}", "b": "\u{1F600}"]), "by UTF-8, not by UTF-16")
        #expect(NSPredicate(format: "a == %@", NSString(string: "x")).evaluate(with: ["a": "x"]))
    }

    @Test("compares objects as they compare themselves")
    func objects() {
        final class Thing: NSObject {
            let number: Int
            init(_ number: Int) { self.number = number }
            override func isEqual(_ object: Any?) -> Bool { (object as? Thing)?.number == number }
            override var hash: Int { number }
        }
        final class Plain {}
        let plain = Plain()
        #expect(NSPredicate(format: "a == %@", Thing(1)).evaluate(with: ["a": Thing(1)]))
        #expect(!NSPredicate(format: "a == %@", Thing(1)).evaluate(with: ["a": Thing(2)]))
        #expect(NSPredicate(format: "SELF IN %@", [Thing(1), Thing(2)]).evaluate(with: Thing(2)))
        #expect(NSPredicate(format: "a == %@", plain).evaluate(with: ["a": plain]))
        #expect(!NSPredicate(format: "a == %@", plain).evaluate(with: ["a": Plain()]))
    }

    @Test("takes variables from the caller, also through key paths")
    func variables() throws {
        let predicate = NSPredicate(format: "age == $n AND $p.name == 'x'")
        #expect(predicate.evaluate(with: shop, substitutionVariables: ["n": 7, "p": ["name": "x"]]))
        let context: NSMutableDictionary = ["n": 3]
        #expect(NSExpression(format: "$n + age").expressionValue(with: shop, context: context) as? Int == 10)
        let error = #expect(throws: PredicateEvaluationError.self) { try predicate.tree.evaluate(shop) }
        #expect(error == .undefinedVariable("n"))
    }

    @Test("throws what cannot be answered")
    func errors() throws {
        let person = Person(values: ["name": "x"])
        #expect(throws: Person.NoSuchKey(key: "age")) { try NSPredicate(format: "age == 1").tree.evaluate(person) }
        #expect(throws: Person.NoSuchKey(key: "age")) { try NSPredicate(format: "ANY SELF.age == 1").tree.evaluate([person]) }
        #expect(throws: PredicateEvaluationError.undefinedKey("b", type: "Int")) {
            try NSPredicate(format: "age.b == 1").tree.evaluate(shop)
        }
        #expect(throws: PredicateEvaluationError.unknownFunction("frob:")) {
            try NSExpression(forFunction: "frob:", arguments: [1]).value(for: nil)
        }
        for format in ["name MATCHES '('", "name MATCHES 'a)(b'", "name MATCHES '['"] {
            #expect(throws: PredicateEvaluationError.self) { try NSPredicate(format: format).tree.evaluate(shop) }
        }
        #expect(throws: PredicateEvaluationError.self) { try NSPredicate(format: "age BETWEEN list").tree.evaluate(shop) }
        #expect(throws: PredicateEvaluationError.self) { try NSPredicate(format: "items.@frob.price == 1").tree.evaluate(shop) }
    }

    @Test("asks no more than it has to")
    func shortCircuit() throws {
        let person = Person(values: ["name": "x"])
        #expect(try NSPredicate(format: "name == 'y' AND age == 1").tree.evaluate(person) == false)
        #expect(try NSPredicate(format: "name == 'x' OR age == 1").tree.evaluate(person) == true)
    }

    @Test("stops the program when the answer cannot be thrown")
    func traps() async {
        await #expect(processExitsWith: .failure) { _ = NSPredicate(format: "name MATCHES '('").evaluate(with: ["name": "x"]) }
        await #expect(processExitsWith: .failure) { _ = NSExpression(format: "$x").expressionValue(with: nil, context: nil) }
        await #expect(processExitsWith: .failure) { _ = NSExpression(format: "$x").keyPath }
    }

    @Test("walks Foundation's compounds and blocks too")
    func compounds() throws {
        let parts = [NSPredicate(format: "age == 7"), NSPredicate { object, _ in (object as? [String: Any])?["flag"] as? Bool == true }]
        #expect(NSCompoundPredicate(andPredicateWithSubpredicates: parts).evaluate(with: shop))
        #expect(try NSCompoundPredicate(notPredicateWithSubpredicate: parts[1]).tree.evaluate(shop) == false)
    }

    @Test("computes blocks with the values of their arguments")
    func blocks() {
        let block = NSExpression(
            block: { _, values, context in (values[0] as? Int ?? 0) + (context?["n"] as? Int ?? 0) },
            arguments: [NSExpression(forKeyPath: "age")]
        )
        #expect(block.expressionValue(with: shop, context: ["n": 1]) as? Int == 8)
    }

    @Test("finds an element in a long constant list without walking it for each object")
    func longList() {
        let predicate = NSPredicate(format: "SELF IN %@", Array(0..<50_000))
        let found = (0..<50_000).count { predicate.evaluate(with: Double($0 * 2)) }
        #expect(found == 25_000)
    }

    @Test(
        "looks a constant list up by the same equality as it compares with",
        arguments: [
            (1.0, true), (true, true), (Decimal(string: "0.1")!, true), (0.1, true), (UInt8(1), true),
            (9_007_199_254_740_993 as Int64, false),
            (9_007_199_254_740_992 as Int64, true), ("\u{e9}", true), ("e\u{301}", false), (NSNumber(value: 1), true), (2, false),
        ] as [(any Sendable, Bool)]
    )
    func lookup(value: any Sendable, isFound: Bool) {
        let list: [Any] = [1, 0.1, 9_007_199_254_740_992.0, "\u{e9}"]
        #expect(NSPredicate(format: "SELF IN %@", list).evaluate(with: value) == isFound)
        #expect(
            NSPredicate(format: "SELF == %@ OR SELF == %@ OR SELF == %@ OR SELF == %@", argumentArray: list).evaluate(with: value)
                == isFound
        )
    }

    @Test("evaluates many objects on many threads with one predicate")
    func threads() {
        nonisolated(unsafe) let predicate = NSPredicate(format: "name LIKE[cd] $p")
        DispatchQueue.concurrentPerform(iterations: 200) { index in
            #expect(predicate.evaluate(with: ["name": "Crème \(index)"], substitutionVariables: ["p": "creme \(index)"]))
        }
    }

    @Test("looks for IN among the values of a dictionary")
    func dictionaries() {
        for dictionary in [["a": 3, "b": 5] as [String: Int], NSDictionary(dictionary: ["a": 3, "b": 5])] as [Any] {
            #expect(NSPredicate(format: "SELF IN %@", argumentArray: [dictionary]).evaluate(with: 3))
            #expect(!NSPredicate(format: "SELF IN %@", argumentArray: [dictionary]).evaluate(with: "a"))
        }
        #expect(NSPredicate(format: "self == %@", argumentArray: [["a": 1]]).evaluate(with: ["a": 1]))
    }
}
