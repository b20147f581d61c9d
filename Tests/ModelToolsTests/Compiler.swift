import Foundation
import Testing

/// The compiler, on sources that use the modules which were built beside the tests.
struct Compiler {
    /// What it says about the sources as a module of that name, in Swift 6 mode with warnings as errors; empty when they are right.
    static func complaints(about sources: [URL], module: String) throws -> String {
        let folder = try TemporaryFolder()
        let output = folder.file("output")
        try Data().write(to: output)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["swiftc", "-c", "-wmo", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-module-name", module]
            + ["-I", products.appendingPathComponent("Modules").path, "-o", folder.file("module.o").path]
            + moduleMaps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + sources.map(\.path)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = process.standardOutput
        try process.run()
        process.waitUntilExit()
        let text = try String(contentsOf: output, encoding: .utf8)
        return process.terminationStatus == 0 ? "" : "exit status \(process.terminationStatus)\n\(text)"
    }

    /// The folder that the build puts its products in.
    private static let products: URL = {
        let tests = CommandLine.arguments.map { URL(fileURLWithPath: $0) }.first { $0.path.hasSuffix(".xctest") }
        return (tests ?? Bundle.main.bundleURL).deletingLastPathComponent()
    }()

    private static let moduleMaps: [String] = {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return [
            products.appendingPathComponent("CShims.build/module.modulemap").path,
            package.appendingPathComponent("Sources/CSQLite/module.modulemap").path,
        ]
    }()
}

/// A folder of its own, removed with the object.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("model-tools-tests-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }

    deinit {
        // A temporary folder that cannot be removed is the system's to clear away.
        try? FileManager.default.removeItem(at: url)
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// Writes a file in a folder of the folder, and gives its place.
    func write(_ text: String, to path: String) throws -> URL {
        let url = file(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        return url
    }
}
