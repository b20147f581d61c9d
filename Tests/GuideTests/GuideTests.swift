import Foundation
import TestSupport
import Testing

@Suite("Guides")
struct GuideTests {
    private static let names = [
        "CustomStores", "Importing", "LifeCycle", "ManyProcesses", "Migration", "PredicatesAndSorts", "QueryGenerations",
        "SharingCodeWithAMac", "Testing", "Transformers", "Uniqueness",
    ]

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Places.package.appendingPathComponent(path), encoding: .utf8)
    }

    private static func sources() throws -> [String] {
        try ["Tests/GuideTests", "Tests/Fixtures/Mac", "Tests/CoreDataTests/Documentation"].flatMap { folder in
            let place = Places.package.appendingPathComponent(folder)
            let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
            return try files.filter { $0.pathExtension == "swift" }.map { try String(contentsOf: $0, encoding: .utf8) }
        }
    }

    /// Without what stands left of all lines of a snippet, or of the source that has it.
    private static func lines(_ text: some StringProtocol) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    @Test("show Swift that these tests compile and run", arguments: names)
    func areCompiled(name: String) throws {
        let guide = try Self.text("docs/guides/\(name).md")
        let shown = guide.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "\n```").first }
        let sources = try Self.sources().map(Self.lines)
        #expect(!shown.isEmpty)
        for snippet in shown { #expect(sources.contains { $0.contains(Self.lines(snippet) + "\n") }, "\(snippet)") }
    }

    @Test("are all named in the README, and lead to files that are there")
    func links() throws {
        let readme = try Self.text("README.md")
        for name in Self.names + ["Fetching", "GettingStarted", "ImportingByKey", "Models", "ModelsInCode", "ThreeLayerStack"] {
            #expect(readme.contains("docs/guides/\(name).md"), "\(name)")
            let guide = try Self.text("docs/guides/\(name).md")
            for link in guide.matches(of: /\]\(([^)#:]+)\)/).map({ String($0.1) }) {
                let file = Places.package.appendingPathComponent("docs/guides").appendingPathComponent(link).standardizedFileURL
                #expect(FileManager.default.fileExists(atPath: file.path), "\(name): \(link)")
            }
        }
    }
}
