import Foundation
import Testing

@Suite("The build tool plugin")
struct PluginTests {
    // * A package that has this one as a dependency by path, and a model among its sources, is built and run.
    // * An attribute gets another name, in the model and in the program.
    // => Both runs print what they should: classes, embedded model and resource are of the model as it is.
    @Test("makes a package's classes and compiled model, and makes them again when the model changes", .timeLimit(.minutes(30)))
    func bookshelf() throws {
        let folder = try TemporaryFolder()
        let example = folder.file("Bookshelf")
        try FileManager.default.copyItem(at: Self.root.appendingPathComponent("Examples/Bookshelf"), to: example)
        try replace("\"../..\"", with: "\"\(Self.root.path)\"", in: example.appendingPathComponent("Package.swift"))
        try expectOutput(of: example)

        let sources = example.appendingPathComponent("Sources/Bookshelf")
        try replace("name=\"title\"", with: "name=\"heading\"", in: sources.appendingPathComponent(model))
        try replace("emma.title", with: "emma.heading", in: sources.appendingPathComponent("main.swift"))
        try replace("book.title", with: "book.heading", in: sources.appendingPathComponent("main.swift"))
        try expectOutput(of: example)
    }

    private let model = "Library.xcdatamodeld/Library 2.xcdatamodel/contents"

    private func expectOutput(of example: URL) throws {
        // The dependencies are built once for all runs of this test.
        let scratch = Self.root.appendingPathComponent(".build/examples").path
        let arguments = ["swift", "run", "--package-path", example.path, "--scratch-path", scratch]
        let run = try Run(URL(fileURLWithPath: "/usr/bin/env"), arguments)
        #expect(run.status == 0, "\(run.output)\n\(run.errors)")
        #expect(run.output == "Emma, 474 pages. I am Jane\nThe resource is the same model: true\n")
    }

    private func replace(_ text: String, with other: String, in url: URL) throws {
        let old = try String(contentsOf: url, encoding: .utf8)
        try #require(old.contains(text))
        try Data(old.replacingOccurrences(of: text, with: other).utf8).write(to: url)
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
