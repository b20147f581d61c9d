import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

/// The stores among the fixtures, and the models that they were written with.
extension Fixtures {
    /// Runs `body` with a connection to a copy of a store, in a folder of its own that is removed afterwards.
    static func withStore<Result>(_ path: String, _ body: (Connection) throws -> Result) throws -> Result {
        let folder = try TemporaryFolder()
        try copyStore(path, to: folder.store)
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        defer { connection.close() }
        return try body(connection)
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
        let versions = try FileManager.default.contentsOfDirectory(at: url(bundle), includingPropertiesForKeys: nil)
        let models = try versions.filter { $0.pathExtension == "xcdatamodel" }.map {
            try NSManagedObjectModel(reading: $0)
        }
        let model = try #require(models.first { $0.entityVersionHashesByName == hashes }, "No version has the store's hashes.")
        model.freeze()
        return model
    }
}
