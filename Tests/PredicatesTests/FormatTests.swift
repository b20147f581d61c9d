import Foundation
import Predicates
import Testing

@Suite("A format")
struct FormatTests {
    /// Formats and how they print.
    static let comparisons: [(String, String)] = [
        ("a == 1", "a == 1"),
        ("a = 1", "a == 1"),
        ("a != 1", "a != 1"),
        ("a <> 1", "a != 1"),
        ("a < 1", "a < 1"),
        ("a <= 1", "a <= 1"),
        ("a =< 1", "a <= 1"),
        ("a > 1", "a > 1"),
        ("a >= 1", "a >= 1"),
        ("a => 1", "a >= 1"),
        ("a in {1, 2}", "a IN {1, 2}"),
        ("a BETWEEN {1, 10}", "a BETWEEN {1, 10}"),
        ("name beginswith 'x'", "name BEGINSWITH \"x\""),
        ("name CONTAINS[cd] \"x\"", "name CONTAINS[cd] \"x\""),
        ("name EndsWith [dc] 'x'", "name ENDSWITH[cd] \"x\""),
        ("name LIKE[n] 'a*'", "name LIKE[n] \"a*\""),
        ("name MATCHES '\\d+'", "name MATCHES \"\\\\d+\""),
        ("name ==[c] 'x'", "name ==[c] \"x\""),
        ("name <[l] 'x'", "name <[l] \"x\""),
        ("ANY tags.name == 'x'", "ANY tags.name == \"x\""),
        ("SOME tags.name == 'x'", "ANY tags.name == \"x\""),
        ("ALL tags.name == 'x'", "ALL tags.name == \"x\""),
        ("NONE tags.name == 'x'", "NOT ANY tags.name == \"x\""),
        ("'x' IN tags.name", "\"x\" IN tags.name"),
    ]

    @Test("prints its comparison as Apple does", arguments: comparisons)
    func comparison(format: String, printed: String) throws {
        #expect(try NSPredicate(parsing: format).printedFormat == printed)
    }

    static let compounds: [(String, String)] = [
        ("TRUEPREDICATE", "TRUEPREDICATE"),
        ("falsepredicate", "FALSEPREDICATE"),
        ("a == 1 AND b == 2 && c == 3", "a == 1 AND b == 2 AND c == 3"),
        ("a == 1 OR b == 2 and c == 3", "a == 1 OR (b == 2 AND c == 3)"),
        ("(a == 1 || b == 2) AND c == 3", "(a == 1 OR b == 2) AND c == 3"),
        ("NOT a == 1 AND b == 2", "NOT a == 1 AND b == 2"),
        ("!(a == 1 AND b == 2)", "NOT (a == 1 AND b == 2)"),
        ("NOT NOT a == 1", "NOT (NOT a == 1)"),
        ("(((a == 1)))", "a == 1"),
        ("NOT (a IN {1})", "NOT a IN {1}"),
    ]

    @Test("prints its compound with the parentheses it needs", arguments: compounds)
    func compound(format: String, printed: String) throws {
        #expect(try NSPredicate(parsing: format).printedFormat == printed)
    }

    /// Right sides of `x == …` and how they print.
    static let values: [(String, String)] = [
        ("nil", "nil"), ("NULL", "nil"), ("YES", "1"), ("false", "0"), ("SELF", "SELF"),
        ("0x1F", "31"), ("0b101", "5"), ("0o17", "15"), ("1e3", "1000"), ("1.5E-2", "0.015"), (".5", "0.5"),
        ("-7", "-7"), ("- 7.25", "-7.25"), ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"),
        ("'it''", ""), ("'it\\'s'", "\"it's\""), ("\"a\\\"b\\\\c\\n\"", "\"a\\\"b\\\\c\\n\""), ("'\\u00e9'", "\"é\""),
        ("'%@ 100%'", "\"%@ 100%\""), ("''", "\"\""),
        ("{}", "{}"), ("{1, 'a', {2}}", "{1, \"a\", {2}}"),
        ("a.b.c", "a.b.c"), ("a.b.@avg.price", "a.b.@avg.price"), ("@count", "@count"), ("items.@count", "items.@count"),
        ("items.@distinctUnionOfObjects.name", "items.@distinctUnionOfObjects.name"), ("SELF.name", "name"),
        ("#in", "#in"), ("#size.#all", "size.all"), ("a.in.all", "a.in.all"), ("größe", "größe"), ("_a1", "_a1"),
        ("$v", "$v"), ("$v.name.@count", "$v.name.@count"),
        ("a + b * 2", "a + b * 2"), ("(a + b) * 2", "(a + b) * 2"), ("a - (b - c)", "a - (b - c)"), ("a - b - c", "a - b - c"),
        ("a ** b ** c", "a ** b ** c"), ("(a ** b) ** c", "(a ** b) ** c"), ("-a", "0 - a"), ("flags & 4", "flags & 4"),
        ("a | b ^ c & d << 1", "a | b ^ c & d << 1"), ("~a", "onesComplement:(a)"),
        ("sum({1, 2})", "sum:({1, 2})"), ("sum:(a)", "sum:(a)"), ("add:to:(a, 1)", "a + 1"), ("now()", "now()"),
        ("modulus:by:(a, 2)", "modulus:by:(a, 2)"), ("UPPERCASE(a)", "uppercase:(a)"),
        ("FUNCTION(a, 'length')", "FUNCTION(a, \"length\")"), ("TERNARY(a == 1, b, 'c')", "TERNARY(a == 1, b, \"c\")"),
        ("SUBQUERY(items, $x, $x.price > 3).@count", "SUBQUERY(items, $x, $x.price > 3).@count"),
        ("a[0]", "a[0]"), ("a[FIRST].name", "a[FIRST].name"), ("a[last]", "a[LAST]"), ("a.b[SIZE]", "a.b[SIZE]"), ("a[i + 1]", "a[i + 1]"),
        ("a UNION {1}", "a UNION {1}"), ("(a INTERSECT b) minus c", "(a INTERSECT b) MINUS c"),
        ("CAST(60, 'NSDate')", "CAST(60.000000, \"NSDate\")"), ("CAST(a, 'NSNumber')", "CAST(a, \"NSNumber\")"),
        ("first.last.size", "first.last.size"), ("fetch", "fetch"),
    ]

    @Test("reads values", arguments: values.filter { !$0.1.isEmpty })
    func value(format: String, printed: String) throws {
        #expect(try NSPredicate(parsing: "x == \(format)").printedFormat == "x == \(printed)")
        #expect(try NSExpression(parsing: format).description == printed)
    }

    @Test(
        "reads back what it prints",
        arguments: comparisons.map(\.1) + compounds.map(\.1) + values.filter { !$0.1.isEmpty }.map { "x == \($0.1)" }
    )
    func roundTrip(printed: String) throws {
        let predicate = try NSPredicate(parsing: printed)
        #expect(predicate.printedFormat == printed)
        #expect(predicate == (try NSPredicate(parsing: printed)))
    }
}
