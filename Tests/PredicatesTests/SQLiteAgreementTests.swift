import Foundation
import Predicates
import SQLiteDriver
import Testing

@Suite("SQL's logic in memory")
struct SQLiteAgreementTests {
    @Test("gives the answers that SQLite gives", arguments: 0..<20)
    func agreement(seed: Int) throws {
        var maker = ConditionMaker(generator: Seeded(state: UInt64(seed)))
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        for _ in 0..<100 {
            let row = maker.row()
            let condition = maker.condition(depth: 3)
            let columns = row.map { "\(sql($0.value)) AS \($0.key)" }.joined(separator: ", ")
            let theirs = try connection.rows("SELECT \(condition.sql) FROM (SELECT \(columns))")[0][0]
            let predicate = try NSPredicate(parsing: condition.format)
            let ours = try predicate.tree.evaluate(row, semantics: .sql)
            #expect(theirs == ours.map { .integer($0 ? 1 : 0) } ?? .null, "\(predicate.printedFormat) on \(row), seed \(seed)")
        }
    }
}

private func sql(_ value: Any?) -> String {
    switch value {
    case nil: "NULL"
    case let text as String: "'\(text)'"
    case let number: "\(number!)"
    }
}

/// Random conditions, each as a format and as SQL.
private struct ConditionMaker {
    var generator: Seeded

    typealias Condition = (format: String, sql: String)

    mutating func row() -> [String: Any?] {
        let numbers: [Any?] = [nil, 0, 1, 2, 2.5, -1, 9_007_199_254_740_993, 9_007_199_254_740_992.0, Int.max]
        let texts: [Any?] = [nil, "", "a", "A", "ab", "é", "e\u{301}", "\u{FFFD}", "😀"]
        return ["n": pick(numbers), "m": pick(numbers), "s": pick(texts), "t": pick(texts)]
    }

    mutating func condition(depth: Int) -> Condition {
        switch depth == 0 ? 3 : Int.random(in: 0...5, using: &generator) {
        case 0: return joined("AND", depth)
        case 1: return joined("OR", depth)
        case 2:
            let inner = condition(depth: depth - 1)
            return ("NOT (\(inner.format))", "NOT (\(inner.sql))")
        default: return comparison()
        }
    }

    private mutating func joined(_ word: String, _ depth: Int) -> Condition {
        let left = condition(depth: depth - 1), right = condition(depth: depth - 1)
        return ("(\(left.format)) \(word) (\(right.format))", "(\(left.sql)) \(word) (\(right.sql))")
    }

    private mutating func comparison() -> Condition {
        let isText = Bool.random(using: &generator)
        let left = operand(isText), right = operand(isText), third = operand(isText)
        switch Int.random(in: 0...4, using: &generator) {
        case 0: return ("\(left) IN {\(right), \(third), 1}", "\(left) IN (\(right), \(third), 1)")
        case 1: return ("\(left) BETWEEN {\(right), \(third)}", "\(left) BETWEEN \(right) AND \(third)")
        case 2: return Bool.random(using: &generator) ? ("\(left) == nil", "\(left) IS NULL") : ("nil != \(left)", "\(left) IS NOT NULL")
        default:
            let symbol = pick(["==", "!=", "<", "<=", ">", ">="])
            return ("\(left) \(symbol) \(right)", "\(left) \(symbol) \(right)")
        }
    }

    private mutating func operand(_ isText: Bool) -> String {
        if isText { return pick(["s", "t", "'a'", "'é'", "''"]) }
        if Int.random(in: 0...3, using: &generator) > 0 { return pick(["n", "m", "1", "2.5", "-1"]) }
        return "(\(pick(["n", "m", "3"])) \(pick(["+", "-", "*", "/"])) \(pick(["n", "m", "2", "0"])))"
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }
}
