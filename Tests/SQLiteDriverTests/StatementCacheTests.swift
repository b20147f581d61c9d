import Testing

@testable import SQLiteDriver

@Suite("Prepared statements")
struct StatementCacheTests {
    let connection: Connection

    init() throws { connection = try Connection(path: ":memory:", mode: .readWriteCreate) }

    // * One statement stands in the middle of its rows while more others are used than are kept.
    @Test("in use stay what they are when there are too many others")
    func inUse() throws {
        let values = try connection.withCached("SELECT value FROM json_each('[1,2,3]')") { statement in
            var values: [Int64] = []
            while try statement.step() {
                values.append(statement.int(0))
                for number in 0..<300 { _ = try connection.rows("SELECT \(number) + \(values.count)") }
            }
            return values
        }
        #expect(values == [1, 2, 3])
    }

    @Test("in use are given to nobody else, also before their first row")
    func nested() throws {
        let numbers = try connection.withCached("SELECT ?1") { outer in
            try outer.bind([.integer(1)])
            let inner = try connection.rows("SELECT ?1", [.integer(2)])
            #expect(try outer.step())
            return [SQLiteValue.integer(outer.int(0))] + inner[0]
        }
        #expect(numbers == [.integer(1), .integer(2)])
    }

    @Test("have no bindings left from the use before, also from one that threw")
    func cleared() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try connection.withCached("SELECT ?1") { statement in
                try statement.bind([.text("left")])
                _ = try statement.step()
                throw Stop()
            }
        }
        #expect(try connection.rows("SELECT ?1") == [[.null]])
    }

    @Test(
        "are not made of a text with several, or with none: all but the first would not run",
        arguments: ["SELECT 1; SELECT 2", "", " -- no"]
    )
    func several(text: String) throws {
        #expect(throws: SQLiteError.self) { try connection.rows(text) }
        #expect(try connection.rows("SELECT 1; -- one") == [[.integer(1)]])
    }

    @Test("that were used latest are kept, as many as the limits of number and cost allow")
    func limits() {
        var kept = RecentlyUsed<Int, String>(countLimit: 8, costLimit: 100)
        for key in 0..<100 {
            kept.insert("\(key)", for: key, cost: 1)
            #expect(kept.value(for: 0) == "0")
            #expect(kept.count <= 8)
        }
        #expect(kept.value(for: 99) == "99" && kept.value(for: 50) == nil)
        for key in 100..<200 {
            kept.insert("\(key)", for: key, cost: 25)
            #expect(kept.count <= 4 || key < 105)
        }
        #expect(kept.value(for: 199) == "199" && kept.value(for: 100) == nil)
        kept.insert("large", for: 500, cost: 26)
        #expect(kept.value(for: 500) == nil && kept.value(for: 199) == "199")
        kept.insert("anew", for: 199, cost: 25)
        #expect(kept.value(for: 199) == "anew")
        kept.removeAll()
        #expect(kept.value(for: 199) == nil)
    }

    @Test("wait for others as long as a number can say, and trap for none", arguments: [Double.infinity, -.infinity, .nan, -1, 1e300, 0.5])
    func timeout(seconds: Double) throws {
        connection.setBusyTimeout(seconds: seconds)
        let expected = seconds.isNaN || seconds < 0 ? 0 : seconds == 0.5 ? 500 : Int64(Int32.max)
        #expect(try connection.rows("PRAGMA busy_timeout") == [[.integer(expected)]])
    }
}
