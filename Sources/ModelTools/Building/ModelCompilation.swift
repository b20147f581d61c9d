import Foundation
import ModelCompiler
import ModelFormat

extension ModelFile {
    /// Writes a `.momd` of all versions, or a `.mom` of the current one. A compiled model that is there is replaced.
    ///
    /// - Parameter module: the module that has the classes: their names get it where they have none.
    /// - Throws: `Failure` for a place that is none, `ModelFormatError` for a model that cannot be compiled.
    public func compile(to url: URL, module: String?) throws {
        try requireReadablePredicates()
        switch url.pathExtension {
        case "momd":
            var bundle = bundle
            bundle.versions = bundle.versions.mapValues { $0.qualified(module) }
            let made = bundle.withVersionHashes()
            try replaceFolder(url, knownBy: "VersionInfo.plist") { try made.writeCompiled(to: $0, parser: .predicates) }
        case "mom": try archive(module: module).write(to: url, options: .atomic)
        default: throw Failure("\(url.path) is no place for a compiled model: its name must end in .momd or .mom.")
        }
    }

    /// The current version as a `.mom`.
    public func archive(module: String?) throws -> Data { try current().qualified(module).archived(parser: .predicates) }

    /// - Throws: `ModelFormatError` that names file and line, for a predicate of any version that cannot be read.
    private func requireReadablePredicates() throws {
        for (version, model) in bundle.versions.sorted(by: { $0.key < $1.key }) {
            let found = PredicateChecks(EntityFamily(model)).warnings(in: model).first(where: \.isError)
            guard let found, let (path, source) = try source(of: version) else { continue }
            let line = source.line(of: found.place.split(separator: ".").map(String.init))
            throw ModelFormatError(file: path, .line(line), found.description)
        }
    }
}

extension Model {
    fileprivate func qualified(_ module: String?) -> Model { module.map(qualifyingClasses) ?? self }
}

/// Makes a folder beside its place and then moves it there, unless the same is there already; another one goes only if it has a file of
/// that name.
func replaceFolder(_ url: URL, knownBy name: String, _ make: (URL) throws -> Void) throws {
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

/// Writes a file unless it has that content already, so that a build goes on from what did not change.
public func writeIfNew(_ data: Data, to url: URL) throws {
    if let known = try? Data(contentsOf: url), known == data { return }
    try data.write(to: url, options: .atomic)
}

/// NB: the compiler tells files of a module apart by their names alone, and a copy names its original. Only `main.swift` may have statements
/// at the top level.
public func nameOfCopy(of path: String) -> String {
    let file = URL(fileURLWithPath: path)
    return file.lastPathComponent == "main.swift" ? "main.swift" : file.deletingPathExtension().lastPathComponent + "+Adopted.swift"
}
