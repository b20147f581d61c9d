import Foundation
import Predicates
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A comparison in SQL")
struct ComparisonSQLTests {
    @Test("binds a constant as the attribute's type is stored")
    func types() throws {
        let uuid = UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F")
        try expectCondition("title == %@", ["It's \"x\""], " WHERE t0.ZTITLE = ?", [.text("It's \"x\"")])
        try expectCondition("plays == %@", [Int64.max], " WHERE t0.ZPLAYS = ?", [.integer(.max)])
        try expectCondition("plays < %@", [2.5], " WHERE t0.ZPLAYS < ?", [.real(2.5)])
        try expectCondition("plays == %@", [NSNumber(value: true)], " WHERE t0.ZPLAYS = ?", [.integer(1)])
        try expectCondition("isLive == YES", [], " WHERE t0.ZISLIVE = ?", [.integer(1)])
        try expectCondition("length >= %@", [Decimal(string: "0.1")], " WHERE t0.ZLENGTH >= ?", [.real(0.1)])
        try expectCondition("plays <= %@", [Decimal(7)], " WHERE t0.ZPLAYS <= ?", [.integer(7)])
        try expectCondition("released > %@", [Date(timeIntervalSinceReferenceDate: 1.5)], " WHERE t0.ZRELEASED > ?", [.real(1.5)])
        try expectCondition("code == %@", [uuid], " WHERE t0.ZCODE = ?", [.blob(Array(0...15))])
        try expectCondition("cover != %@", [Data([1, 2])], " WHERE t0.ZCOVER <> ?", [.blob([1, 2])])
    }

    @Test("compares a Float attribute as the double that it is in the file, with constants as they are")
    func floats() throws {
        try expectCondition("gain == 0.1", [], " WHERE t0.ZGAIN = ?", [.real(0.1)])
        try expectCondition("gain == %@", [Float(0.1)], " WHERE t0.ZGAIN = ?", [.real(Double(Float(0.1)))])
        try expectCondition("gain IN {0.1, 2}", [], " WHERE t0.ZGAIN IN (?, ?)", [.real(0.1), .integer(2)])
    }

    @Test("with a literal nil asks for NULL, on either side")
    func null() throws {
        try expectCondition("title == nil", [], " WHERE t0.ZTITLE IS NULL")
        try expectCondition("nil != title", [], " WHERE t0.ZTITLE IS NOT NULL")
        try expectCondition("artist == %@", [nil], " WHERE t0.ZARTIST IS NULL")
        try expectCondition("title < nil", [], " WHERE NULL")
        try expectCondition("nil == nil", [], " WHERE 1")
    }

    @Test("of a text with a number is false but for NULL, and never converts one into the other")
    func unlike() throws {
        try expectCondition("plays == '5'", [], " WHERE (t0.ZPLAYS <> t0.ZPLAYS)")
        try expectCondition("title != 5", [], " WHERE (t0.ZTITLE = t0.ZTITLE)")
        try expectCondition("title == plays", [], " WHERE (t0.ZTITLE <> t0.ZTITLE OR t0.ZPLAYS <> t0.ZPLAYS)")
        try expectCondition("title < 5", [], " WHERE NULL")
        try expectCondition("length == %@", [Double.nan], " WHERE (t0.ZLENGTH <> t0.ZLENGTH)")
        try expectCondition("1 == '1'", [], " WHERE 0")
    }

    @Test("of key paths and arithmetic stays in SQL")
    func expressions() throws {
        try expectCondition("title == album", [], " WHERE t0.ZTITLE = t0.ZALBUM")
        try expectCondition("plays + 1 > track * 2", [], " WHERE (t0.ZPLAYS + ?) > (t0.ZTRACK * ?)", [.integer(1), .integer(2)])
        try expectCondition("modulus:by:(track, 2) == 1", [], " WHERE (t0.ZTRACK % ?) = ?", [.integer(2), .integer(1)])
        try expectCondition("track & 4 != 0", [], " WHERE (t0.ZTRACK & ?) <> ?", [.integer(4), .integer(0)])
        try expectCondition(
            "CAST(released, 'NSNumber') > 60 AND length BETWEEN {1, plays}",
            [],
            " WHERE t0.ZRELEASED > ? AND (t0.ZLENGTH >= ? AND t0.ZLENGTH <= t0.ZPLAYS)",
            [.integer(60), .integer(1)]
        )
    }

    @Test("of dates reckons in seconds: between two dates there is a number, and a number from a date there is a date")
    func reckoningWithDates() throws {
        let date = Date(timeIntervalSinceReferenceDate: 100)
        try expectCondition("released - %@ > 60", [date], " WHERE (t0.ZRELEASED - ?) > ?", [.real(100), .integer(60)])
        try expectCondition("released + length == %@", [date], " WHERE (t0.ZRELEASED + t0.ZLENGTH) = ?", [.real(100)])
        try expectCondition("60 + released > %@", [date], " WHERE (? + t0.ZRELEASED) > ?", [.integer(60), .real(100)])
        try expectCondition("%@ < released - 60", [date], " WHERE ? < (t0.ZRELEASED - ?)", [.real(100), .integer(60)])
    }

    @Test("joins its compound with AND, OR and NOT as they were nested")
    func compounds() throws {
        try expectCondition(
            "title == 'a' AND (plays == 1 OR NOT (track == 2 AND track == 3))",
            [],
            " WHERE t0.ZTITLE = ? AND (t0.ZPLAYS = ? OR NOT ((t0.ZTRACK = ? AND t0.ZTRACK = ?)))",
            [.text("a"), .integer(1), .integer(2), .integer(3)]
        )
        try expectCondition("TRUEPREDICATE AND plays == 1", [], " WHERE t0.ZPLAYS = ?", [.integer(1)])
        try expectCondition("FALSEPREDICATE", [], " WHERE 0")
    }
}

@Suite("IN in SQL")
struct MembershipSQLTests {
    @Test("has a parameter for each element, and NULL for nil")
    func lists() throws {
        try expectCondition("title IN %@", [["a", "b"]], " WHERE t0.ZTITLE IN (?, ?)", [.text("a"), .text("b")])
        try expectCondition("title IN {'a', nil}", [], " WHERE t0.ZTITLE IN (?, NULL)", [.text("a")])
        try expectCondition("title IN {nil}", [], " WHERE NULL")
        try expectCondition("title IN[c] {'a'}", [], " WHERE t0.ZTITLE COLLATE cd_c IN (?)", [.text("a")])
        try expectCondition("title IN {album, 'x'}", [], " WHERE (t0.ZTITLE = t0.ZALBUM OR t0.ZTITLE = ?)", [.text("x")])
    }

    @Test("of an empty list is false")
    func empty() throws {
        try expectCondition("title IN %@", [[String]()], " WHERE 0")
        try expectCondition("artist IN %@", [NSSet()], " WHERE 0")
    }

    @Test("leaves elements out that could never be equal")
    func unlike() throws {
        try expectCondition("plays IN {1, 'a', 2.5}", [], " WHERE t0.ZPLAYS IN (?, ?)", [.integer(1), .real(2.5)])
        try expectCondition("plays IN {'a'}", [], " WHERE (t0.ZPLAYS <> t0.ZPLAYS)")
    }

    @Test("takes a long list as one parameter, whatever its length")
    func long() throws {
        let sql = " WHERE t0.ZPLAYS IN (SELECT value FROM json_each(?))"
        try expectCondition("plays IN %@", [Array(1...100)], sql, [.text("[" + (1...100).map { "\($0)" }.joined(separator: ",") + "]")])
        let bench = QueryBench()
        let long = try bench.plan(bench.query("Song", "plays IN %@", [Array(1...50_000)]))
        #expect(long.sql.hasSuffix(sql))
        #expect(long.remainder == nil)
    }

    @Test("gives long lists of uuids and doubles a parameter each, and leaves those to memory that SQLite has no room for")
    func unencodable() throws {
        let bench = QueryBench()
        let plan = try bench.plan(bench.query("Song", "code IN %@", [(0..<200).map { _ in UUID() }]))
        #expect(plan.parameters.count == 200)
        let huge = try bench.plan(bench.query("Song", "length IN %@ AND plays == 1", [(0..<40_000).map { Double($0) + 0.5 }]))
        #expect(huge.parameters == [.integer(1)])
        #expect(huge.remainder != nil)
    }

    @Test("finds every one of many awkward texts again")
    func awkwardTexts() throws {
        let awkward = [
            "", "'", "\"", "\\", "\\u0041", "a\u{1}b", "\u{7f}", "é", "e\u{301}", "\u{10FFFF}", "😀", "\u{2028}", "a\nb\tc", "[", "null",
        ]
        let texts = awkward + (0..<120).map { "filler \($0)" }
        let bench = QueryBench()
        let database = try bench.database()
        for (index, text) in texts.enumerated() {
            _ = try database.rows("INSERT INTO ZSONG (Z_PK, Z_ENT, ZTITLE) VALUES (?, 3, ?)", [.integer(Int64(index + 1)), .text(text)])
        }
        for list in [texts, texts + ["a\0b"]] {
            let plan = try bench.plan(bench.query("Song", "title IN %@", [list]), .count)
            #expect(try database.rows(plan.sql, plan.parameters) == [[.integer(Int64(texts.count))]])
        }
    }
}
