import Foundation
import Testing

/// Other processes.
enum Child {
    struct Result {
        let status: Int32
        let data: Data
        var output: String { String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) }
    }

    /// Runs a program, which is told by its path, or by its name as to a shell, and waits for its end.
    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(status: process.terminationStatus, data: data)
    }

    /// What the `sqlite3` command says to a query of a file, which must succeed: it is an outsider, who waits for others' locks as everybody does.
    @discardableResult
    static func sqlite(_ url: URL, _ query: String) throws -> String {
        let result = try run("sqlite3", ["-cmd", ".timeout 60000", url.path, query])
        try #require(result.status == 0, "sqlite3 could not: \(query)")
        return result.output
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
