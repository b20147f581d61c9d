import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

/// Core Data keeps what is large in `.NAME_SUPPORT` beside `NAME.sqlite`, and beside `NAME.db` too.
@Suite("Stores that have one folder for data in files of their own")
struct SharedFolderTests {
    private let folder: TemporaryFolder
    private let (one, other): (URL, URL)

    init() throws {
        folder = try TemporaryFolder()
        (one, other) = (folder.file("Photos.sqlite"), folder.file("Photos.db"))
        for url in [one, other] { try Self.make(url) }
    }

    private static func model(_ names: [String] = ["data"]) -> NSManagedObjectModel {
        let photo = NSEntityDescription("Photo", attribute("data", .binaryData), attribute("title"))
        photo.attributesByName["data"]?.allowsExternalBinaryDataStorage = true
        photo.properties.removeAll { !names.contains($0.name) }
        return NSManagedObjectModel(photo)
    }

    /// A store with one photo, whose data are its name.
    private static func make(_ url: URL) throws {
        let stack = try Stack(url, model())
        let context = stack.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context).setValue(Data([1]), forKey: "data")
        try context.save()
        try stack.close()
        let files = try #require(StorePlace.file(url).supportFolder).appendingPathComponent("_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        let file = UUID().uuidString
        try Data(url.lastPathComponent.utf8).write(to: files.appendingPathComponent(file))
        _ = try Child.sqlite(url, "UPDATE ZPHOTO SET ZDATA = CAST(x'02' || '\(file)' || x'00' AS BLOB)")
    }

    private func photos(_ url: URL, _ model: NSManagedObjectModel = model()) throws -> [String] {
        let stack = try Stack(url, model)
        let found = try stack.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo"))
        let texts = found.map { String(decoding: $0.value(forKey: "data") as? Data ?? Data(), as: UTF8.self) }
        try stack.close()
        return texts
    }

    @Test("leave each other theirs when one is destroyed, and the last one destroyed takes the folder along")
    func destroyed() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.destroyPersistentStore(at: one, ofType: NSSQLiteStoreType)
        #expect(try photos(other) == ["Photos.db"])
        try coordinator.destroyPersistentStore(at: other, ofType: NSSQLiteStoreType)
        #expect(try !exists(#require(StorePlace.file(one).supportFolder)))
    }

    // * A store is moved to a name of another extension: its copy names the same files. The old one is destroyed.
    @Test("keep theirs when what one was copied from is destroyed")
    func moved() throws {
        let stack = try Stack(one, Self.model())
        let moved = folder.file("Photos.new")
        try stack.coordinator.migratePersistentStore(stack.coordinator.persistentStores[0], to: moved, type: .sqlite)
        try stack.coordinator.destroyPersistentStore(at: one, ofType: NSSQLiteStoreType)
        try stack.coordinator.destroyPersistentStore(at: other, ofType: NSSQLiteStoreType)
        try stack.close()
        #expect(try photos(moved) == ["Photos.sqlite"])
    }

    @Test("leave each other theirs when one is emptied, or replaced by another store")
    func emptied() throws {
        let stack = try Stack(one, Self.model())
        _ = try stack.coordinator.emptyPersistentStore(stack.coordinator.persistentStores[0])
        #expect(try photos(other) == ["Photos.db"])
        try Self.make(folder.file("Backup.sqlite"))
        try stack.coordinator.replacePersistentStore(at: one, withPersistentStoreFrom: folder.file("Backup.sqlite"), type: .sqlite)
        try stack.close()
        #expect(try photos(one) == ["Backup.sqlite"])
        #expect(try photos(other) == ["Photos.db"])
    }

    // * One takes its data into the rows, by a mapping model; a copy of it, which names the same file, loses the attribute.
    @Test("leave each other theirs when one is migrated")
    func migrated() throws {
        let copy = folder.file("Photos.copy")
        try FileManager.default.copyItem(at: one, to: copy)
        let mapping = NSEntityMapping("PhotoToPhoto", "Photo", "Photo")
        mapping.attributeMappings = [.init("data", "$source.data")]
        let mappings = NSMappingModel()
        mappings.entityMappings = [mapping]
        let source = SourceModelSearch.Found(model: Self.model(), configuration: nil)
        let new = Self.model(["data", "title"])
        try MigrationInPlace(site: StoreSite(url: other, type: NSSQLiteStoreType), source: source, model: new, mapping: mappings).run()
        #expect(try photos(other, new) == ["Photos.db"])
        try Stack(copy, Self.model(["title"]), options: migrating).close()
        #expect(try photos(one) == ["Photos.sqlite"])
    }

    // * Somebody sees whether the folder is shared while he is writing, as to empty the store.
    // => Others wait until he has written.
    @Test("are looked for without a lock being lost")
    func locks() throws {
        let connection = try Connection(path: one.path, mode: .readWrite)
        defer { connection.close() }
        try connection.transaction(.immediate) {
            #expect(exists(one, "-shm") && StorePlace.file(one).ownSupportFolder == nil)
            let other = try Child.run("sqlite3", [one.path, "BEGIN IMMEDIATE"])
            #expect(other.status != 0)
        }
    }
}
