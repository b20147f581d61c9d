import Foundation

/// A run of the built `wordnet` command.
struct Run {
    let status: Int32
    let output: String
    let errors: String

    /// Runs the command to its end with output that is no terminal. No thread of the tests waits for it.
    init(_ arguments: String...) async throws { try await self.init(arguments) }

    init(_ arguments: [String]) async throws {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = arguments
        let folder = try TemporaryFolder()
        let (output, errors) = (folder.file("output"), folder.file("errors"))
        // Files, not pipes: a pipe that nobody empties stops its writer.
        for url in [output, errors] { try Data().write(to: url) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try await withCheckedThrowingContinuation { (end: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in end.resume() }
            do { try process.run() } catch { end.resume(throwing: error) }
        }
        status = process.terminationStatus
        self.output = try String(contentsOf: output, encoding: .utf8)
        self.errors = try String(contentsOf: errors, encoding: .utf8)
    }

    /// The build puts the command beside the tests.
    private static let executable: URL = {
        let tests = CommandLine.arguments.map { URL(fileURLWithPath: $0) }.first { $0.path.hasSuffix(".xctest") }
        return (tests ?? Bundle.main.bundleURL).deletingLastPathComponent().appendingPathComponent("wordnet")
    }()
}

/// A folder of its own, removed with the object.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("wordnet-tests-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        // A temporary folder that cannot be removed is the system's to clear away.
        try? FileManager.default.removeItem(at: url)
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// The names of what is in it.
    func contents() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
}
