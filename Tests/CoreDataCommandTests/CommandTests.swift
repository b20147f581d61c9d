import CoreData
import Foundation
import ModelFormat
import TestSupport
import Testing

@Suite("coredata, whatever the subcommand")
struct CommandTests {
    private let library: LibraryStore

    init() throws { library = try LibraryStore() }

    @Test("prints the package's version")
    func version() async throws {
        let run = try await Run("--version")
        #expect(run.status == 0 && run.output == packageVersion + "\n", "\(run.output)\(run.errors)")
    }

    @Test("ends with 2 and a sentence where what it prints cannot be written")
    func fullDisk() async throws {
        let (store, model) = (library.store, library.model)
        let commands = [
            ["--help"], ["--version"], ["model", "--help"], ["model", "hashes", model], ["model", "hashes", model, "--json"],
            ["model", "print", model], ["model", "diff", model, model], ["model", "draw", model], ["model", "check", "--json", model],
            ["store", "info", store], ["store", "info", "--json", store], ["store", "verify", store], ["store", "dump", store],
            ["store", "schema", store], ["store", "sql", store, "SELECT 1"], ["store", "migrate", store, "--to", model, "--dry-run"],
            ["store", "explain", store, "--entity", "Book"], ["browse", store], ["--generate-completion-script", "bash"],
            ["store", "sql", store, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT i FROM n"],
        ]
        let script = "exec \"$0\" \"$@\" > /dev/full"
        for arguments in commands {
            let command = Places.products.appendingPathComponent("coredata").path
            let run = try await Run(URL(fileURLWithPath: "/bin/sh"), ["-c", script, command] + arguments)
            #expect(
                run.status == 2 && run.errors == "Error: Standard output cannot be written: No space left on device.\n",
                "\(arguments): \(run.status) \(run.errors)"
            )
        }
    }

    @Test("ends without a word where nobody reads on, and leaves nothing beside the store")
    func closedPipe() async throws {
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i FROM n"
        let script = "(\"$0\" \"$@\"; echo $? >&2) | head -n 1"
        let command = Places.products.appendingPathComponent("coredata").path
        let run = try await Run(URL(fileURLWithPath: "/bin/sh"), ["-c", script, command, "store", "sql", library.store, rows])
        #expect(run.output == "i\n" && run.errors == "141\n", "\(run.output)\(run.errors)")
        #expect(try library.folder.contents() == ["Library.xcdatamodeld", "library.sqlite"])
    }

    @Test("has its status also where its errors cannot be written")
    func errorsUnwritten() async throws {
        let command = Places.products.appendingPathComponent("coredata").path
        let script = "\"$0\" \"$@\" 2> /dev/full; echo $?"
        let run = try await Run(URL(fileURLWithPath: "/bin/sh"), ["-c", script, command, "store", "info", library.folder.path("none")])
        #expect(run.output == "2\n", "\(run.output)")
    }

    @Test("names the path of what it cannot write")
    func paths() async throws {
        let none = library.folder.path("none/x")
        for arguments in [["draw", library.model, "-o", none + ".svg"], ["compile", library.model, "-o", "/dev/full/x.mom"]] {
            let run = try await Run(["model"] + arguments)
            #expect(run.status == 2 && run.errors.contains(arguments[3]), "\(run.errors)")
        }
    }

    // * Only the store is there; nothing else knows its model.
    @Test("takes the model out of a store that carries it", arguments: ["hashes", "print", "check", "draw"])
    func carried(subcommand: String) async throws {
        let run = try await Run("model", subcommand, library.store)
        let named = try await Run("model", subcommand, library.model)
        #expect(run.status == named.status && (subcommand == "check" || run.output.contains("Book")), "\(run.errors)")
        if subcommand != "print" { #expect(run.output == named.output) }
    }

    @Test("compares a store with the model that is to come, and compiles the model that a store carries")
    func carriedModel() async throws {
        let diff = try await Run("model", "diff", library.store, library.model + "/Library 3.xcdatamodel")
        #expect(diff.status == 1 && diff.output.contains("Book.title"), "\(diff.output)\(diff.errors)")
        #expect(try await Run("model", "diff", library.store, library.model).status == 0)
        #expect(try await Run("model", "compile", library.store, "-o", library.folder.path("out.momd")).status == 0)
        let compiled = try NSManagedObjectModel(reading: library.folder.file("out.momd"))
        let source = try NSManagedObjectModel(reading: library.folder.file("Library.xcdatamodeld"))
        #expect(compiled.entityVersionHashesByName == source.entityVersionHashesByName)
        let none = try await Run("model", "print", library.model + "/Library.xcdatamodel/contents")
        #expect(none.status == 2 && none.errors.contains("no model") && none.errors.contains("no store"), "\(none.errors)")
    }

    @Test("keeps the class of a transformable when it compiles a model")
    func customClass() async throws {
        let contents = """
            <model><entity name="A">
            <attribute name="color" optional="YES" attributeType="Transformable" customClassName="Tint"/>
            </entity></model>
            """
        try library.folder.write(contents, to: "A.xcdatamodel/contents")
        #expect(try await Run("model", "compile", library.folder.path("A.xcdatamodel"), "-o", library.folder.path("A.mom")).status == 0)
        #expect(try await Run("model", "print", library.folder.path("A.mom")).output.contains("of class Tint"))
    }
}
