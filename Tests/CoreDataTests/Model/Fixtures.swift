import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

/// Files that Apple's Core Data wrote, in a folder beside the package. They are not part of it.
enum Fixtures {
    static let folder: URL? = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
                let fixtures = folder.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
                return FileManager.default.fileExists(atPath: fixtures.path) ? fixtures : nil
            }
        }
        return nil
    }()

    static var areThere: Bool { folder != nil }
    static let whyNot: Comment = "The fixture files are not beside the package."

    static func url(_ path: String) throws -> URL { try #require(folder).appendingPathComponent(path) }

    /// Runs `body` with a connection to a copy of a store, in a folder of its own that is removed afterwards.
    static func withStore<Result>(_ path: String, _ body: (Connection) throws -> Result) throws -> Result {
        try withTemporaryFolder { folder in
            let source = try url(path)
            let copy = folder.appendingPathComponent("store")
            try FileManager.default.copyItem(at: source, to: copy)
            // NB: rows, and even tables, can be in the write-ahead log only.
            if FileManager.default.fileExists(atPath: source.path + "-wal") {
                try FileManager.default.copyItem(atPath: source.path + "-wal", toPath: copy.path + "-wal")
            }
            let connection = try Connection(path: copy.path, mode: .readWrite)
            defer { connection.close() }
            return try body(connection)
        }
    }

    static func withTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    /// The version hashes in a store's metadata.
    static func versionHashes(in connection: Connection) throws -> [String: Data] {
        let row = try #require(try connection.rows("SELECT Z_PLIST FROM Z_METADATA").first)
        guard case .blob(let bytes) = row[0] else { return [:] }
        let metadata = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any]
        return metadata?[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    }

    /// The version in a `.xcdatamodeld` folder that a store was written with, frozen.
    static func model(in bundle: String, of connection: Connection) throws -> NSManagedObjectModel {
        let hashes = try versionHashes(in: connection)
        let versions = try FileManager.default.contentsOfDirectory(at: try url(bundle), includingPropertiesForKeys: nil)
        let models = try versions.filter { $0.pathExtension == "xcdatamodel" }.map {
            try NSManagedObjectModel(reading: $0)
        }
        let model = try #require(models.first { $0.entityVersionHashesByName == hashes }, "No version has the store's hashes.")
        model.freeze()
        return model
    }
}
