import Foundation
import ModelFormat

/// Makes the sources that a target of a package gets: classes of its models, copies of its excluded files, and names.
public struct TargetBuild {
    /// The target's module, its folder and the folder for what is made.
    public var module = "", folder = "", output = ""
    /// Paths: of models, of Swift files that the target excludes, and of those that it compiles.
    public var models: [String] = [], excluded: [String] = [], own: [String] = []
    /// Paths of models in folders that the target excludes, of which nothing is made.
    public var modelsAside: [String] = []

    public init() {}

    /// Writes the sources unless there is an error.
    ///
    /// - Returns: what is to be said, warnings first. With an error nothing is written.
    public func run() -> [SourceMessage] {
        do {
            let options = try TargetOptions(file: URL(fileURLWithPath: folder).appendingPathComponent(".coredata.json"))
            return try run(options)
        } catch let error as SourceMessages {
            return error.messages
        } catch let error as ModelFormatError {
            return [error.message(about: folder)]
        } catch {
            return [SourceMessage(.error, folder, nil, "\(error)")]
        }
    }

    private func run(_ options: TargetOptions) throws -> [SourceMessage] {
        let files = try models.map(ModelFile.init)
        var messages = try files.flatMap { try $0.messages(silence: options.silence) }
        let (wanted, leftOut) = try division(options)
        let ownFiles = try own.map(file)
        let adopted = AdoptedSources(of: wanted, own: ownFiles, models: try files.map { try $0.current() })
        messages += modelsAside.filter { !isNamed($0, options.leaveOut) }.map(Self.asideWarning)
        messages += leftOut.filter { !isNamed($0.path, options.leaveOut) }.compactMap(Self.leftOutWarning)
        messages += warnings(about: ownFiles) + adopted.messages
        if messages.contains(where: { $0.kind == .error }) { return messages }
        try write(files, adopted, leftOut, options)
        return messages
    }

    private func file(_ path: String) throws -> SourceFile {
        guard let data = FileManager.default.contents(atPath: path) else { throw Failure("There is no file at \(path).") }
        guard let text = String(data: data, encoding: .utf8) else { throw Failure("\(path) is no text in UTF-8.") }
        return SourceFile(path: path, text: text)
    }

    /// Files that Linux cannot compile as they are: one warning for each, and an error that keeps the compiler from hundreds.
    private func warnings(about files: [SourceFile]) -> [SourceMessage] {
        let found = files.compactMap { exclusionWarning(for: $0, folder: folder, target: module) }
        guard !found.isEmpty else { return [] }
        let paths = found.map { SwiftNames.literal(relativePath(of: $0.file, in: folder)) }.joined(separator: ", ")
        let text =
            "\(found.count) of the files of target \(module) must be excluded to be compiled on Linux, or the folders that they are in. "
            + "In Package.swift: exclude: [\(paths)]"
        return found + [SourceMessage(.error, folder, nil, text)]
    }
}

/// Excluded files.
extension TargetBuild {
    /// Those that copies are made of, and the others.
    private func division(_ options: TargetOptions) throws -> (wanted: [SourceFile], leftOut: [SourceFile]) {
        var (wanted, leftOut): ([SourceFile], [SourceFile]) = ([], [])
        for file in try excluded.map(file) {
            if isNamed(file.path, options.leaveOut) || file.appleImport != nil { leftOut.append(file) } else { wanted.append(file) }
        }
        return (wanted, leftOut)
    }

    private func isNamed(_ path: String, _ names: [String]) -> Bool {
        names.map { "\(folder)/\($0)" }.contains { path == $0 || path.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") }
    }

    private static func leftOutWarning(_ file: SourceFile) -> SourceMessage? {
        guard let (module, place) = file.appleImport else { return nil }
        let text =
            "the file is left out, because Linux has no \(module): to have the rest of it compiled, put the import and what uses it between "
            + "#if canImport(\(module)) and #endif; naming the file under leaveOut in .coredata.json silences this"
        return SourceMessage(.warning, file.path, place, text)
    }
}

extension TargetBuild {
    private static func asideWarning(_ path: String) -> SourceMessage {
        let text =
            "the model is in a folder that the target excludes, so that nothing is made of it: move it out of there; naming it under leaveOut in "
            + ".coredata.json silences this"
        return SourceMessage(.warning, path, nil, text)
    }
}

/// What is written.
extension TargetBuild {
    private func write(_ files: [ModelFile], _ adopted: AdoptedSources, _ leftOut: [SourceFile], _ options: TargetOptions) throws {
        let generation = GenerationOptions(
            moduleName: module,
            isPublic: options.isPublic,
            style: options.style,
            overrides: adopted.overrides,
            classNames: adopted.classNames
        )
        let sources = try files.map { file in
            try inModel(file) {
                try swiftSource(of: file.current(), named: file.name, archive: file.archive(module: module), generation)
            }
        }
        let copies = adopted.copies.map { GeneratedFile(name: nameOfCopy(of: $0.path), text: $0.text) }
        let empty = leftOut.map { GeneratedFile(name: nameOfCopy(of: $0.path), text: "// \($0.path) is left out.\n") }
        let place = URL(fileURLWithPath: output)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        for file in sources + copies + empty + [names(options, adopted)] {
            try writeIfNew(Data(file.text.utf8), to: place.appendingPathComponent(file.name))
        }
    }

    /// An error that names no file is about the model.
    private func inModel<Result>(_ file: ModelFile, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as GenerationError {
            throw SourceMessages(try error.messages(about: file))
        } catch var error as ModelFormatError {
            error.file = error.file ?? file.path
            throw error
        }
    }

    /// NB: names that Foundation has too are ambiguous in a file that imports both; one in the file's own module goes before both. Others are
    /// Foundation's on a Mac, where files that use them do not import CoreData.
    private func names(_ options: TargetOptions, _ adopted: AdoptedSources) -> GeneratedFile {
        let access = options.isPublic ? "public " : ""
        let names = [
            "NSComparisonPredicate", "NSExpression", "NSSecureUnarchiveFromDataTransformer", "NSValueTransformerName", "ValueTransformer",
        ]
        let aliases = names.map { ($0, $0) } + [("NSCompoundPredicate", "CompoundPredicate")]
        let lines = aliases.map { "\(access)typealias \($0) = CoreData.\($1)" }
        return GeneratedFile(name: Self.fileOfNames(module), text: sourceText(declarations: lines + adopted.keyPathNames))
    }

    static func fileOfNames(_ module: String) -> String { "\(module)+CoreDataNames.swift" }
}

extension SourceFile {
    /// The first import of a module that only Apple's platforms have; nil in a file that declares something of a model.
    fileprivate var appleImport: (module: String, place: SourcePlace)? {
        let structure = SourceStructure(text)
        let source = structure.source
        let words = source.tokens.indices.filter { structure.blocks.isActive[$0] }
        guard !words.contains(where: { source[$0] == "@" && source[$0 + 1] == "NSManaged" }),
            let found = words.first(where: { source[$0] == "import" && AppleModules.names.contains(source[$0 + 1]) })
        else { return nil }
        return (source[found + 1], source.tokens[found + 1].place)
    }
}
