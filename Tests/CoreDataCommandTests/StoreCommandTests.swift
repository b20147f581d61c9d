import CoreData
import Foundation
import SQLiteDriver
import TestSupport
import Testing

@Suite("coredata store")
struct StoreCommandTests {
    private let library: LibraryStore
    private var folder: TemporaryFolder { library.folder }
    private var store: String { library.store }
    private var model: String { library.model }

    init() throws { library = try LibraryStore() }

    @Test("says what a store is, with numbers that programs can read")
    func info() async throws {
        let run = try await Run("store", "info", store, "--model", model)
        #expect(
            run.status == 0 && run.lines.contains { $0.hasPrefix("opens with model") && $0.hasSuffix("yes") },
            "\(run.output)\(run.errors)"
        )
        let json = try await Run("store", "info", store, "--json")
        let facts = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(facts["objects"] as? [String: Int] == ["Book": 1, "Person": 1])
        #expect((facts["versionHashes"] as? [String: String])?.keys.sorted() == ["Book", "Person"])
    }

    @Test("prints objects as lines of JSON")
    func dump() async throws {
        let run = try await Run("store", "dump", store, "--model", model)
        let uuid = try #require(run.lines.first?.firstMatch(of: /x-coredata:\/\/([^\/]*)/)?.1)
        #expect(
            run.output == """
                {"attributes":{"name":"Emma","pages":474},"entity":"Book","id":"x-coredata://\(uuid)/Book/p1",\
                "relationships":{"authors":["x-coredata://\(uuid)/Person/p1"]},"version":1}
                {"attributes":{"name":"Jane"},"entity":"Person","id":"x-coredata://\(uuid)/Person/p1",\
                "relationships":{"books":["x-coredata://\(uuid)/Book/p1"]},"version":1}

                """
        )
        #expect(try await Run("store", "dump", store, "--model", model, "--only", "Person").lines.count == 1)
        #expect(try await Run("store", "dump", store, "--model", model, "--only", "Cat").status == 2)
    }

    @Test("prints the schema, and where things are in it")
    func schema() async throws {
        let run = try await Run("store", "schema", store)
        #expect(run.lines.contains { $0.hasPrefix("CREATE TABLE ZBOOK (") && $0.hasSuffix(");") })
        let places = try await Run("store", "schema", store, "--model", model)
        #expect(places.lines.contains { $0.split(separator: " ") == ["Book.pages", "ZBOOK.ZPAGES", "INTEGER"] })
    }

    @Test(
        "refuses a statement that writes anything anywhere, alone or after another, before any has run",
        arguments: [
            "VACUUM INTO 'copy'", "ATTACH 'copy' AS other", "CREATE TABLE copy(a)", "CREATE TEMP TABLE copy(a)", "DROP TABLE ZBOOK",
            "VACUUM",
            "UPDATE ZBOOK SET ZPAGES = 1", "UPDATE sqlite_master SET sql = ''", "PRAGMA journal_mode = DELETE", "PRAGMA user_version = 7",
            "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA query_only = 0", "SELECT 1; DELETE FROM ZBOOK", "REINDEX", "ANALYZE",
            "BEGIN IMMEDIATE",
        ]
    )
    func writing(statement: String) async throws {
        let before = try Data(contentsOf: folder.file("library.sqlite"))
        let run = try await Run(
            Places.products.appendingPathComponent("coredata"),
            ["store", "sql", store, statement],
            in: folder.url
        )
        #expect(run.status == 2 && run.output.isEmpty && !run.crashed, "\(run.output)\(run.errors)")
        #expect(try folder.contents() == ["Library.xcdatamodeld", "library.sqlite"])
        #expect(try Data(contentsOf: folder.file("library.sqlite")) == before)
    }

    @Test("leaves nothing beside the store", arguments: ["info", "verify", "schema", "dump", "sql"])
    func untouched(subcommand: String) async throws {
        let rest = ["sql": ["SELECT count(*) FROM {Book}, pragma_table_info('ZBOOK')"], "schema": ["--names"]][subcommand] ?? []
        let run = try await Run(["store", subcommand, store] + rest)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try folder.contents() == ["Library.xcdatamodeld", "library.sqlite"])
    }

    @Test("finds keys that lead nowhere, keys that would come twice, and other models; a sound store passes")
    func verify() async throws {
        #expect(try await Run("store", "verify", store, "--model", model).output == "The store is sound.\n")
        try damage("DELETE FROM ZPERSON", "UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Book'")
        let run = try await Run("store", "verify", store, "--model", model)
        #expect(run.status == 1)
        #expect(
            run.lines == [
                "ZBOOK has the key 1, and Z_PRIMARYKEY gives out keys from 1 on.",
                "Book.authors leads to a Person that is not there, in 1 row.",
            ],
            "\(run.output)"
        )
        let other = try await Run("store", "verify", store, "--json", "--model", model + "/Library.xcdatamodel")
        #expect(other.status == 1 && other.output.contains("Entity Book has another version hash"))
        try damage("UPDATE ZBOOK SET Z_ENT = 77")
        let stray = try await Run("store", "verify", store, "--model", model)
        #expect(stray.lines.contains("ZBOOK has 1 row of no entity that is kept in it, which no fetch finds."), "\(stray.output)")
    }

    @Test("says in one sentence what is no store, and leaves it alone", arguments: ["info", "verify", "schema", "dump", "sql"])
    func unusable(subcommand: String) async throws {
        let rest = ["sql": ["SELECT 1"]][subcommand] ?? []
        try Data(repeating: 7, count: 5000).write(to: folder.file("none.sqlite"))
        for name in ["none.sqlite", "missing.sqlite"] {
            let run = try await Run(["store", subcommand, folder.path(name)] + rest)
            #expect(run.status == 2 && run.output.isEmpty && run.errors.hasPrefix("Error: "), "\(run.errors)")
            #expect(run.errors.split(separator: "\n").count == 1 && run.errors.contains(folder.path(name)), "\(run.errors)")
        }
        #expect(try Data(contentsOf: folder.file("none.sqlite")).count == 5000)
        #expect(try folder.contents() == ["Library.xcdatamodeld", "library.sqlite", "none.sqlite"])
    }

    @Test("says of a document what it is, and how it becomes one that the command reads", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func document(type: String) async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("Document"))
        let file = folder.path("Document")
        for arguments in [["info", file], ["verify", file], ["migrate", file, "--to", model]] {
            let run = try await Run(["store"] + arguments)
            #expect(run.status == 2 && run.errors.hasPrefix("Error: \(file) is a store of type \(type)"), "\(run.errors)")
            #expect(run.errors.split(separator: "\n").count == 1 && run.errors.contains("migratePersistentStore"), "\(run.errors)")
        }
    }

    // Bytes of the store are others, all over the file; each subcommand says what it can.
    @Test("ends with an answer or a sentence whatever is in the file", arguments: ["info", "verify", "dump", "schema"])
    func hostile(subcommand: String) async throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        let marks = ["CREATE TABLE", "Z_PRIMARYKEY", "ZBOOK", "NSStoreModelVersionHashes", "bplist00", "Emma"].compactMap {
            bytes.firstRange(of: Data($0.utf8))?.lowerBound
        }
        #expect(marks.count >= 4)
        for (index, mark) in marks.enumerated() {
            var damaged = bytes
            for place in mark..<min(mark + 40, bytes.count) { damaged[place] ^= UInt8(index * 37 + 1) }
            try damaged.write(to: folder.file("damaged.sqlite"))
            let run = try await Run("store", subcommand, folder.path("damaged.sqlite"), "--model", model)
            #expect(!run.crashed && [0, 1, 2].contains(run.status), "\(mark): \(run.status) \(run.errors)")
        }
    }

    @Test("refuses a pipe, and waits for nobody to write into it", .timeLimit(.minutes(20)), arguments: ["info", "verify", "dump"])
    func pipe(subcommand: String) async throws {
        let pipe = folder.path("pipe.sqlite")
        #expect(mkfifo(pipe, 0o600) == 0)
        let run = try await Run("store", subcommand, pipe, "--model", model)
        #expect(run.status != 0 && !run.crashed, "\(run.status)")
        #expect(run.errors.contains("pipe.sqlite is no database: it is a pipe, a socket or a device"), "\(run.errors)")
    }

    // * The schema says other things than the model: names with quotation marks, entities that are their own parents.
    @Test("takes names and numbers of a store for what they are: from a stranger")
    func stranger() async throws {
        try damage(
            "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT WHERE Z_NAME = 'Book'",
            "INSERT INTO Z_PRIMARYKEY VALUES (3, 'X\"; DROP', 0, 0), (4, 'Self', 5, 0), (5, 'Other', 4, 0)",
            "CREATE TABLE \"ZX\"\"; DROP\" (Z_ENT INTEGER)",
            "UPDATE ZBOOK SET ZPAGES = 'many', ZNAME = x'ff00', Z_OPT = NULL"
        )
        for subcommand in ["info", "verify", "dump"] {
            let run = try await Run("store", subcommand, store, "--model", model)
            #expect(!run.crashed && [0, 1, 2].contains(run.status), "\(subcommand): \(run.status) \(run.errors)")
        }
        #expect(try await Run("store", "info", store).lines.contains { $0.hasPrefix("X\"; DROP") && $0.contains(" 0 ") })
    }

    private func damage(_ statements: String...) throws {
        let connection = try Connection(path: store, mode: .readWrite)
        defer { connection.close() }
        for statement in statements { try connection.execute(statement) }
    }
}
