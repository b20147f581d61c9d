import ArgumentParser
import CoreData
import Foundation
import ModelFormat
import ModelTools

struct CompileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compile",
        abstract: "Makes a .momd of all versions, which Apple's Core Data reads too.",
        discussion: "An OUT that ends in .mom gets the current version alone. A compiled model that is there is replaced."
    )

    @OptionGroup var source: ModelOptions
    @Option(name: .shortAndLong, help: "Where to put it; otherwise SRC's name with .momd, here.") var output: String?
    @Option(help: "The module that has the classes: their names get it where they have none.") var module: String?

    func run() throws {
        let file = try source.file()
        let url = URL(fileURLWithPath: output ?? file.name + ".momd")
        switch url.pathExtension {
        case "momd": try compile(file.bundle, to: url)
        case "mom": try qualified(file.current()).archived(parser: .predicates).write(to: url, options: .atomic)
        default: throw Failure("\(url.path) is no place for a compiled model: its name must end in .momd or .mom.")
        }
    }

    private func compile(_ bundle: ModelBundle, to url: URL) throws {
        var bundle = bundle
        bundle.versions = bundle.versions.mapValues(qualified)
        let made = try bundle.withVersionHashes()
        try replaceFolder(url, knownBy: "VersionInfo.plist") { try made.writeCompiled(to: $0, parser: .predicates) }
    }

    private func qualified(_ model: Model) -> Model { module.map(model.qualifyingClasses) ?? model }
}

/// Makes a folder beside its place and then moves it there, unless the same is there already; another one goes only if it has a file of
/// that name.
private func replaceFolder(_ url: URL, knownBy name: String, _ make: (URL) throws -> Void) throws {
    let files = FileManager.default
    let isThere = files.fileExists(atPath: url.path)
    if isThere, !files.fileExists(atPath: url.appendingPathComponent(name).path) {
        throw Failure("There is something at \(url.path) that is no compiled model.")
    }
    let parent = url.deletingLastPathComponent()
    try files.createDirectory(at: parent, withIntermediateDirectories: true)
    let new = parent.appendingPathComponent(".\(url.lastPathComponent)-\(UUID())")
    try make(new)
    // A build goes on from what did not change.
    if isThere, files.contentsEqual(atPath: new.path, andPath: url.path) { return try files.removeItem(at: new) }
    if isThere { try files.removeItem(at: url) }
    try files.moveItem(at: new, to: url)
}
