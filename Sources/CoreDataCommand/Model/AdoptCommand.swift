import ArgumentParser
import Foundation
import ModelTools

struct AdoptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Makes copies of Swift files with @NSManaged that compile on Linux.",
        discussion: """
            The properties and methods get bodies, and @objc goes; all stays in its line, and errors name the original. The files must be \
            kept out of the target, and their copies be in it. The build plugin does that by itself for files that the target excludes.
            """
    )

    @Argument(help: "The Swift files.", completion: .file()) var files: [String]
    @Option(name: .shortAndLong, help: "The folder for the copies, each NAME+Adopted.swift.") var output: String

    func run() throws {
        let names = Dictionary(grouping: files) { URL(fileURLWithPath: $0).lastPathComponent }
        if let twice = names.filter({ $0.value.count > 1 }).keys.min() { throw Failure("Several files are called \(twice).") }
        let copies = try files.map { path in
            let url = URL(fileURLWithPath: path)
            guard let data = FileManager.default.contents(atPath: url.path) else { throw Failure("There is no file at \(path).") }
            guard let text = String(data: data, encoding: .utf8) else { throw Failure("\(path) is no text in UTF-8.") }
            return (name: Self.name(ofCopy: url), text: try adoptedSource(text, file: url.path))
        }
        let folder = URL(fileURLWithPath: output)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for copy in copies { try writeIfNew(Data(copy.text.utf8), to: folder.appendingPathComponent(copy.name)) }
    }

    /// NB: the compiler tells files of a module apart by their names alone, and a copy names its original.
    private static func name(ofCopy file: URL) -> String { file.deletingPathExtension().lastPathComponent + "+Adopted.swift" }
}
