import Foundation
import Testing

/// Other processes.
enum Child {
    struct Result {
        let status: Int32
        let output: String
    }

    @discardableResult
    static func run(_ path: String, _ arguments: [String]) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            output: String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        )
    }

    /// Runs `body` while the `sqlite3` command has run `sql` on a file and keeps it open.
    static func keepingOpen(_ url: URL, _ sql: String, _ body: () throws -> Void) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        process.arguments = [url.path]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        defer {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
        try input.fileHandleForWriting.write(contentsOf: Data("\(sql);\nSELECT 'ready';\n".utf8))
        var said = ""
        while !said.contains("ready") {
            let data = output.fileHandleForReading.availableData
            try #require(!data.isEmpty, "sqlite3 ended: \(said)")
            said += String(decoding: data, as: UTF8.self)
        }
        try body()
    }
}
