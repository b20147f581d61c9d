import Foundation
import TestSupport
import Testing

@Suite("The build tool plugin")
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
        let example = folder.file("Bookshelf")
        try FileManager.default.copyItem(at: Places.package.appendingPathComponent("Tests/Fixtures/Bookshelf"), to: example)
        try replace("\"../../..\"", with: "\"\(Places.package.path)\"", in: example.appendingPathComponent("Package.swift"))
        try await expectOutput(of: example)
        // NB: the first build makes the tool, and the second one sees that it is new.
        try await expectOutput(of: example)
        let again = try await expectOutput(of: example)
        for work in ["data model", "Adopting", "Compiling Bookshelf"] { #expect(!again.errors.contains(work), "\(again.errors)") }

        let sources = example.appendingPathComponent("Sources/Bookshelf")
        try replace("name=\"title\"", with: "name=\"heading\"", in: sources.appendingPathComponent(model))
        try replace("emma.title", with: "emma.heading", in: sources.appendingPathComponent("main.swift"))
        try replace("book.title", with: "book.heading", in: sources.appendingPathComponent("main.swift"))
        let changed = try await expectOutput(of: example)
        #expect(changed.errors.contains("data model Library") && !changed.errors.contains("data model Catalog"), "\(changed.errors)")

        try replace("</model>", with: "</mode>", in: sources.appendingPathComponent(model))
        let failed = try await run(example)
        #expect(failed.status != 0 && "\(failed.output)\(failed.errors)".contains("\(model), line 13: "), "\(failed.errors)")
    }

    private let model = "Library.xcdatamodeld/Library 2.xcdatamodel/contents"

    @discardableResult private func expectOutput(of example: URL) async throws -> Run {
        let run = try await run(example)
        #expect(run.status == 0 && !run.errors.contains("warning:"), "\(run.output)\n\(run.errors)")
        #expect(
            run.output == """
                Emma, 474 pages. I am Jane
                The resource is the same model: true
                Other loans of each reader: [1, 0, 1]
                In the attic, 12 kg:
                novels (full) with maps and letters

                """
        )
        return run
    }

    /// The dependencies are built once for all runs of this test.
    private func run(_ example: URL) async throws -> Run {
        let scratch = Places.package.appendingPathComponent(".build/examples").path
        let arguments = ["swift", "run", "--package-path", example.path, "--scratch-path", scratch]
        return try await Run(URL(fileURLWithPath: "/usr/bin/env"), arguments)
    }

    private func replace(_ text: String, with other: String, in url: URL) throws {
        let old = try String(contentsOf: url, encoding: .utf8)
        try #require(old.contains(text))
        try Data(old.replacingOccurrences(of: text, with: other).utf8).write(to: url)
    }
}
