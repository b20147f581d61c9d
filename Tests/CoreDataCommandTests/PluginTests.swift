import Foundation
import TestSupport
import Testing

// One after the other: they build in one folder.
@Suite("The build tool plugin", .serialized)
struct PluginTests {
    // * A package that has this one as a dependency by path, with models among its sources and classes as Xcode writes them, is built
    //   and run.
    // * It is run again and again.
    // => Nothing is made again.
    // * An attribute gets another name, in the model and in the program.
    // => Both runs print what they should: classes, embedded model and resource are of the model as it is.
    // * The model is damaged.
    // => The build fails and tells the line.
    @Test("makes a package's classes and compiled models, and makes them again when a model changes", .timeLimit(.minutes(30)))
    func bookshelf() async throws {
        let folder = try TemporaryFolder()
        let example = try copyExample(to: folder)
        try await expectOutput(of: example)
        // NB: the first build makes the tool, and the second one sees that it is new.
        try await expectOutput(of: example)
        let again = try await expectOutput(of: example)
        for work in ["data model", "Making sources", "Compiling Bookshelf"] { #expect(!again.errors.contains(work), "\(again.errors)") }

        let sources = example.appendingPathComponent("Sources/Bookshelf")
        try replace("name=\"title\"", with: "name=\"heading\"", in: sources.appendingPathComponent(model))
        let mapping = sources.appendingPathComponent("Library1to2.xcmappingmodel/xcmapping.xml")
        try replace(">title</attribute>", with: ">heading</attribute>", in: mapping)
        try replace("emma.title", with: "emma.heading", in: sources.appendingPathComponent("main.swift"))
        try replace("book.title", with: "book.heading", in: sources.appendingPathComponent("main.swift"))
        let changed = try await expectOutput(of: example)
        #expect(changed.errors.contains("data model Library") && !changed.errors.contains("data model Catalog"), "\(changed.errors)")

        try replace("</model>", with: "</mode>", in: sources.appendingPathComponent(model))
        let failed = try await run(example)
        #expect(failed.status != 0 && "\(failed.output)\(failed.errors)".contains("\(model):13:1: error: "), "\(failed.errors)")
    }

    // * A model, the options and the excluded files have mistakes, one after the other.
    // => The build fails before anything is compiled, with the place of the mistake and what could stand there.
    // * A mandatory attribute gets no default.
    // => The build warns of it, unless the options say that it should not.
    @Test("tells mistakes and warnings at their places", .timeLimit(.minutes(30)))
    func mistakes() async throws {
        let folder = try TemporaryFolder()
        let example = try copyExample(to: folder)
        let sources = example.appendingPathComponent("Sources/Catalog")
        let (contents, options) = ("Catalog.xcdatamodeld/Catalog.xcdatamodel/contents", ".coredata.json")
        let mistakes = [
            Mistake(
                "../../Package.swift",
                "[\"Xcode\"]",
                "[\"Xcode/BoxView.swift\"]",
                "target Catalog: exclude: [\"Xcode/Box+Habits.swift\"]"
            ),
            Mistake(
                contents,
                "label\" optional=",
                "label\" optionl=",
                "\(contents):5:1: error: optionl is no attribute of <attribute>: is optional meant?"
            ),
            Mistake(
                contents,
                "\"Date\"",
                "\"Dat\"",
                "\(contents):6:1: error: attributeType=\"Dat\" of <attribute> is no type of attributes. There are Int"
            ),
            Mistake(options, "\"style\"", "\"stile\"", "\(options):2:1: error: stile is no key: is style meant?"),
            Mistake(options, "\"swift\"", "\"Swift\"", "\(options):2:1: error: style is \"xcode\" or \"swift\", not Swift"),
            Mistake(options, "[\"Xcode/BoxView.swift\"]", "[]", "warning: the file is left out, because Linux has no ", isError: false),
            Mistake(
                "Xcode/Box+Habits.swift",
                "Box.shelf.place",
                "Box.shelf.plaec",
                "Box+Habits.swift:14:51: error: Shelf has no plaec in the model: is place meant?"
            ),
            Mistake(
                contents,
                " defaultValueString=\"\"",
                "",
                "\(contents):13:1: warning: Shelf.place is mandatory and has no default",
                isError: false
            ),
        ]
        for mistake in mistakes {
            let file = sources.appendingPathComponent(mistake.file)
            let original = try Data(contentsOf: file)
            try replace(mistake.right, with: mistake.wrong, in: file)
            let run = try await build(example, "Catalog")
            #expect(
                (run.status != 0) == mistake.isError && "\(run.output)\(run.errors)".contains(mistake.message),
                "\(run.output)\(run.errors)"
            )
            if mistake.isError { #expect(!"\(run.output)\(run.errors)".contains("Compiling Catalog")) }
            try original.write(to: file)
        }
    }

    // * A package has sources that were written for a Mac without a thought for Linux; those with @objc are excluded.
    // => It is built and run, and prints what it should.
    @Test("builds a program written by habit for a Mac", .timeLimit(.minutes(30)))
    func programsFromAMac() async throws {
        let folder = try TemporaryFolder()
        let package = try copyExample("Mac", to: folder)
        for (name, output) in MacPrograms.outputs {
            let run = try await swift("run", package, after: [name])
            #expect(run.status == 0 && run.output == output, "\(run.output)\n\(run.errors)")
        }
    }

    @Test("has the command for a package beside it: swift package coredata …", .timeLimit(.minutes(30)))
    func command() async throws {
        let folder = try TemporaryFolder()
        let example = try copyExample(to: folder)
        let hashes = try await swift("package", example, after: ["coredata", "model", "hashes", "Sources/Catalog/Ledger.xcdatamodel"])
        #expect(hashes.status == 0 && hashes.output.hasPrefix("Loan\t"), "\(hashes.output)\(hashes.errors)")
        let dash = try await swift("package", example, after: ["coredata", "store", "sql", "No.sqlite", "-"])
        #expect(dash.status != 0 && "\(dash.output)\(dash.errors)".contains("SwiftPM hands no standard input on"), "\(dash.errors)")
        let none = try await swift("package", example, after: ["coredata", "model", "hashes", "No.xcdatamodel"])
        #expect(none.status != 0 && "\(none.output)\(none.errors)".contains("No.xcdatamodel"), "\(none.output)\(none.errors)")
    }

    private struct Mistake {
        let file, right, wrong, message: String
        let isError: Bool

        init(_ file: String, _ right: String, _ wrong: String, _ message: String, isError: Bool = true) {
            (self.file, self.right, self.wrong, self.message, self.isError) = (file, right, wrong, message, isError)
        }
    }

    private let model = "Library.xcdatamodeld/Library 2.xcdatamodel/contents"

    @discardableResult private func expectOutput(of example: URL) async throws -> Run {
        let run = try await run(example)
        #expect(run.status == 0 && !run.errors.contains("warning:"), "\(run.output)\n\(run.errors)")
        #expect(
            run.output == """
                Emma, 474 pages. I am Jane
                Sorted by ["pages"], and pages
                The resource is the same model: true
                Other loans of each reader: [1, 0, 1]
                A new shelf is nowhere.
                In the attic, 12 kg:
                novels (full) with maps and letters
                A new box is unnamed.
                place
                novels
                <maps>
                label.length == 4 AND weight > 1
                Persuasion has 10 pages now.

                """
        )
        return run
    }

    private func copyExample(_ name: String = "Bookshelf", to folder: TemporaryFolder) throws -> URL {
        let example = folder.file(name)
        try FileManager.default.copyItem(at: Places.package.appendingPathComponent("Tests/Fixtures/\(name)"), to: example)
        try replace("\"../../..\"", with: "\"\(Places.package.path)\"", in: example.appendingPathComponent("Package.swift"))
        return example
    }

    private func run(_ example: URL) async throws -> Run { try await swift("run", example) }
    private func build(_ example: URL, _ target: String) async throws -> Run {
        try await swift("build", example, after: ["--target", target])
    }

    /// The dependencies are built once for all runs of these tests.
    private func swift(_ verb: String, _ example: URL, after: [String] = []) async throws -> Run {
        let scratch = Places.package.appendingPathComponent(".build/examples").path
        let arguments = ["swift", verb, "--package-path", example.path, "--scratch-path", scratch] + after
        return try await Run(URL(fileURLWithPath: "/usr/bin/env"), arguments)
    }

    private func replace(_ text: String, with other: String, in url: URL) throws {
        let old = try String(contentsOf: url, encoding: .utf8)
        try #require(old.contains(text))
        try Data(old.replacingOccurrences(of: text, with: other).utf8).write(to: url)
    }
}
