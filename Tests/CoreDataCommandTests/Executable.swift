import Foundation

/// A run of the built `coredata` command.
struct Run {
    let status: Int32
    let output: String
    let errors: String
    /// Whether it ended by a signal, as a trap does.
    let crashed: Bool

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Runs the command to its end with output that is no terminal. No thread of the tests waits for it.
    init(_ arguments: String...) async throws { try await self.init(arguments) }

    init(_ arguments: [String]) async throws { try await self.init(Self.executable, arguments) }

    /// Runs a program, in a folder if one is given.
    init(_ executable: URL, _ arguments: [String], in directory: URL? = nil) async throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        if let directory { process.currentDirectoryURL = directory }
        let folder = try TemporaryFolder()
        let (output, errors) = (folder.file("output"), folder.file("errors"))
        // Files, not pipes: a pipe that nobody empties stops its writer.
        for url in [output, errors] { try Data().write(to: url) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = FileHandle.nullDevice
        try await process.runToEnd()
        status = process.terminationStatus
        crashed = process.terminationReason == .uncaughtSignal
        self.output = try String(contentsOf: output, encoding: .utf8)
        self.errors = try String(contentsOf: errors, encoding: .utf8)
    }

    /// The build puts the command beside the tests.
    private static let executable: URL = {
        let tests = CommandLine.arguments.map { URL(fileURLWithPath: $0) }.first { $0.path.hasSuffix(".xctest") }
        return (tests ?? Bundle.main.bundleURL).deletingLastPathComponent().appendingPathComponent("coredata")
    }()
}

extension Process {
    fileprivate func runToEnd() async throws {
        try await withCheckedThrowingContinuation { (end: CheckedContinuation<Void, any Error>) in
            terminationHandler = { _ in end.resume() }
            do { try run() } catch { end.resume(throwing: error) }
        }
    }
}

/// A folder of its own, removed with the object.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-tests-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }

    deinit {
        // A temporary folder that cannot be removed is the system's to clear away.
        try? FileManager.default.removeItem(at: url)
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }
    func path(_ name: String) -> String { file(name).path }

    /// The names of what is in a folder of it.
    func contents(_ name: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: name.isEmpty ? url.path : path(name)).sorted()
    }
}
