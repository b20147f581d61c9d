import Foundation
import TestSupport
import Testing

@Suite("The guide for beginners")
struct GettingStartedTests {
    private let guide: Guide

    init() throws {
        guide = Guide(try String(contentsOf: Places.package.appendingPathComponent("docs/guides/GettingStarted.md"), encoding: .utf8))
    }

    @Test("asks for less than 40 lines of shell and Swift")
    func length() {
        #expect((20..<40).contains(guide.lineCount), "\(guide.lineCount)")
    }

    // * In an empty folder, somebody writes the guide's files and types its commands; then the last ones again.
    // => The program prints what the guide says, at the first and at the second run.
    @Test("ends in a running program, if its text is followed to the letter", .timeLimit(.minutes(30)))
    func program() async throws {
        let folder = try TemporaryFolder()
        var (commands, printed, expected) = ("", [String](), [String]())
        for step in guide.steps {
            switch step {
            case .shell(let text):
                let run = try await run(commands + text, in: folder.url)
                try #require(run.status == 0, "\(run.output)\n\(run.errors)")
                if text.contains("swift run") { printed.append(run.output) } else { commands += text }
            case .file(let path, let content):
                try folder.write(content, to: path)
            case .output(let text): expected.append(text)
            }
        }
        let again = try await run(commands + "swift run", in: folder.url)
        #expect(printed + [again.output] == expected, "\(again.errors)")
    }

    /// Runs commands in a folder, as somebody types them. Where the package is, and where the reader's data is, is in the environment. The
    /// dependencies are built once for all runs of this test.
    private func run(_ commands: String, in folder: URL) async throws -> Run {
        let environment = [
            "COREDATA": Places.package.path, "XDG_DATA_HOME": folder.appendingPathComponent("data").path,
            "SWIFTPM_BUILD_DIR": Places.package.appendingPathComponent(".build/guide").path,
        ]
        let shell = URL(fileURLWithPath: "/bin/bash")
        return try await Run(shell, ["-euo", "pipefail", "-c", commands], in: folder, environment: environment)
    }
}
