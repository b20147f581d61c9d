import CoreData
import Foundation
import ModelFormat
import TestSupport
import Testing

@Suite("coredata model")
struct ModelCommandTests {
    private let folder: TemporaryFolder
    private var library: String { folder.path("Library.xcdatamodeld") }

    init() throws {
        folder = try TemporaryFolder()
        try Library.write(to: folder.file("Library.xcdatamodeld"))
    }

    @Test("explains itself, and each of its subcommands")
    func help() async throws {
        #expect(try await Run("--help").output.contains("  model "))
        for name in ["compile", "generate", "hashes", "print", "diff", "check", "draw", "adopt"] {
            let run = try await Run("model", name, "--help")
            #expect(run.status == 0 && run.output.hasPrefix("OVERVIEW: "), "\(name)")
        }
    }

    @Test("compiles all versions into a bundle that can be read, with the modules of classes, again and again")
    func compile() async throws {
        for _ in 1...2 {
            let run = try await Run("model", "compile", library, "-o", folder.path("out/Library.momd"), "--module", "App")
            #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty)
        }
        #expect(try folder.contents("out") == ["Library.momd"])
        #expect(try folder.contents("out/Library.momd") == ["Library 2.mom", "Library 3.mom", "Library.mom", "VersionInfo.plist"])
        let bundle = try ModelBundle(compiled: folder.file("out/Library.momd"))
        #expect(bundle.currentVersion == "Library 2" && bundle.currentModel?.entities.map(\.className) == ["App.Book", "App.Person"])
        let model = try NSManagedObjectModel(reading: folder.file("out/Library.momd"))
        #expect(bundle.versionHashes["Library 2"] == model.entityVersionHashesByName)
        #expect(bundle.versionChecksums["Library 2"] == model.versionChecksum)
    }

    @Test("leaves alone what is at the place and no compiled model")
    func compileOverOther() async throws {
        try FileManager.default.createDirectory(at: folder.file("Mine.momd"), withIntermediateDirectories: false)
        let run = try await Run("model", "compile", library, "-o", folder.path("Mine.momd"))
        #expect(run.status == 2 && run.errors.contains("is no compiled model"))
        #expect(try folder.contents() == ["Library.xcdatamodeld", "Mine.momd"])
    }

    @Test("generates a file for each class and its properties, and one for the model")
    func generate() async throws {
        let run = try await Run("model", "generate", library, "-o", folder.path("Sources"), "--public", "--module", "App")
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            try folder.contents("Sources") == [
                "Book+CoreDataClass.swift", "Book+CoreDataProperties.swift", "Library+CoreDataModel.swift", "Person+CoreDataClass.swift",
                "Person+CoreDataProperties.swift",
            ]
        )
        let text = try String(contentsOf: folder.file("Sources/Book+CoreDataProperties.swift"), encoding: .utf8)
        #expect(text.contains("    public var authors: NSOrderedSet? {\n"))
        #expect(try await Run("model", "generate", library, "-o", folder.path("One"), "--one-file", "--style", "swift").status == 0)
        #expect(try folder.contents("One") == ["Library+CoreDataModel.swift"])
    }

    @Test("prints the hashes of Apple's Core Data", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func hashes() async throws {
        let compiled = try ModelBundle(compiled: Fixtures.url("samplemodel/SampleModel.momd"))
        for (version, hashes) in compiled.versionHashes {
            let expected = hashes.mapValues { $0.map { String(format: "%02x", $0) }.joined() }
            for path in ["SampleModel.momd/\(version).mom", "SampleModel.xcdatamodeld/\(version).xcdatamodel"] {
                let run = try await Run("model", "hashes", Fixtures.url("samplemodel/\(path)").path)
                #expect(run.lines == expected.sorted { $0.key < $1.key }.map { "\($0.key)\t\($0.value)" }, "\(path)")
            }
        }
    }

    @Test("prints hashes that stores have", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"), arguments: Vectors.models)
    func vectors(path: String, source: String) async throws {
        let expected = try Vectors.hashes(of: source)
        // Either name will do.
        let run = try await Run("model", "hash", "--json", Fixtures.url(path).path)
        let hashes = try JSONDecoder().decode([String: String].self, from: Data(run.output.utf8))
        #expect(!expected.isEmpty && hashes == expected)
    }

    @Test("prints a model to read")
    func print() async throws {
        let run = try await Run("model", "print", library)
        #expect(
            run.output == """
                model Library, version Library 2; also Library, Library 3

                entity Book (class Book, generated class)
                  name     String?     was title
                  pages    Integer 32  = 0
                  authors  [Person]    ↔ books

                entity Person (class Person, generated class)
                  name   String     = ""
                  books  Set<Book>  ↔ authors

                """
        )
    }

    @Test("says what a migration would do, and when it takes a mapping")
    func diff() async throws {
        let run = try await Run("model", "diff", library + "/Library.xcdatamodel", library)
        #expect(run.status == 0)
        #expect(
            run.output == """
                  Book.name   was title
                  Book.pages  is new, with 0 in the objects that are there

                A lightweight migration does it.

                """
        )
        #expect(try await Run("model", "diff", library, library).output == "Stores open as they are: the version hashes are the same.\n")
        let hard = try await Run("model", "diff", library + "/Library.xcdatamodel", library + "/Library 3.xcdatamodel")
        #expect(hard.status == 1)
        #expect(
            hard.output == """
                ! Book.title  is Date and was String
                ! Book.title  becomes mandatory, and has no default

                It takes a mapping model.

                """
        )
        let answer = try await Run("model", "diff", "--json", library + "/Library.xcdatamodel", library + "/Library 3.xcdatamodel")
        #expect(answer.status == 1 && answer.output.contains("\"isLightweight\" : false"))
    }

    @Test("warns, and exits with 1 if there is something to warn of")
    func check() async throws {
        #expect(try await Run("model", "check", library).status == 0)
        let run = try await Run("model", "check", library + "/Library 3.xcdatamodel")
        #expect(run.status == 1 && run.output == "warning: Book.title is mandatory and has no default\n")
        let json = try await Run("model", "check", "--json", library + "/Library 3.xcdatamodel")
        #expect(json.output.contains("\"place\" : \"Book.title\""))
    }

    @Test("draws SVG and Mermaid")
    func draw() async throws {
        let svg = try await Run("model", "draw", library)
        #expect(svg.status == 0 && svg.output.hasPrefix("<svg xmlns=") && svg.output.contains(">authors</text>"))
        #expect(try await Run("model", "draw", library, "-o", folder.path("library.mmd")).status == 0)
        let mermaid = try String(contentsOf: folder.file("library.mmd"), encoding: .utf8)
        #expect(mermaid.contains("    Book \"*\" -- \"*\" Person : authors / books\n"))
        let other = try await Run("model", "draw", library, "-o", folder.path("library.png"))
        #expect(other.status == 64 && other.errors.contains("library.png must end in .svg or .mmd."), "\(other.errors)")
    }

    @Test("adopts files with @NSManaged, all or none, and names the line of what it cannot make")
    func adopt() async throws {
        for name in ["A.swift", "B.swift"] { try Data("import CoreData\n@objc(C) class C {}".utf8).write(to: folder.file(name)) }
        let run = try await Run("model", "adopt", folder.path("A.swift"), folder.path("B.swift"), "-o", folder.path("out"))
        #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty, "\(run.errors)")
        #expect(try folder.contents("out") == ["A+Adopted.swift", "B+Adopted.swift"])
        try Data("class C {\n    @NSManaged func bark()\n}".utf8).write(to: folder.file("B.swift"))
        let refused = try await Run("model", "adopt", folder.path("A.swift"), folder.path("B.swift"), "-o", folder.path("other"))
        #expect(
            refused.status == 2 && refused.errors.hasPrefix("\(folder.path("B.swift")):2:16: error: Method bark is none"),
            "\(refused.errors)"
        )
        #expect(try !folder.contents().contains("other"))
        #expect(try await Run("model", "adopt", folder.path("A.swift"), "/A.swift", "-o", folder.path("out")).status == 2)
    }

    @Test("says in one sentence what is wrong with a file, and exits with 2", arguments: ["hashes", "print", "check", "draw"])
    func unusable(subcommand: String) async throws {
        let missing = try await Run("model", subcommand, folder.path("No.momd"))
        #expect(missing.status == 2 && missing.errors == "Error: There is no model at \(folder.path("No.momd")).\n")
        try Data("<model><entity/></model".utf8).write(to: folder.file("Library.xcdatamodeld/Library 2.xcdatamodel/contents"))
        let damaged = try await Run("model", subcommand, library)
        #expect(damaged.status == 2 && damaged.errors.contains("Library 2.xcdatamodel/contents, line 1: "), "\(damaged.errors)")
        #expect(damaged.output.isEmpty && damaged.errors.split(separator: "\n").count == 1)
        #expect(try await Run("model", subcommand).status == 64)
    }
}

/// Version hashes that stores of Apple's Core Data have.
enum Vectors {
    /// Sources of models, and the stores that were made with them.
    static let models = [
        ("testmodel-m2m/Sample.xcdatamodeld/TestModel.xcdatamodel", "TestModel.sqlite"),
        ("samplemodel/SampleModel.xcdatamodeld/SampleModel.xcdatamodel", "SampleModel_V1.sqlite"),
        ("samplemodel/SampleModel.momd/SampleModel.mom", "SampleModel_V1.sqlite"),
        ("samplemodel/SampleModel.xcdatamodeld/SampleModel2.xcdatamodel", "SampleModel_V2.sqlite"),
        ("samplemodel/SampleModel.momd/SampleModel2.mom", "SampleModel_V2.sqlite"),
        ("moody/Moody.xcdatamodeld/Moody 2.xcdatamodel", "Moody 2.moody"),
        ("moody/Moody.xcdatamodeld/Moody 4.xcdatamodel", "Moody 4.moody"),
        ("bookmarks/BookmarksModel.xcdatamodeld/BookmarksModel.xcdatamodel", "Bookmarks_V1.sqlite"),
        ("bookmarks/BookmarksModel.xcdatamodeld/BookmarksModel 3.xcdatamodel", "Bookmarks_V3.sqlite"),
        ("bookmarks/BookmarksModel.xcdatamodeld/BookmarksModel 4.xcdatamodel", "Bookmarks_V4.sqlite"),
        ("wire/zmessaging.xcdatamodeld", "store2-60-0.wiredatabase"),
    ]

    private struct File: Decodable { let vectors: [Vector] }
    private struct Vector: Decodable { let entity, versionHash, source: String }

    static func hashes(of source: String) throws -> [String: String] {
        let file = try JSONDecoder().decode(File.self, from: Fixtures.data("versionhash-vectors.json"))
        let own = file.vectors.filter { $0.source.split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces) == source } }
        return Dictionary(own.map { ($0.entity, $0.versionHash) }) { first, _ in first }
    }
}
