import Foundation
import Predicates
import Testing

@Suite("A predicate that is nested deep")
struct NestingTests {
    private static let depth = 3_000

    /// `a == 0 OR a == 1 OR …`, put together pair by pair.
    private static func fold(_ count: Int) -> NSPredicate {
        var whole = NSPredicate(format: "a == 0")
        for number in 1..<count {
            whole = NSCompoundPredicate(orPredicateWithSubpredicates: [whole, NSPredicate(format: "a == %d", number)])
        }
        return whole
    }

    /// `a == 1 AND (b == 2 OR (a == 1 AND …))`
    private static func alternation(_ depth: Int, innermost: NSPredicate) -> NSPredicate {
        let (a, b) = (NSPredicate(format: "a == 1"), NSPredicate(format: "b == 2"))
        return (0..<depth).reversed().reduce(innermost) { inner, level in
            level.isMultiple(of: 2)
                ? NSCompoundPredicate(andPredicateWithSubpredicates: [a, inner])
                : NSCompoundPredicate(orPredicateWithSubpredicates: [b, inner])
        }
    }

    /// `a + 1 + 1 + …`
    private static func sum(_ count: Int) -> NSExpression {
        (0..<count).reduce(NSExpression(forKeyPath: "a")) { sum, _ in NSExpression(forFunction: "add:to:", arguments: [sum, 1]) }
    }

    @Test("as a chain of one kind is one list of parts")
    func flat() throws {
        guard case .or(let parts) = Self.fold(1_000).tree else { throw PredicateEvaluationError.unsupported("no OR") }
        #expect(parts.count == 1_000)
        let texts = parts.map { if case .comparison(let comparison) = $0 { comparison.printedFormat } else { "?" } }
        #expect(texts == (0..<1_000).map { "a == \($0)" })
        let single = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "NOT (NOT a == 1)")])
        guard case .comparison = single.tree else { throw PredicateEvaluationError.unsupported("no comparison") }
        guard case .and(let none) = NSCompoundPredicate(andPredicateWithSubpredicates: []).tree, none.isEmpty else {
            throw PredicateEvaluationError.unsupported("no AND")
        }
    }

    @Test("is evaluated", arguments: [PredicateSemantics.foundation, .sql])
    func evaluation(semantics: PredicateSemantics) throws {
        let fold = Self.fold(Self.depth).tree
        #expect(try fold.evaluate(["a": Self.depth - 1], semantics: semantics) == true)
        #expect(try fold.evaluate(["a": -1], semantics: semantics) == false)
        for answer in [true, false] {
            let tree = Self.alternation(Self.depth, innermost: NSPredicate(value: answer)).tree
            #expect(try tree.evaluate(["a": 1, "b": 1], semantics: semantics) == answer)
            #expect(try tree.evaluate(["a": 1, "b": 2], semantics: semantics) == true)
            #expect(try tree.evaluate(["a": 0, "b": 1], semantics: semantics) == false)
        }
        // * Every second level is a negation that does not cancel out.
        let (a, depth) = (NSPredicate(format: "a == 1"), Self.depth)
        let negations = (0..<depth).reduce(a) { inner, _ in
            NSCompoundPredicate(notPredicateWithSubpredicate: NSCompoundPredicate(andPredicateWithSubpredicates: [a, inner]))
        }
        #expect(try negations.tree.evaluate(["a": 1], semantics: semantics) == true)
        #expect(try negations.tree.evaluate(["a": 2], semantics: semantics) == true)
        #expect(try negations.tree.evaluate([:], semantics: semantics) == (semantics == .sql ? nil : true))
    }

    @Test("is evaluated where functions, lists and conditions are")
    func expressions() throws {
        #expect(try Self.sum(Self.depth).value(for: ["a": 1]) as? Int == Self.depth + 1)
        let lists = (0..<Self.depth).reduce(NSExpression(forConstantValue: 1)) { inner, _ in
            NSExpression(forFunction: "sum:", arguments: [NSExpression(forAggregate: [inner, NSExpression(forKeyPath: "a")])])
        }
        #expect(try lists.value(for: ["a": 1]) as? Int == Self.depth + 1)
        let conditions = (0..<Self.depth).reduce(NSExpression(forConstantValue: "end")) { inner, level in
            NSExpression(
                forConditional: NSPredicate(format: "a == %d", level),
                trueExpression: NSExpression(forConstantValue: level),
                falseExpression: inner
            )
        }
        #expect(try conditions.value(for: ["a": 7]) as? Int == 7)
        #expect(try conditions.value(for: ["a": -1]) as? String == "end")
        let path = NSExpression(forKeyPath: Array(repeating: "self", count: 100_000).joined(separator: ".") + ".a")
        #expect(try path.value(for: ["a": 5]) as? Int == 5)
    }

    @Test("is printed, compared, hashed, and filled with values")
    func walks() throws {
        let make = { Self.alternation(Self.depth, innermost: NSPredicate(format: "$x == 1")) }
        let text = make().printedFormat
        #expect(text.hasPrefix("a == 1 AND (b == 2 OR (a == 1 AND (") && text.count { $0 == "(" } == Self.depth - 1)
        #expect(text.contains("$x == 1)))"))
        let filled = make().withSubstitutionVariables(["x": 1])
        #expect(try filled.tree.evaluate(["a": 1, "b": 1]) == true)
        #expect(filled.printedFormat == text.replacingOccurrences(of: "$x", with: "1"))
        #expect(filled.isEqual(make().withSubstitutionVariables(["x": 1])) && !filled.isEqual(make().withSubstitutionVariables(["x": 2])))
        #expect(filled.hash == make().withSubstitutionVariables(["x": 1]).hash)
        #expect(Self.sum(Self.depth) == Self.sum(Self.depth) && Self.sum(Self.depth) != Self.sum(Self.depth - 1))
        #expect(Self.sum(Self.depth).description == "a" + String(repeating: " + 1", count: Self.depth))
    }
}
