import Foundation
import ModelFormat
import TestSupport
import Testing

@testable import CoreData

/// A bundle in a folder of its own, with model files in it.
final class BundleFolder {
    private let folder: TemporaryFolder
    let url: URL

    init(_ name: String = "Some_Target.resources") throws {
        folder = try TemporaryFolder()
        url = folder.file(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    var bundle: Bundle { get throws { try #require(Bundle(url: url)) } }

    /// Writes a source. The path is one in the bundle, and ends in `.xcdatamodel`, or in `.xcdatamodeld` for the only version of one.
    @discardableResult func add(source path: String, _ content: String) throws -> URL {
        let model = url.appendingPathComponent(path)
        let version = model.pathExtension == "xcdatamodeld" ? model.appendingPathComponent("V1.xcdatamodel") : model
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try Data("<model>\(content)</model>".utf8).write(to: version.appendingPathComponent("contents"))
        return model
    }

    /// Writes a bundle of compiled versions, named by their keys.
    @discardableResult func add(compiled path: String, _ versions: [String: String], current: String) throws -> URL {
        var bundle = ModelBundle()
        bundle.versions = try versions.mapValues { try Model(xml: Data("<model>\($0)</model>".utf8)) }
        bundle.currentVersion = current
        let file = url.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bundle.withVersionHashes().writeCompiled(to: file, parser: .predicates)
        return file
    }

    @discardableResult func add(file path: String, _ content: String) throws -> URL {
        let file = url.appendingPathComponent(path)
        try Data(content.utf8).write(to: file)
        return file
    }

    /// The source of an entity with texts of these names.
    static func entity(_ name: String, _ attributes: String...) -> String {
        let lines = attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
        return "<entity name=\"\(name)\">\(lines.joined())</entity>"
    }
}
