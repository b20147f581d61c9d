import Foundation
import Testing

@testable import CoreData

@Suite("The migration of a store that other tools have written to")
struct RestoredStoreTests {
    private let home: StoreHome

    init() throws { home = try StoreHome(.file) }

    private func model(_ attributes: String...) -> NSManagedObjectModel {
        let song = NSEntityDescription("Song")
        song.properties = attributes.map { attribute($0) }
        return NSManagedObjectModel(song)
    }

    private func fill() throws {
        let stack = try Stack(home.url(), model("title"))
        let context = stack.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Song", into: context).setValue("Yes", forKey: "title")
        try context.save()
        try stack.close()
    }

    /// The values that the song has.
    private func song(_ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil) throws -> [String: String] {
        let stack = try Stack(home.url(), model, options: options)
        defer { try? stack.close() }
        let song = try #require(try stack.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Song")).first)
        return song.entity.attributesByName.keys.reduce(into: [:]) { $0[$1] = song.value(forKey: $1) as? String }
    }

    static let copies = [
        "UPDATE Z_METADATA SET Z_VERSION = 0",
        """
        CREATE TABLE copied AS SELECT * FROM Z_METADATA UNION ALL SELECT * FROM Z_METADATA;
        DROP TABLE Z_METADATA; ALTER TABLE copied RENAME TO Z_METADATA
        """,
    ]

    // * The metadata stand under another number than Core Data's, or twice in a table without a key.
    // => The store is of the new version afterwards, and opens.
    @Test("replaces metadata that stand in another row, or in several", arguments: copies)
    func metadata(_ copy: String) throws {
        try fill()
        _ = try home.sql(copy)
        for options in [migrating, nil] {
            #expect(try song(model("title", "singer"), options: options) == ["title": "Yes"])
        }
    }

    // * A table has a column that is of no model, with an index, under the name that an attribute has in the new version.
    // => The attribute is new, or has the values that it had under its older name.
    @Test("goes past columns of no model under names that are needed", arguments: ["singer", "title"])
    func column(origin: String) throws {
        try fill()
        _ = try home.sql("ALTER TABLE ZSONG ADD COLUMN ZARTIST; UPDATE ZSONG SET ZARTIST = 'x'; CREATE INDEX byArtist ON ZSONG(ZARTIST)")
        let new = origin == "title" ? model("artist") : model("title", "artist")
        new.entities[0].attributesByName["artist"]?.renamingIdentifier = origin
        #expect(try song(new, options: migrating) == [origin == "title" ? "artist" : "title": "Yes"])
        #expect(try StoreInspector(url: home.url()).problems(with: new) == [])
    }
}
