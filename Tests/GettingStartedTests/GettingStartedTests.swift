import Foundation
import Testing

@Suite("The guide for beginners")
struct GettingStartedTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private let guide: Guide

    init() throws {
        guide = Guide(try String(contentsOf: Self.root.appendingPathComponent("docs/guides/GettingStarted.md"), encoding: .utf8))
    }

    @Test("asks for less than 40 lines of shell and Swift")
    func length() {
        #expect((20..<40).contains(guide.lineCount), "\(guide.lineCount)")
    }

    // * In an empty folder, somebody writes the guide's files and types its commands; then the last ones again.
    // => The program prints what the guide says, at the first and at the second run.
    @Test("ends in a running program, if its text is followed to the letter", .timeLimit(.minutes(30)))
    func program() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("GettingStarted-\(UUID())", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        var (commands, printed, expected) = ("", [String](), [String]())
        for step in guide.steps {
            switch step {
            case .shell(let text):
                let run = try await Shell(commands + text, in: folder, environment: environment(folder))
                try #require(run.status == 0, "\(run.output)\n\(run.errors)")
                if text.contains("swift run") { printed.append(run.output) } else { commands += text }
            case .file(let path, let content):
                try Data(content.utf8).write(to: folder.appendingPathComponent(path))
            case .output(let text): expected.append(text)
            }
        }
        let again = try await Shell(commands + "swift run", in: folder, environment: environment(folder))
        #expect(printed + [again.output] == expected, "\(again.errors)")
    }

    /// Where the package is, and where the reader's data is. The dependencies are built once for all runs of this test.
    private func environment(_ folder: URL) -> [String: String] {
        [
            "COREDATA": Self.root.path, "XDG_DATA_HOME": folder.appendingPathComponent("data").path,
            "SWIFTPM_BUILD_DIR": Self.root.appendingPathComponent(".build/guide").path,
        ]
    }
}
