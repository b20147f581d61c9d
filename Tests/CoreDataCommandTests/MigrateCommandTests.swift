import Foundation
import TestSupport
import Testing

@Suite("coredata store migrate")
struct MigrateCommandTests {
    private let library: LibraryStore
    private var store: String { library.store }
    private func version(_ name: String) -> String { library.folder.path("Library.xcdatamodeld/\(name).xcdatamodel") }

    init() throws { library = try LibraryStore() }

    // * A store of version 2 is brought to version 1: a dry run, a run with a backup, another run.
    // => The first says what the second does; the backup is the store as it was; the last finds nothing to do.
    @Test("says what it will do, does it with a copy beside it, and finds nothing more to do")
    func migrates() async throws {
        let wanted = version("Library")
        let plan = try await Run("store", "migrate", store, "--to", wanted, "--dry-run")
        let words = plan.lines.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(words == ["Book.title was name 1 in place", "Book.pages is gone, and its values with it 1 in place"], "\(plan.errors)")
        #expect(try await Run("store", "verify", store, "--model", wanted).status == 1)
        let run = try await Run("store", "migrate", store, "--to", wanted, "--backup")
        #expect(run.status == 0 && run.lines.last == "The store is migrated.", "\(run.output)\(run.errors)")
        #expect(try await Run("store", "verify", store, "--model", wanted).lines == ["The store is sound."])
        #expect(try await Run("store", "sql", store, "SELECT {Book.title} FROM {Book}").lines.last == "Emma")
        #expect(try await Run("store", "verify", store + ".backup", "--model", library.model).lines == ["The store is sound."])
        let again = try await Run("store", "migrate", store, "--to", wanted)
        #expect(again.lines == ["The store opens as it is: the version hashes are the same."])
        let back = try await Run("store", "migrate", store, "--to", library.model, "--from", wanted, "--backup")
        #expect(back.status == 2 && back.errors.contains("There is a backup already"), "\(back.output)\(back.errors)")
    }

    // * Several processes migrate one store at once.
    // => One does it, and the others find it done.
    @Test("is done once, though several processes do it at a time")
    func atOnce() async throws {
        let wanted = version("Library")
        let failures = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<4 {
                group.addTask { [store] in
                    let run = try await Run("store", "migrate", store, "--to", wanted)
                    return run.status == 0 ? [] : [run.output + run.errors]
                }
            }
            return try await group.reduce([], +)
        }
        #expect(failures == [String]())
        #expect(try await Run("store", "verify", store, "--model", wanted).lines == ["The store is sound."])
        #expect(try await Run("store", "sql", store, "SELECT {Book.title} FROM {Book}").lines.last == "Emma")
    }

    // * The process is killed at random moments, the later the nearer to its end; `MIGRATION_KILLS` says how often.
    // => The store is whole, and of one of the two versions; the next attempt goes on from there.
    @Test("leaves the old store or the new one where its process is killed at any moment")
    func killed() async throws {
        let wanted = version("Library")
        let rows = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        let fill =
            "\(rows) INSERT INTO ZBOOK(Z_PK, Z_ENT, Z_OPT, ZNAME, ZPAGES) SELECT i, (SELECT Z_ENT FROM ZBOOK), 1, 'book ' || i, i FROM n"
        let sql = ["\(fill);", "UPDATE Z_PRIMARYKEY SET Z_MAX = 20000 WHERE Z_NAME = 'Book';", "PRAGMA wal_checkpoint(TRUNCATE);"]
        let filled = try await Run(URL(fileURLWithPath: "/usr/bin/sqlite3"), [store, sql.joined(separator: " ")])
        try #require(filled.status == 0, "\(filled.errors)")
        let whole = library.folder.path("whole.sqlite")
        try FileManager.default.copyItem(atPath: store, toPath: whole)
        let begin = Date()
        try #require(try await Run("store", "migrate", whole, "--to", wanted).status == 0)
        let time = Date().timeIntervalSince(begin)
        for number in 0..<(Int(ProcessInfo.processInfo.environment["MIGRATION_KILLS"] ?? "") ?? 8) {
            let copy = library.folder.path("\(number).sqlite")
            try FileManager.default.copyItem(atPath: store, toPath: copy)
            let moment = String(format: "%.3f", time * Double.random(in: 0.2...1.1))
            let script = "timeout -s KILL \(moment) \"$0\" store migrate \"$1\" --to \"$2\""
            _ = try await Run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", script, Places.products.appendingPathComponent("coredata").path, copy, wanted]
            )
            let check = try await Run(
                URL(fileURLWithPath: "/usr/bin/sqlite3"),
                [copy, "PRAGMA integrity_check; SELECT count(*) FROM ZBOOK"]
            )
            #expect(check.lines == ["ok", "20000"], "after \(moment) s: \(check.output)\(check.errors)")
            let isNew = try await Run("store", "verify", copy, "--model", wanted).status == 0
            if !isNew { #expect(try await Run("store", "verify", copy, "--model", library.model).status == 0, "after \(moment) s") }
            let again = try await Run("store", "migrate", copy, "--to", wanted)
            #expect(again.status == 0, "after \(moment) s: \(again.errors)")
            #expect(try await Run("store", "verify", copy, "--model", wanted).lines == ["The store is sound."])
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
        }
    }

    @Test("answers no, with the reasons, where no mapping can be inferred, and for another's model")
    func refuses() async throws {
        let run = try await Run("store", "migrate", store, "--to", version("Library 3"))
        #expect(run.status == 1 && run.lines.contains("! Book.title is Date and was String"), "\(run.output)\(run.errors)")
        let other = try await Run("store", "migrate", store, "--to", version("Library"), "--from", version("Library 3"))
        #expect(other.status == 2 && other.errors.contains("was written with another model"), "\(other.output)\(other.errors)")
        #expect(try await Run("store", "verify", store, "--model", library.model).status == 0)
    }

    // * A store of books and people is to be brought to a model that has neither, and to one that has people; dry, and in earnest.
    // => What would be lost is told; where nothing would be left, it is refused, and the store is what it was, unless it is asked for.
    @Test("says whose objects are lost, and drops all only where that is asked for")
    func loss() async throws {
        try library.folder.write(model("Invoice"), to: "Other.xcdatamodel/contents")
        try library.folder.write(model("Person"), to: "People.xcdatamodel/contents")
        let (other, people) = (library.folder.path("Other.xcdatamodel"), library.folder.path("People.xcdatamodel"))
        for options in [["--dry-run"], ["--backup"]] {
            let run = try await Run(["store", "migrate", store, "--to", other] + options)
            let told = run.lines.filter { $0.hasPrefix("!") }
            #expect(run.status == 1, "\(run.output)\(run.errors)")
            #expect(told == ["! All objects of Book will be lost: 1", "! All objects of Person will be lost: 1"], "\(run.output)")
        }
        #expect(!FileManager.default.fileExists(atPath: store + ".backup"))
        #expect(try await Run("store", "verify", store, "--model", library.model).lines == ["The store is sound."])
        let run = try await Run("store", "migrate", store, "--to", people)
        #expect(run.lines.filter { $0.hasPrefix("!") } == ["! All objects of Book will be lost: 1"])
        #expect(run.status == 0 && run.lines.last == "The store is migrated.", "\(run.output)\(run.errors)")
        #expect(try await Run("store", "sql", store, "SELECT {Person.name} FROM {Person}").lines.last == "Jane")
        let all = try await Run("store", "migrate", store, "--to", other, "--drop-entities")
        #expect(all.status == 0 && all.lines.last == "The store is migrated.", "\(all.output)\(all.errors)")
    }

    private func model(_ entity: String) -> String {
        "<model><entity name=\"\(entity)\"><attribute name=\"name\" attributeType=\"String\"/></entity></model>"
    }
}

@Suite("coredata store migrate --mapping")
struct MigrateByMappingTests {
    /// People only: their names become those of authors; books are left out.
    private static let mapping = """
        <?xml version="1.0" standalone="yes"?>
        <database>
            <object type="XDDEVMAPPINGMODEL" id="z1">
                <relationship name="entitymappings" destination="XDDEVENTITYMAPPING" idrefs="z2"></relationship>
            </object>
            <object type="XDDEVENTITYMAPPING" id="z2">
                <attribute name="sourcename" type="string">Person</attribute>
                <attribute name="destinationname" type="string">Person</attribute>
                <attribute name="mappingnumber" type="int16">1</attribute>
                <relationship name="attributemappings" destination="XDDEVATTRIBUTEMAPPING" idrefs="z3"></relationship>
            </object>
            <object type="XDDEVATTRIBUTEMAPPING" id="z3"><attribute name="name" type="string">name</attribute></object>
        </database>
        """

    // * Between the two versions nothing can be inferred.
    // => The plan has a line for each entity mapping, and then that is done; what is no mapping model is refused.
    @Test("says what becomes of the objects, and does it")
    func mapped() async throws {
        let library = try LibraryStore()
        let wanted = library.folder.path("Library.xcdatamodeld/Library 3.xcdatamodel")
        let mapping = library.folder.file("People.xcmappingmodel")
        try FileManager.default.createDirectory(at: mapping, withIntermediateDirectories: true)
        try Data(Self.mapping.utf8).write(to: mapping.appendingPathComponent("xcmapping.xml"))
        let none = try await Run("store", "migrate", library.store, "--to", wanted, "--mapping", library.model)
        #expect(none.status == 2 && none.errors.contains("There is no mapping model at"), "\(none.output)\(none.errors)")
        let plan = try await Run("store", "migrate", library.store, "--to", wanted, "--mapping", mapping.path, "--dry-run")
        let words = plan.lines.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(words == ["PersonToPerson Person: 1 attributes, 0 relationships 1 as rows"], "\(plan.errors)")
        let run = try await Run("store", "migrate", library.store, "--to", wanted, "--mapping", mapping.path, "--backup")
        #expect(run.status == 0 && run.lines.last == "The store is migrated.", "\(run.output)\(run.errors)")
        #expect(try await Run("store", "verify", library.store, "--model", wanted).lines == ["The store is sound."])
        #expect(try await Run("store", "sql", library.store, "SELECT {Person.name} FROM {Person}").lines.last == "Jane")
        #expect(try await Run("store", "verify", library.store + ".backup", "--model", library.model).lines == ["The store is sound."])
    }
}
