import Foundation
import Predicates
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A text comparison in SQL")
struct TextSQLTests {
    @Test("by a plain prefix is a range, so that an index can serve it")
    func prefix() throws {
        try expectCondition("title BEGINSWITH 'ab'", [], " WHERE (t0.ZTITLE >= ? AND t0.ZTITLE < ?)", [.text("ab"), .text("ac")])
        try expectCondition("title BEGINSWITH ''", [], " WHERE cd_match('begins', '', ?, t0.ZTITLE)", [.text("")])
    }

    @Test(
        "ends the range of a prefix at the next text in the order of the bytes",
        arguments: [
            ("a", "b"), ("a\u{10FFFF}", "b"), ("\u{D7FF}", "\u{E000}"), ("é", "ê"), ("\u{7F}", "\u{80}"), ("a\0", "a\u{1}"),
            ("z\u{10FFFF}\u{10FFFF}", "{"),
        ]
    )
    func successor(prefix: String, end: String) {
        #expect(TextRange.end(ofPrefix: prefix).map { Array($0.utf8) } == Array(end.utf8))
    }

    @Test("has no range where no text comes after the prefix")
    func lastPrefix() throws {
        #expect(TextRange.end(ofPrefix: "\u{10FFFF}\u{10FFFF}") == nil)
        try expectCondition("title BEGINSWITH %@", ["\u{10FFFF}"], " WHERE cd_match('begins', '', ?, t0.ZTITLE)", [.text("\u{10FFFF}")])
    }

    @Test("uses SQLite's own search where it can, else a function")
    func operators() throws {
        try expectCondition("title CONTAINS 'x'", [], " WHERE instr(t0.ZTITLE, ?) > 0", [.text("x")])
        try expectCondition("title CONTAINS[cd] 'x'", [], " WHERE cd_match('contains', 'cd', ?, t0.ZTITLE)", [.text("x")])
        try expectCondition("title ENDSWITH 'x'", [], " WHERE cd_match('ends', '', ?, t0.ZTITLE)", [.text("x")])
        try expectCondition("title LIKE[c] 'x*'", [], " WHERE cd_match('like', 'c', ?, t0.ZTITLE)", [.text("x*")])
        try expectCondition("title MATCHES 'x+'", [], " WHERE cd_match('matches', '', ?, t0.ZTITLE)", [.text("x+")])
        try expectCondition("title ==[cd] 'x'", [], " WHERE t0.ZTITLE = ? COLLATE cd_cd", [.text("x")])
        try expectCondition("title <[d] album", [], " WHERE t0.ZTITLE < t0.ZALBUM COLLATE cd_d")
        try expectCondition("title IN 'abc'", [], " WHERE instr(?, t0.ZTITLE) > 0", [.text("abc")])
        try expectCondition("title LIKE[n] 'x'", [], " WHERE cd_match('like', '', ?, t0.ZTITLE)", [.text("x")])
    }

    @Test("with something that is no text is unknown")
    func unlike() throws {
        try expectCondition("plays BEGINSWITH 'x'", [], " WHERE NULL")
        try expectCondition("title CONTAINS 5", [], " WHERE NULL")
        try expectCondition("title LIKE nil", [], " WHERE NULL")
    }

    @Test("refuses a pattern that is no regular expression, with a sentence")
    func invalidPattern() throws {
        let bench = QueryBench()
        let error = #expect(throws: CocoaError.self) { try bench.plan(bench.query("Song", "title MATCHES '('")) }
        #expect(error?.code == .coreData)
        #expect(error?.localizedDescription.contains("\"(\"") == true)
    }

    @Test("finds the same rows as in memory, bytes for bytes")
    func nastyTexts() throws {
        let texts = [
            "", "a", "A", "ab", "a\0b", "ä", "a\u{308}", "Ä", "ß", "SS", "a%b", "a_b", "a*b", "a?b", "a\\b", "😀", "x😀y", "\u{10FFFF}z",
        ]
        let bench = QueryBench()
        let database = try bench.database()
        for (index, text) in texts.enumerated() {
            _ = try database.rows("INSERT INTO ZSONG (Z_PK, Z_ENT, ZTITLE) VALUES (?, 3, ?)", [.integer(Int64(index + 1)), .text(text)])
        }
        for symbol in ["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "==", "<", ">="] {
            for options in ["", "[c]", "[d]", "[cd]"] {
                for pattern in texts {
                    let predicate = try NSPredicate(parsing: "title \(symbol)\(options) %@", arguments: [pattern])
                    var query = try bench.query()
                    query.predicate = predicate.tree
                    query.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
                    let plan = try bench.plan(query)
                    let found = try database.rows(plan.sql, plan.parameters).map { $0[0] }
                    let expected = try texts.indices.filter { try predicate.tree.evaluate(["title": texts[$0]], semantics: .sql) == true }
                    #expect(found == expected.map { .integer(Int64($0 + 1)) }, "title \(symbol)\(options) \(pattern.debugDescription)")
                }
            }
        }
    }

    @Test("compiles a pattern once a run, not once a row")
    func cachedPattern() throws {
        let database = try Connection(path: ":memory:", mode: .readWriteCreate)
        var prepared = 0
        try database.defineFunction("long", argumentCount: 2) { arguments in
            prepared += 1
            return arguments[0].int
        } _: { limit, text in
            text.isNull ? nil : text.int > limit
        }
        let sql = "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT SUM(long(?, i)) FROM n"
        #expect(try database.rows(sql, [.integer(60)]) == [[.integer(40)]])
        #expect(prepared == 1)
        #expect(try database.rows(sql, [.integer(90)]) == [[.integer(10)]])
        #expect(prepared == 2, "another parameter is another pattern")
        #expect(try database.rows("SELECT long(1, NULL)") == [[.null]])
    }
}
