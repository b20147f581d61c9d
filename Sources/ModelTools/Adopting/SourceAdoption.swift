import ModelFormat

/// Copies of Swift files for Apple's platforms that compile on Linux.
///
/// What Linux cannot compile and has one right answer is rewritten: `@NSManaged` properties and methods get bodies, `@objc` goes and the name in it
/// is registered, `#keyPath` and the selectors of comparisons become text, overrides in extensions are called from their class, and so on.
/// Every declaration stays in its line, and errors and debuggers name the original file.
public struct AdoptedSources: Sendable, Equatable {
    /// In the order of the originals, with their paths.
    public let copies: [SourceFile]
    /// What there is no right answer for, with a cure.
    public let messages: [SourceMessage]
    /// Overrides that belong in the bodies of classes that are made from models, by class.
    public let overrides: [String: [String]]
    /// The classes with an `@objc(Name)`: that name, and Swift's.
    public let classNames: [String: String]
    /// Extensions that say the names of the classes' key paths; for a file of their own.
    public let keyPathNames: [String]

    /// - Parameters:
    ///   - excluded: the files that the target leaves out, which become copies.
    ///   - own: the files that the target compiles as they are, which tell what there is.
    ///   - models: the target's models, which key paths are checked against.
    public init(of excluded: [SourceFile], own: [SourceFile] = [], models: [Model] = []) {
        let structures = excluded.map { SourceStructure($0.text) }
        let symbols = TargetSymbols(excluded: structures, own: own.map { ($0.path, SourceStructure($0.text)) }, models: models)
        var files = zip(excluded, structures).map { FileAdoption($0, $1, symbols) }
        keyPathNames = AdoptedKeyPaths(files.flatMap(\.properties), symbols).declarations
        var generated: [String: [String]] = [:]
        for (className, declaration) in files.flatMap(\.overrides) + symbols.lookups(of: files.flatMap(\.computed)) {
            if let home = symbols.classes[className] {
                files[home.file].addMember(declaration, to: home.type)
            } else {
                generated[className, default: []].append(declaration)
            }
        }
        copies = files.map { SourceFile(path: $0.file.path, text: $0.text()) }
        messages = files.flatMap(\.messages)
        overrides = generated
        classNames = Dictionary(files.flatMap(\.names).map { ($0.name, $0.className) }) { first, _ in first }
    }
}

extension FileAdoption {
    /// Puts a declaration behind the brace that opens a type's body.
    fileprivate mutating func addMember(_ declaration: String, to type: Int) {
        edits.insert(" \(declaration);", at: source.tokens[structure.types[type].brace].range.upperBound)
    }
}

/// What a file says that only copies can have: Objective-C's attributes, key paths and selectors, `@NSManaged`, overrides in extensions. Nil where
/// it has nothing of that, or only in blocks that Linux does not compile.
///
/// One message for a file, at the first such place.
public func exclusionWarning(for file: SourceFile, folder: String, target: String) -> SourceMessage? {
    let structure = SourceStructure(file.text)
    let indexes = structure.source.tokens.indices
    guard let found = indexes.first(where: { structure.blocks.isActive[$0] && structure.unknownToLinux($0) != nil }),
        let what = structure.unknownToLinux(found)
    else { return nil }
    let path = relativePath(of: file.path, in: folder)
    return SourceMessage(
        .warning,
        file.path,
        structure.source.tokens[found].place,
        "Linux cannot compile \(what): exclude the file, and the plugin compiles a copy that it "
            + "can. In Package.swift, target \(target): exclude: [\(SwiftNames.literal(path))]"
    )
}

extension SourceStructure {
    /// What begins at a token that Linux Swift cannot compile.
    fileprivate func unknownToLinux(_ index: Int) -> String? {
        switch source[index] {
        case "@": ["objc", "objcMembers", "NSManaged"].contains(source[index + 1]) ? "@" + source[index + 1] : nil
        case "#": ["keyPath", "selector"].contains(source[index + 1]) ? "#" + source[index + 1] : nil
        case "override": overridesInExtension(index) ? "an override in an extension" : nil
        default: nil
        }
    }

    private func overridesInExtension(_ index: Int) -> Bool {
        guard isMember[index], let type = typeOfToken[index], types[type].isExtension else { return false }
        return ["func", "var", "init", "subscript"].contains(source[modifierIndexes(around: index).keyword])
    }
}

func relativePath(of path: String, in folder: String) -> String {
    path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.count + 1)) : path
}
