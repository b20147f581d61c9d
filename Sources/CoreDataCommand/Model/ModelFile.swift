import CoreData
import Foundation
import ModelFormat

/// A model that has been read from one of the four kinds of files.
struct ModelFile {
    /// All versions; one, where the file is one.
    let bundle: ModelBundle
    /// The name of the file without its extension.
    let name: String

    /// - Throws: `Failure` for what is no model's path, `ModelFormatError` for what is in the file.
    init(path: String) throws {
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: url.path) else { throw Failure("There is no model at \(path).") }
        name = url.deletingPathExtension().lastPathComponent
        switch url.pathExtension {
        case "xcdatamodeld": bundle = try ModelBundle(source: url)
        case "momd": bundle = try ModelBundle(compiled: url)
        case "xcdatamodel": bundle = Self.bundle(try Model(source: url), name)
        case "mom": bundle = Self.bundle(try Model(compiled: url), name)
        default: throw Failure("\(path) is no model: its name must end in .xcdatamodeld, .xcdatamodel, .momd or .mom.")
        }
    }

    private static func bundle(_ model: Model, _ name: String) -> ModelBundle {
        var bundle = ModelBundle()
        (bundle.versions, bundle.currentVersion) = ([name: model], name)
        return bundle
    }

    /// The current version.
    func current() throws -> Model {
        guard let model = bundle.currentModel else {
            throw Failure("\(name) has several versions and does not say which one is current: name one of the files in it.")
        }
        return model
    }

    /// The version hashes of the current version's entities, by name.
    func hashes() throws -> [String: Data] { try NSManagedObjectModel(current()).entityVersionHashesByName }
}
