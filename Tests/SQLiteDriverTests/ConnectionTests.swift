import Testing

@testable import SQLiteDriver

@Suite("A connection")
struct ConnectionTests {
    @Test("keeps nothing of a transaction whose body throws")
    func rollsBack() throws {
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        try connection.execute("CREATE TABLE t (a)")
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try connection.transaction(.immediate) {
                try connection.execute("INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        #expect(try connection.rows("SELECT COUNT(*) FROM t") == [[.integer(0)]])
        #expect(!connection.isInTransaction)
    }

    @Test("keeps what came before a savepoint that throws")
    func savepoint() throws {
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        try connection.execute("CREATE TABLE t (a UNIQUE)")
        try connection.transaction(.immediate) {
            try connection.execute("INSERT INTO t VALUES (1)")
            #expect(throws: SQLiteError.self) {
                try connection.savepoint {
                    try connection.execute("INSERT INTO t VALUES (2)")
                    try connection.execute("INSERT INTO t VALUES (1)")
                }
            }
        }
        #expect(try connection.rows("SELECT a FROM t") == [[.integer(1)]])
    }

    @Test(
        "gives back each storage class as it was bound",
        arguments: [
            SQLiteValue.null, .integer(.min), .integer(.max), .real(-0.5), .text(""), .text("é\u{0}ß"), .blob([]), .blob([0, 255]),
        ]
    )
    func roundTrip(value: SQLiteValue) throws {
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        #expect(try connection.rows("SELECT ?1", [value]) == [[value]])
    }

    @Test("names the failing statement")
    func error() throws {
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        let error = #expect(throws: SQLiteError.self) { try connection.rows("SELECT nothing") }
        #expect(error?.sql == "SELECT nothing")
        #expect(error?.message.contains("nothing") == true)
    }

    @Test("counts a run once, however many rows it gives")
    func counts() throws {
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        let before = connection.statementCount
        _ = try connection.rows("SELECT value FROM json_each('[1,2,3]')")
        #expect(connection.statementCount == before + 1)
    }

    @Test("runs an application-defined function and collation")
    func functions() throws {
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        try connection.defineFunction("twice", argumentCount: 1) { .integer($0[0].int * 2) }
        try connection.defineCollation("backwards") { left, right in
            left.lexicographicallyPrecedes(right) ? 1 : right.lexicographicallyPrecedes(left) ? -1 : 0
        }
        #expect(try connection.rows("SELECT twice(21)") == [[.integer(42)]])
        #expect(
            try connection.rows("SELECT value FROM json_each('[\"a\",\"b\"]') ORDER BY value COLLATE backwards")
                == [[.text("b")], [.text("a")]]
        )
    }
}
