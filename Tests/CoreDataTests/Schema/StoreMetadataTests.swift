import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("Store metadata")
struct StoreMetadataTests {
    private func emptyStore() throws -> Connection {
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        try SQLSchema.systemTables.forEach(connection.execute)
        return connection
    }

    private let model = NSManagedObjectModel(NSEntityDescription("A", attribute("x"))).frozen()

    @Test("is read back as it was written, with the identifier under its public key")
    func roundTrip() throws {
        let connection = try emptyStore()
        var metadata = StoreMetadata(model: model, configuration: nil)
        metadata.values["mine"] = ["a": 1]
        try metadata.write(to: connection)
        try metadata.write(to: connection)

        let read = try #require(try StoreMetadata.read(from: connection))
        #expect(read.uuid == metadata.uuid && UUID(uuidString: read.uuid) != nil)
        #expect(read.dictionary[NSStoreUUIDKey] as? String == read.uuid && read.values[NSStoreUUIDKey] == nil)
        #expect(read.dictionary["mine"] as? [String: Int] == ["a": 1])
        #expect(read.dictionary[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: read.dictionary))
        #expect(try connection.rows("SELECT COUNT(*) FROM Z_METADATA") == [[.integer(1)]])
    }

    @Test("takes an identifier that an application sets, and keeps keys it does not know")
    func setting() {
        var metadata = StoreMetadata(model: model, configuration: nil)
        let uuid = metadata.uuid
        metadata.dictionary = ["mine": 1]
        #expect(metadata.uuid == uuid)
        metadata.dictionary = ["mine": 1, NSStoreUUIDKey: "OWN"]
        metadata.stamp(model: model, configuration: nil)
        #expect(metadata.uuid == "OWN" && metadata.values["mine"] as? Int == 1)
        #expect(metadata.values["NSStoreModelVersionHashesVersion"] as? Int == 3)
    }

    @Test("refuses what no property list can hold, and leaves the row as it was")
    func unwritable() throws {
        let connection = try emptyStore()
        var metadata = StoreMetadata(model: model, configuration: nil)
        try metadata.write(to: connection)
        metadata.values["bad"] = NSObject()
        #expect(throws: CocoaError.self) { try metadata.write(to: connection) }
        #expect(try StoreMetadata.read(from: connection)?.values["bad"] == nil)
    }

    @Test("is none in a file without the table or the row, and an error where the row is damaged")
    func absentOrDamaged() throws {
        #expect(try StoreMetadata.read(from: try Connection(path: ":memory:", mode: .readWriteCreate)) == nil)
        let connection = try emptyStore()
        #expect(try StoreMetadata.read(from: connection) == nil)
        for plist in ["NULL", "x''", "x'00ff'", "'bplist00'", "CAST('[]' AS BLOB)"] {
            try connection.execute("INSERT OR REPLACE INTO Z_METADATA VALUES(1, 'U', \(plist))")
            let error = #expect(throws: CocoaError.self) { try StoreMetadata.read(from: connection) }
            #expect(error?.code == .fileReadCorruptFile, "\(plist)")
        }
    }

    // The digest and the checksum that Apple's framework wrote are what the same hashes give here.
    @Test(
        "of a real store has our digest, checksum and keys",
        .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"),
        arguments: ["samplemodel/SampleModel_V1.sqlite", "photos/Photos-13.5-empty.sqlite", "photos-small/MediaAnalysis.sqlite"]
    )
    func realStores(store: String) throws {
        try Fixtures.withStore(store) { connection in
            let metadata = try #require(try StoreMetadata.read(from: connection))
            let hashes = try #require(metadata.values[NSStoreModelVersionHashesKey] as? [String: Data])
            #expect(metadata.values["NSStoreModelVersionHashesDigest"] as? String == VersionHash.digest(of: hashes))
            if let checksum = metadata.values[NSPersistentStoreModelVersionChecksumKey] as? String {
                #expect(checksum == VersionHash.checksum(of: hashes))
            }
            let ours = Set(StoreMetadata(model: model, configuration: nil).values.keys)
            #expect(ours.subtracting(metadata.values.keys).subtracting([NSPersistentStoreModelVersionChecksumKey]) == [])

            // Writing it back changes nothing.
            try metadata.write(to: connection)
            #expect(
                NSDictionary(dictionary: try #require(try StoreMetadata.read(from: connection)).values)
                    == NSDictionary(dictionary: metadata.values)
            )
        }
    }
}
