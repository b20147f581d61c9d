import Foundation

/// A run of a program to its end.
public struct Run {
    public let status: Int32
    public let output: String
    public let errors: String
    /// Whether it ended by a signal, as a trap does.
    public let crashed: Bool

    public var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Runs a program without input and with output that is no terminal. No thread of the tests waits for it.
    /// - Parameter environment: what is other than in this process' own.
    public init(
        _ program: URL,
        _ arguments: [String],
        in directory: URL? = nil,
        environment: [String: String] = [:]
    ) async throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        if let directory { process.currentDirectoryURL = directory }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let folder = try TemporaryFolder()
        // Files, not pipes: a pipe that nobody empties stops its writer.
        let (output, errors) = (try folder.write("", to: "output"), try folder.write("", to: "errors"))
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try await withCheckedThrowingContinuation { (end: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in end.resume() }
            do { try process.run() } catch { end.resume(throwing: error) }
        }
        status = process.terminationStatus
        crashed = process.terminationReason == .uncaughtSignal
        self.output = try String(contentsOf: output, encoding: .utf8)
        self.errors = try String(contentsOf: errors, encoding: .utf8)
    }
}
