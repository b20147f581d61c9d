import Foundation
import Predicates
import Testing

@Suite("The arguments of a format")
struct ArgumentTests {
    @Test("are taken in order, key paths and values")
    func order() {
        let predicate = NSPredicate(format: "%K BEGINSWITH[c] %@ AND %K.@count > %d", "boss.name", "A", "boss.dogs", 2)
        #expect(predicate.printedFormat == "boss.name BEGINSWITH[c] \"A\" AND boss.dogs.@count > 2")
        #expect(NSPredicate(format: "a.%K == %K", "b", "c").printedFormat == "a.b == c")
    }

    @Test("may be numbers of every printf conversion")
    func numbers() {
        let format = "{%d, %i, %u, %ld, %lu, %lld, %llu, %zd, %hd, %qd, %x, %X, %o, %f, %g, %e, %lf, %a, %c, %s, %@} == a"
        let predicate = NSPredicate(
            format: format,
            1,
            Int16(2),
            UInt8(3),
            4,
            UInt(5),
            Int64(6),
            UInt64.max,
            8,
            Int8(9),
            10,
            11,
            12,
            13,
            1.5,
            Float(2.5),
            Decimal(string: "3.25"),
            4,
            5.5,
            "x",
            "text",
            NSNumber(value: true)
        )
        #expect(
            predicate.printedFormat
                == "{1, 2, 3, 4, 5, 6, 18446744073709551615, 8, 9, 10, 11, 12, 13, 1.5, 2.5, 3.25, 4, 5.5, \"x\", \"text\", 1} == a"
        )
    }

    @Test("may be nil, in whatever optionals it is wrapped")
    func nils() {
        let none: String? = nil
        let wrapped: Any = none as Any
        for nothing in [none as Any?, .some(wrapped), NSNull()] {
            #expect(NSPredicate(format: "a == %@", nothing).evaluate(with: ["b": 1]))
            #expect(!NSPredicate(format: "a == %@", nothing).evaluate(with: ["a": 1]))
        }
        let some: String?? = "x"
        #expect(NSPredicate(format: "a == %@", some as Any?).printedFormat == "a == \"x\"")
    }

    @Test("may come in an array, where NSNull is nil")
    func array() {
        #expect(NSPredicate(format: "a == %@ AND b IN %@", argumentArray: [NSNull(), [1, 2]]).printedFormat == "a == nil AND b IN {1, 2}")
        #expect(NSPredicate(format: "a == 1", argumentArray: nil).printedFormat == "a == 1")
    }

    @Test("may be predicates and expressions")
    func nested() {
        let inner = NSPredicate(format: "$x.price > 3")
        let predicate = NSPredicate(format: "SUBQUERY(items, $x, %@).@count == %@", inner, NSExpression(format: "a + 1"))
        #expect(predicate.printedFormat == "SUBQUERY(items, $x, $x.price > 3).@count == a + 1")
    }

    @Test("that are collections and dates print as the language writes them")
    func constants() {
        let date = Date(timeIntervalSinceReferenceDate: 12.5)
        #expect(NSPredicate(format: "a IN %@", Set([2, 1])).printedFormat == "a IN {1, 2}")
        #expect(NSPredicate(format: "a > %@", date as NSDate).printedFormat == "a > CAST(12.500000, \"NSDate\")")
        #expect(NSPredicate(format: "a > CAST(12.5, 'NSDate')") == NSPredicate(format: "a > %@", date))
    }
}

@Suite("A predicate made by a factory initialiser")
struct FactoryTests {
    @Test("is of the class that its format says")
    func classes() throws {
        #expect(NSPredicate(format: "a == 1") is NSComparisonPredicate)
        #expect((NSPredicate(format: "a == 1 OR b == 2") as? NSCompoundPredicate)?.compoundPredicateType == .or)
        #expect(NSComparisonPredicate(format: "a == 1").predicateOperatorType == .equalTo)
        #expect(NSCompoundPredicate(format: "a == 1 AND b == 2").subpredicates.count == 2)
        #expect(NSPredicate(format: "TRUEPREDICATE") == NSPredicate(value: true))
    }

    @Test("shows its parts")
    func parts() throws {
        let comparison = try #require(NSPredicate(format: "ANY a.b BETWEEN[cd] {1, $x}") as? NSComparisonPredicate)
        #expect(comparison.comparisonPredicateModifier == .any)
        #expect(comparison.predicateOperatorType == .between)
        #expect(comparison.options == [.caseInsensitive, .diacriticInsensitive])
        #expect(comparison.leftExpression.expressionType == .keyPath)
        #expect(comparison.leftExpression.keyPath == "a.b")
        #expect(comparison.rightExpression.expressionType == .aggregate)
        #expect((comparison.rightExpression.collection as? [NSExpression])?.map(\.expressionType) == [.constantValue, .variable])
    }

    @Test("survives a copy and a round through its description")
    func copies() {
        for format in ["a == 1", "a == 1 AND NOT b == 2", "TRUEPREDICATE"] {
            let predicate = NSPredicate(format: format)
            #expect((predicate.copy() as? NSPredicate)?.printedFormat == format)
            #expect("\(predicate.copy())" == "\(predicate)")
        }
        #expect("\(NSPredicate(format: "a == 1 AND NOT b == 2"))" == "a == 1 AND NOT b == 2")
    }

    @Test("equals another that says the same, and only that")
    func equality() {
        let formats = [
            "a == 1", "a == 2", "b == 1", "a != 1", "ANY a == 1", "a ==[c] 1", "a == 1 AND b == 2", "a == 1 OR b == 2", "NOT a == 1",
            "SUBQUERY(a, $x, $x == 1).@count == 1", "SUBQUERY(a, $x, $x == 2).@count == 1", "a == nil", "a == 'nil'", "TRUEPREDICATE",
            "FALSEPREDICATE", "a[0] == 1", "a[FIRST] == 1", "a UNION b == {1}", "a MINUS b == {1}", "TERNARY(a == 1, 1, 2) == 1",
        ]
        for (i, left) in formats.enumerated() {
            for (j, right) in formats.enumerated() {
                #expect((NSPredicate(format: left).isEqual(NSPredicate(format: right))) == (i == j), "\(left), \(right)")
            }
        }
        #expect(NSPredicate(format: "a == 1").hash == NSPredicate(format: "a == 1.0").hash)
        #expect(NSPredicate(format: "a == 1") == NSPredicate(format: "a == 1.0"))
    }

    @Test("is printed as it is, where our class makes it")
    func compounds() {
        let parts = [NSPredicate(format: "a == 1"), NSPredicate(format: "b == 2 AND c == 3")]
        let (either, none) = (CompoundPredicate(orPredicateWithSubpredicates: parts), CompoundPredicate(type: .and, subpredicates: []))
        #expect("\(either)" == "a == 1 OR (b == 2 AND c == 3)" && "\(none)" == "TRUEPREDICATE")
        #expect(String(reflecting: CompoundPredicate(notPredicateWithSubpredicate: either)) == "NOT (\(either))")
        #expect(CompoundPredicate(format: "a == 1 AND b == 2") == NSCompoundPredicate(format: "a == 1 AND b == 2"))
    }

    @Test("is printed also where Foundation or a block made it")
    func foreign() {
        let compound = NSCompoundPredicate(orPredicateWithSubpredicates: [
            NSPredicate(format: "a == 1"), NSPredicate(value: false), NSPredicate { _, _ in true },
            NSCompoundPredicate(andPredicateWithSubpredicates: []),
        ])
        #expect(compound.printedFormat == "a == 1 OR FALSEPREDICATE OR BLOCKPREDICATE OR TRUEPREDICATE")
        guard case .or(let parts) = compound.tree, case .comparison = parts[0], case .constant(false) = parts[1],
            case .opaque = parts[2], case .and(let none) = parts[3]
        else {
            Issue.record("\(compound.tree)")
            return
        }
        #expect(none.isEmpty)
    }

    final class Never: NSPredicate {
        override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool { false }
    }

    @Test("of a client's own class is only asked")
    func opaque() throws {
        guard case .opaque = Never(value: true).tree else {
            Issue.record("a subclass was taken for a constant")
            return
        }
        #expect(try Never(value: true).tree.evaluate(nil) == false)
    }

    @Test("stops the program when it cannot be of the class that was asked for")
    func wrongClass() async {
        await #expect(processExitsWith: .failure) { _ = Never(format: "a == 1") }
        await #expect(processExitsWith: .failure) { _ = NSComparisonPredicate(format: "a == 1 AND b == 2") }
        await #expect(processExitsWith: .failure) { _ = NSPredicate(format: "a ==") }
    }

    @Test("has its variables replaced, but not those that a subquery binds")
    func substitution() {
        let predicate = NSPredicate(format: "a == $v AND SUBQUERY(b, $x, $x.c == $v AND $x == $w).@count > $x OR $u.d == 1")
        let result = predicate.withSubstitutionVariables(["v": 1, "x": 2, "u": NSExpression(forKeyPath: "e")])
        #expect(result.printedFormat == "(a == 1 AND SUBQUERY(b, $x, $x.c == 1 AND $x == $w).@count > 2) OR e.d == 1")
        #expect(NSPredicate(format: "a == $v").withSubstitutionVariables(["v": NSNull()]).evaluate(with: [String: Any]()))
        let block = NSPredicate { _, bindings in bindings?["v"] as? Int == 1 }
        #expect(block.withSubstitutionVariables(["v": 1]).evaluate(with: nil))
    }

    @Test("can have what paths lead to that begin at a variable, where that can be read")
    func values() {
        let predicate = NSPredicate(
            format: "a == $v.b.c AND d == $v.none.e AND SUBQUERY(f, $v, $v.g == 1).@count == 0 AND $w.h == 2 AND i.j == 3"
        )
        #expect(
            predicate.withValues(of: ["v": ["b": ["c": 7]]]).printedFormat
                == "a == 7 AND d == nil AND SUBQUERY(f, $v, $v.g == 1).@count == 0 AND $w.h == 2 AND i.j == 3"
        )
        let unreadable = NSPredicate(format: "a == $v.b").withValues(of: ["v": NSObject()])
        #expect(throws: PredicateEvaluationError.self) { try unreadable.tree.evaluate(["a": 1]) }
    }
}
