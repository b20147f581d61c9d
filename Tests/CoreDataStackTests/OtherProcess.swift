import Foundation
import TestSupport
import Testing

/// Another process, which does as it is told by lines, and answers in lines.
final class OtherProcess {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var unread = Data()

    /// - Parameter environment: what is other than in this process' own.
    init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    deinit {
        kill()
        process.waitUntilExit()
    }

    /// A program of this package.
    convenience init(program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        try self.init(Places.products.appendingPathComponent(program).path, arguments, environment: environment)
    }

    func tell(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

    /// The next line that it says; nil after the last.
    func line() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread = unread.suffix(from: end + 1) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            unread += more
        }
    }

    /// What it says up to its end.
    func rest() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }

    /// Ends it at once, whatever it is doing.
    func kill() { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// Waits for its end; how it ended.
    func status() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}

/// The write lock of a file, held by another process until it is released.
final class ForeignLock {
    private let process: OtherProcess
    private static let program = """
        import sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
        connection.execute("BEGIN IMMEDIATE")
        print("locked", flush=True)
        sys.stdin.readline()
        connection.execute("COMMIT")
        connection.close()
        print("released", flush=True)
        """

    init(_ url: URL) throws {
        process = try OtherProcess("/usr/bin/env", ["python3", "-c", Self.program, url.path])
        try #require(process.line() == "locked")
    }

    func release() throws {
        try process.tell("")
        try #require(process.line() == "released")
    }
}
