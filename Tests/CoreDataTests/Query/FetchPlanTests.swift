import Foundation
import Predicates
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A fetch plan")
struct FetchPlanTests {
    let bench = QueryBench()

    @Test("selects the key, the entity, the version and every stored column once")
    func rows() throws {
        let plan = try bench.plan(bench.query("Tag"), .rows)
        #expect(plan.sql == "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZNAME, t0.ZWEIGHT FROM ZTAG t0")
        let artists = try bench.plan(bench.query("Artist"), .rows)
        #expect(artists.sql == "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZBORN, t0.ZNAME, t0.ZSIZE FROM ZARTIST t0")
    }

    @Test("says for each entity which column fills which slot")
    func columns() throws {
        let columns = try bench.plan(bench.query("Song"), .rows).columns
        let names = columns.list.components(separatedBy: ", ")
        #expect(Int(columns.count) == names.count)
        let plan = try #require(columns.plan(forNumber: 3))
        #expect(plan.steps.map(\.slot) == plan.steps.map(\.slot).sorted())
        for step in plan.steps where step.kind != .reference {
            #expect(names[Int(step.column)] == "t0.Z" + plan.shape.layout.slots[step.slot].name.uppercased())
            #expect(step.entityColumn == -1)
        }
        let artist = try #require(plan.steps.first { $0.kind == .reference })
        #expect(names[Int(artist.column)] == "t0.ZARTIST")
        #expect(names[Int(artist.entityColumn)] == "t0.Z1_ARTIST", "the artist may be a band")
        #expect(artist.targetEntity == Int32(try bench.entity("Artist").index))
        #expect(columns.plan(forNumber: 1) == nil)
    }

    @Test("lists columns under another alias and behind others")
    func shiftedColumns() throws {
        let columns = SelectedColumns(
            entity: try bench.entity("Band"),
            includesSubentities: true,
            schema: bench.schema,
            alias: "b",
            firstColumn: 2
        )
        #expect(columns.list == "b.Z_PK, b.Z_ENT, b.Z_OPT, b.ZBORN, b.ZNAME, b.ZSIZE")
        #expect(columns.plans.map { $0.steps.map(\.column) } == [[5, 6, 7]])
    }

    @Test("asks for the entity only where the table holds others too")
    func entities() throws {
        #expect(try bench.plan(bench.query("Song")).sql == "SELECT t0.Z_PK, t0.Z_ENT FROM ZSONG t0")
        #expect(try bench.plan(bench.query("Artist")).sql == "SELECT t0.Z_PK, t0.Z_ENT FROM ZARTIST t0")
        #expect(try bench.plan(bench.query("Band")).sql == "SELECT t0.Z_PK, t0.Z_ENT FROM ZARTIST t0 WHERE t0.Z_ENT = 2")
        var artists = try bench.query("Artist", "name == 'x'")
        artists.includesSubentities = false
        #expect(try bench.plan(artists).sql == "SELECT t0.Z_PK, t0.Z_ENT FROM ZARTIST t0 WHERE t0.Z_ENT = 1 AND t0.ZNAME = ?")
    }

    @Test("leaves out excluded keys, many of them as one parameter")
    func excluded() throws {
        let query = try bench.query("Tag", "name == 'x'")
        let few = try bench.plan(query, excluding: [1, 2])
        #expect(few.sql == "SELECT t0.Z_PK, t0.Z_ENT FROM ZTAG t0 WHERE t0.Z_PK NOT IN (?, ?) AND t0.ZNAME = ?")
        #expect(few.parameters == [.integer(1), .integer(2), .text("x")])
        let many = try bench.plan(query, excluding: Array(1...9))
        #expect(many.sql.contains("WHERE t0.Z_PK NOT IN (SELECT value FROM json_each(?)) AND"))
        #expect(many.parameters.first == .text("[1,2,3,4,5,6,7,8,9]"))
    }

    @Test("limits rows, and counts within limits")
    func limits() throws {
        var query = try bench.query("Tag")
        query.limit = 3
        #expect(try bench.plan(query).sql == "SELECT t0.Z_PK, t0.Z_ENT FROM ZTAG t0 LIMIT ?")
        #expect(try bench.plan(query, .count).sql == "SELECT COUNT(*) FROM (SELECT 1 FROM ZTAG t0 LIMIT ?)")
        query.limit = 0
        query.offset = 2
        let plan = try bench.plan(query)
        #expect(plan.sql == "SELECT t0.Z_PK, t0.Z_ENT FROM ZTAG t0 LIMIT ? OFFSET ?")
        #expect(plan.parameters == [.integer(-1), .integer(2)])
        query.offset = 0
        #expect(try bench.plan(query, .count).sql == "SELECT COUNT(*) FROM ZTAG t0")
    }

    @Test("is the same text for other constants, and is made with or without a cache")
    func stableText() throws {
        let first = try bench.plan(bench.query("Song", "title == 'a' AND artist.name IN {'x', 'y'}"), .rows)
        let second = try bench.plan(bench.query("Song", "title == 'b' AND artist.name IN {'v', 'w'}"), .rows)
        #expect(first.sql == second.sql)
        let uncached = try FetchPlan(
            bench.query("Song", "title == 'a' AND artist.name IN {'x', 'y'}"),
            schema: bench.schema,
            result: .rows
        )
        #expect(uncached.sql == first.sql)
        #expect(uncached.parameters == first.parameters)
    }

    @Test("by the value of an attribute is made once, and looks for each value, limit and kind as if it were made anew")
    func lookUps() throws {
        let queries: [(String, [Any?])] = [
            ("title == %@", ["a"]), ("title == %@", ["b"]), ("title == %@", [nil]), ("title == %@", [7]), ("title != %@", ["a"]),
            ("title ==[c] %@", ["a"]), ("plays == %d", [1]), ("plays == %@", [1.5]), ("plays == %@", ["x"]), ("%@ == title", ["a"]),
        ]
        for result in [FetchPlan.Result.rows, .references, .count] {
            for (limit, offset, excluded) in [(0, 0, []), (2, 0, []), (2, 3, []), (0, 1, []), (0, 0, [Int64(4)])] {
                for (format, arguments) in queries + queries {
                    var query = try bench.query("Song", format, arguments)
                    (query.limit, query.offset) = (limit, offset)
                    let known = try bench.plan(query, result, excluding: excluded)
                    let fresh = try FetchPlan(query, cache: PlanCache(schema: bench.schema), result: result, excluding: excluded)
                    #expect(known.sql == fresh.sql && known.parameters == fresh.parameters)
                    #expect((known.remainder == nil) == (fresh.remainder == nil) && known.sortsInMemory == fresh.sortsInMemory)
                }
            }
        }
    }

    @Test("of a thousand conditions, nested or side by side, is one that SQLite takes or memory does")
    func deepPredicates() throws {
        let database = try bench.database()
        let wide = (0..<3_000).map { NSPredicate(format: "plays != %d", $0) }
        var query = try bench.query()
        for compound in [NSCompoundPredicate(orPredicateWithSubpredicates: wide), NSCompoundPredicate(andPredicateWithSubpredicates: wide)]
        {
            query.predicate = compound.tree
            let plan = try bench.plan(query)
            #expect(plan.remainder == nil)
            #expect(try database.rows(plan.sql, plan.parameters).isEmpty)
        }
        var deep = NSPredicate(format: "plays == 1")
        for _ in 0..<1_000 { deep = NSCompoundPredicate(notPredicateWithSubpredicate: deep) }
        // => Negations cancel each other out.
        query.predicate = deep.tree
        #expect(try bench.plan(query).sql.hasSuffix(" WHERE t0.ZPLAYS = ?"))
        for _ in 0..<1_000 {
            deep = NSCompoundPredicate(notPredicateWithSubpredicate: NSCompoundPredicate(orPredicateWithSubpredicates: [deep, wide[0]]))
        }
        query.predicate = deep.tree
        #expect(try bench.plan(query).remainder != nil)
    }
}

@Suite("A sort in SQL")
struct SortSQLTests {
    let bench = QueryBench()

    private func order(_ descriptors: NSSortDescriptor...) throws -> String {
        var query = try bench.query("Song")
        query.sortDescriptors = descriptors
        return String(try bench.plan(query).sql.dropFirst("SELECT t0.Z_PK, t0.Z_ENT FROM ZSONG t0".count))
    }

    @Test("orders by columns, key paths and keys, in both directions")
    func columns() throws {
        #expect(
            try order(NSSortDescriptor(key: "title", ascending: true), NSSortDescriptor(key: "plays", ascending: false))
                == " ORDER BY t0.ZTITLE, t0.ZPLAYS DESC"
        )
        #expect(
            try order(NSSortDescriptor(key: "artist.name", ascending: false))
                == " LEFT JOIN ZARTIST t1 ON t1.Z_PK = t0.ZARTIST ORDER BY t1.ZNAME DESC"
        )
        #expect(try order(NSSortDescriptor(key: "objectID", ascending: false)) == " ORDER BY t0.Z_PK DESC")
        #expect(try order(NSSortDescriptor(key: "self", ascending: true)) == " ORDER BY t0.Z_PK")
    }

    @Test("uses a collation for texts only")
    func collations() throws {
        func sorted(_ key: String, _ selector: String) throws -> String {
            try order(NSSortDescriptor(key: key, ascending: true, selector: Selector(selector)))
        }
        #expect(try sorted("title", "compare:") == " ORDER BY t0.ZTITLE")
        #expect(try sorted("title", "caseInsensitiveCompare:") == " ORDER BY t0.ZTITLE COLLATE cd_c")
        #expect(try sorted("title", "localizedCompare:") == " ORDER BY t0.ZTITLE COLLATE cd_localized")
        #expect(try sorted("title", "localizedCaseInsensitiveCompare:") == " ORDER BY t0.ZTITLE COLLATE cd_localized_c")
        #expect(try sorted("title", "localizedStandardCompare:") == " ORDER BY t0.ZTITLE COLLATE cd_localized_standard")
        #expect(try sorted("plays", "localizedStandardCompare:") == " ORDER BY t0.ZPLAYS")
    }

    @Test("by what only memory can compare is left to the caller, together with the limit")
    func memory() throws {
        for descriptor in [
            NSSortDescriptor(key: "title", ascending: true) { _, _ in .orderedSame }, NSSortDescriptor(key: "mood", ascending: true),
        ] {
            var query = try bench.query("Song")
            query.limit = 1
            query.sortDescriptors = [NSSortDescriptor(key: "artist.name", ascending: true), descriptor]
            let plan = try bench.plan(query)
            #expect(plan.sql == "SELECT t0.Z_PK, t0.Z_ENT FROM ZSONG t0")
            #expect(plan.sortsInMemory && plan.limitsInMemory)
        }
    }

    @Test("gives the order that memory gives, for every kind of comparison")
    func sameOrder() throws {
        let titles = [nil, "", "B", "a", "b", "A", "ä", "z", "10", "9", "é", "e\u{301}", "😀", "a\0"]
        let database = try bench.database()
        for (index, title) in titles.enumerated() {
            _ = try database.rows(
                "INSERT INTO ZSONG (Z_PK, Z_ENT, ZTITLE) VALUES (?, 3, ?)",
                [.integer(Int64(index + 1)), title.map { .text($0) } ?? .null]
            )
        }
        let objects = titles.enumerated().map { index, title in ["title": title as Any, "objectID": index + 1] as [String: Any] }
        for selector in [
            "compare:", "caseInsensitiveCompare:", "localizedCompare:", "localizedCaseInsensitiveCompare:", "localizedStandardCompare:",
        ] {
            let descriptors = [
                NSSortDescriptor(key: "title", ascending: false, selector: Selector(selector)),
                NSSortDescriptor(key: "objectID", ascending: true),
            ]
            var query = try bench.query("Song")
            query.sortDescriptors = descriptors
            let plan = try bench.plan(query)
            let found = try database.rows(plan.sql, plan.parameters).map { $0[0] }
            let expected = objects.sorted(using: descriptors).map { SQLiteValue.integer(Int64($0["objectID"] as? Int ?? 0)) }
            #expect(found == expected, "\(selector)")
        }
    }
}

@Suite("An index")
struct IndexUseTests {
    @Test(
        "serves equality, a prefix and a list, short or long",
        arguments: [
            "title == 'x'", "title BEGINSWITH 'x'", "title IN {'x', 'y'}", "title > 'x'", "title IN %@",
        ]
    )
    func isUsed(format: String) throws {
        let bench = QueryBench()
        let database = try bench.database()
        let arguments: [Any?] = format.contains("%@") ? [(0..<200).map { "t\($0)" }] : []
        let plan = try bench.plan(bench.query("Song", format, arguments), .rows)
        let details = try database.rows("EXPLAIN QUERY PLAN " + plan.sql, plan.parameters).map { "\($0[3])" }
        #expect(details.contains { $0.contains("SEARCH t0 USING INDEX Z_Song_byTitle (ZTITLE") }, "\(details)")
    }
}

@Suite("A fetch by a key of several attributes")
struct CompoundKeyPlanTests {
    // * Thousands of rows; a fetch names ten by the two attributes of a constraint, and objects are found by such keys.
    // => SQLite searches the constraint's index by both, for each key, and does not read the table.
    @Test("is answered by the index of the constraint over them", arguments: StoreKind.allCases)
    func index(_ kind: StoreKind) throws {
        let store = try UniqueStore(kind)
        try store.context.batchInsert("Seat", (0..<3000).map { ["row": $0 / 100, "number": Double($0 % 100), "label": "\($0)"] })
        let request = NSFetchRequest<NSManagedObject>(entityName: "Seat")
        request.predicate = NSPredicate(format: "{row, number} IN %@", (0..<10).map { [$0, $0 + 1] })
        var count = 0
        let statements = try store.store.counter.recording { count = try store.context.fetch(request).count }
        #expect(count == 10)
        let fetch = try #require(statements.first { $0.contains("ZSEAT") })
        let plan = try store.store.pool.read { try $0.rows("EXPLAIN QUERY PLAN \(fetch)") }.map { "\($0[3])" }
        #expect(plan.contains { $0.contains("USING COVERING INDEX Z_Seat_UNIQUE_row_number (ZROW=? AND ZNUMBER=?)") }, "\(plan)")
        #expect(!plan.contains { $0.contains("SCAN t0") || $0.contains("SCAN o") }, "\(plan)")
    }
}
