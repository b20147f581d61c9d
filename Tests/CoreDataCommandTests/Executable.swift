import Foundation

/// A run of the built `coredata` command.
struct Run {
    let status: Int32
    let output: String
    let errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Runs the command to its end with output that is no terminal.
    init(_ arguments: String...) throws { try self.init(Self.executable, arguments) }

    /// Runs a program, in a folder if one is given.
    init(_ executable: URL, _ arguments: [String], in directory: URL? = nil) throws {
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
        try process.run()
        process.waitUntilExit()
        status = process.terminationStatus
        self.output = try String(contentsOf: output, encoding: .utf8)
        self.errors = try String(contentsOf: errors, encoding: .utf8)
    }

    /// The build puts the command beside the tests.
    private static let executable: URL = {
        let tests = CommandLine.arguments.map { URL(fileURLWithPath: $0) }.first { $0.path.hasSuffix(".xctest") }
        return (tests ?? Bundle.main.bundleURL).deletingLastPathComponent().appendingPathComponent("coredata")
    }()
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
