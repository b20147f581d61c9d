import Foundation

/// A run of commands in a folder, as somebody types them.
struct Shell {
    let status: Int32
    let output: String
    let errors: String

    /// Runs commands to their end. No thread of the tests waits for them.
    init(_ commands: String, in folder: URL, environment: [String: String]) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-euo", "pipefail", "-c", commands]
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (folder.appendingPathComponent(".output"), folder.appendingPathComponent(".errors"))
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
}
