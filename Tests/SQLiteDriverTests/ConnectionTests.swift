import CSQLite
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

    // * Two schemas of as many statements: SQLite would count both as version 1.
    @Test("that empties a database leaves others no way to read what comes next through the old schema")
    func emptying() throws {
        let uri = "file:/8A7C0E0B-3C1D-4C53-9B0B-6B8C5C2C6E0A?vfs=memdb"
        let connections = try (0..<2).map { _ in try Connection(path: uri, mode: .readWriteCreate, isURI: true) }
        try connections[0].execute("CREATE TABLE old (a)")
        #expect(try connections[1].rows("SELECT a FROM old").isEmpty)
        try connections[0].empty()
        let absent = #expect(throws: SQLiteError.self) { try connections[1].rows("SELECT a FROM old") }
        #expect(absent?.message == "no such table: old")
        try connections[0].execute("CREATE TABLE new (a); INSERT INTO new VALUES (1)")
        #expect(throws: SQLiteError.self) { try connections[1].rows("SELECT a FROM old") }
        #expect(try connections[1].rows("SELECT a FROM new") == [[.integer(1)]])
        #expect(try connections[1].rows("PRAGMA integrity_check") == [[.text("ok")]])
    }

    @Test("lifts the limit of databases in memory, which is 1 GB, to what SQLite allocates")
    func sizeLimit() throws {
        let connection = try Connection(path: "file:/5C8C1C5C-0E3F-4B57-93A4-7B9D1C7A2F11?vfs=memdb", mode: .readWriteCreate, isURI: true)
        try connection.liftSizeLimit()
        var limit: Int64 = -1
        #expect(sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_SIZE_LIMIT, &limit) == SQLITE_OK)
        #expect(limit == Connection.largestMemorySize && limit < 0x7fff_ff00 && limit > 0x7ffe_0000)
        try connection.limitPagesInMemory()
        #expect(try connection.rows("PRAGMA max_page_count") == [[.integer(limit / 4096)]])
    }
}
