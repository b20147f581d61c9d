import Foundation
import ModelCompiler
import ModelFormat

/// A failure that is told in one sentence.
public struct Failure: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// A model that has been read from one of the four kinds of files.
public struct ModelFile: Sendable {
    public let path: String
    /// All versions; one, where the file is one.
    public let bundle: ModelBundle
    /// The name of the file without its extension.
    public let name: String

    /// - Throws: `Failure` for what is no model's path, `ModelFormatError` for what is in the file.
    public init(path: String) throws {
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: url.path) else { throw Failure("There is no model at \(path).") }
        self.path = path
        name = url.deletingPathExtension().lastPathComponent
        switch url.pathExtension {
        case "xcdatamodeld": bundle = try ModelBundle(source: url)
        case "momd": bundle = try ModelBundle(compiled: url)
        case "xcdatamodel": bundle = Self.bundle(try Model(source: url), name)
        case "mom": bundle = Self.bundle(try Model(compiled: url), name)
        default: throw Failure("\(path) is no model: its name must end in .xcdatamodeld, .xcdatamodel, .momd or .mom.")
        }
    }

    /// A model that was found in a file of another kind.
    public init(path: String, model: Model) {
        self.path = path
        name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        bundle = Self.bundle(model, name)
    }

    /// Whether a path has the ending of a model's.
    public static func isModel(_ path: String) -> Bool {
        ["xcdatamodeld", "xcdatamodel", "momd", "mom"].contains(URL(fileURLWithPath: path).pathExtension)
    }

    private static func bundle(_ model: Model, _ name: String) -> ModelBundle {
        var bundle = ModelBundle()
        (bundle.versions, bundle.currentVersion) = ([name: model], name)
        return bundle
    }

    /// The current version.
    public func current() throws -> Model {
        guard let model = bundle.currentModel else {
            throw Failure("\(name) has several versions and does not say which one is current: name one of the files in it.")
        }
        return model
    }

    /// The version hashes of the current version's entities, by name.
    public func hashes() throws -> [String: Data] { try current().versionHashes }

    /// The source of the current version; nil for a compiled model.
    public func source() throws -> (path: String, file: ModelSourceFile)? { try source(of: bundle.currentVersion ?? "") }

    /// The source of a version; nil for a compiled model.
    func source(of version: String) throws -> (path: String, file: ModelSourceFile)? {
        let url = URL(fileURLWithPath: path)
        let folder: URL
        switch url.pathExtension {
        case "xcdatamodel": folder = url
        case "xcdatamodeld": folder = url.appendingPathComponent("\(version).xcdatamodel")
        default: return nil
        }
        let contents = folder.appendingPathComponent("contents")
        return (contents.path, try ModelSourceFile(xml: Data(contentsOf: contents)))
    }
}
