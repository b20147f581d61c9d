import ArgumentParser
import Foundation
import ModelTools

struct AdoptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Makes copies of Swift files for Apple's platforms that compile on Linux.",
        discussion: """
            @NSManaged properties and methods get bodies, @objc goes, #keyPath becomes text, overrides move from extensions into their \
            class, and so on; all stays in its line, and errors name the original. The files must be kept out of the target, and their \
            copies be in it. The build plugin does that by itself for files that the target excludes. What there is no right answer for is \
            told with its line and a cure, and nothing is written.
            """
    )

    @Argument(help: "The Swift files, all of a target at once.", completion: .file()) var files: [String]
    @Option(name: .shortAndLong, help: "The folder for the copies, each NAME+Adopted.swift, and KeyPathNames+Adopted.swift.") var output:
        String
    @Option(help: "A model that key paths are checked against.", completion: .file()) var model: [String] = []

    func run() throws {
        let names = Dictionary(grouping: files, by: nameOfCopy)
        if let twice = names.filter({ $0.value.count > 1 }).values.first?.first {
            throw Failure("Several files are called \(URL(fileURLWithPath: twice).lastPathComponent).")
        }
        let adopted = AdoptedSources(of: try files.map(source), models: try model.map { try modelFile($0).current() })
        for message in adopted.messages { printError(message.description) }
        if let first = adopted.overrides.keys.min() {
            throw Failure("Class \(first) is made from a model, and the files override in it: only the build plugin can put that together.")
        }
        if adopted.messages.contains(where: { $0.kind == .error }) { throw Failure("Nothing was written.") }
        let folder = URL(fileURLWithPath: output)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for copy in adopted.copies { try writeIfNew(Data(copy.text.utf8), to: folder.appendingPathComponent(nameOfCopy(of: copy.path))) }
        if adopted.keyPathNames.isEmpty { return }
        let text = sourceText(declarations: adopted.keyPathNames)
        try writeIfNew(Data(text.utf8), to: folder.appendingPathComponent(nameOfCopy(of: "KeyPathNames.swift")))
    }

    private func source(_ path: String) throws -> SourceFile {
        let url = URL(fileURLWithPath: path)
        guard let data = FileManager.default.contents(atPath: url.path) else { throw Failure("There is no file at \(path).") }
        guard let text = String(data: data, encoding: .utf8) else { throw Failure("\(path) is no text in UTF-8.") }
        return SourceFile(path: url.path, text: text)
    }
}
