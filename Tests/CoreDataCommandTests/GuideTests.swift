import Foundation
import TestSupport
import Testing

@Suite("The guide to models")
struct GuideTests {
    private let guide: String

    init() throws { guide = try String(contentsOf: Places.package.appendingPathComponent("docs/guides/Models.md"), encoding: .utf8) }

    @Test("shows Swift that the example package has, which is built in these tests")
    func isCompiled() throws {
        let example = Places.package.appendingPathComponent("Tests/Fixtures/Bookshelf")
        let files = try #require(FileManager.default.enumerator(at: example, includingPropertiesForKeys: nil)).compactMap { $0 as? URL }
        let sources = try files.filter { $0.pathExtension == "swift" }.map { try String(contentsOf: $0, encoding: .utf8) }
        let shown = guide.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "\n```").first }
        #expect(shown.count == 6)
        for snippet in shown { #expect(sources.contains { $0.contains(snippet + "\n") }, "\(snippet)") }
    }

    @Test("names every subcommand, and none that is not there")
    func commands() async throws {
        let named = Set(guide.matches(of: /`coredata (model|store) ([a-z]+)/).map { "\($0.1) \($0.2)" })
        var known: Set<String> = []
        for group in ["model", "store"] {
            let help = try await Run(group, "--help").output
            let list = help.components(separatedBy: "SUBCOMMANDS:").last ?? ""
            known.formUnion(list.matches(of: #/(?m)^  ([a-z]+)[, ]/#).map { "\(group) \($0.1)" })
        }
        #expect(named == known && known.count == 15)
    }
}
