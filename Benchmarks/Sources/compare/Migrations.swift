import CBaseline
import CoreData
import Foundation

/// A store of the first version opens with the second.
extension Bench {
    /// A new mandatory attribute with a default value, which every row gets.
    func addAttribute(_ side: any Side) throws -> Double {
        let new = NSAttributeDescription()
        (new.name, new.attributeType, new.isOptional, new.defaultValue) = ("rating", .integer64AttributeType, false, 3)
        let model = Song.model(isIndexed: false)
        model.entities[0].properties.append(new)
        let sql = "ALTER TABLE ZSONG ADD COLUMN ZRATING INTEGER; UPDATE ZSONG SET ZRATING = 3"
        return try migrate(filledStore(side), to: model, inC: sql, side) { url in
            let (_, answer) = try askInC("SELECT COUNT(*), SUM(ZRATING) FROM ZSONG", url)
            try expect(answer.integers, Int64(4 * workload.songs.count), side, "songs and their ratings")
        }
    }

    /// A to-one becomes a to-many: a table of pairs, and a column less.
    func manyShelves(_ side: any Side) throws -> Double {
        let model = Shelf.model()
        model.entitiesByName["ShelfBook"]?.relationshipsByName["shelf"]?.maxCount = 0
        let books = workload.songs.count
        let sql = """
            CREATE TABLE Z_1BOOKS ( Z_1SHELF INTEGER, Z_2BOOKS INTEGER, PRIMARY KEY (Z_1SHELF, Z_2BOOKS) ); \
            INSERT INTO Z_1BOOKS SELECT ZSHELF, Z_PK FROM ZSHELFBOOK WHERE ZSHELF IS NOT NULL ORDER BY ZSHELF, Z_PK; \
            CREATE INDEX Z_1BOOKS_Z_2BOOKS_INDEX ON Z_1BOOKS (Z_2BOOKS, Z_1SHELF); \
            DROP INDEX ZSHELFBOOK_ZSHELF_INDEX; \
            ALTER TABLE ZSHELFBOOK DROP COLUMN ZSHELF
            """
        return try migrate(shelves(count: books / 10), to: model, inC: sql, side) { url in
            let (_, answer) = try askInC("SELECT COUNT(*) FROM Z_1BOOKS", url)
            try expect(answer.integers, Int64(books), side, "pairs")
        }
    }

    private func migrate(
        _ original: URL,
        to model: NSManagedObjectModel,
        inC sql: String,
        _ side: any Side,
        _ check: (URL) throws -> Void
    ) throws -> Double {
        try withScratchDirectory { directory in
            let url = directory.appendingPathComponent("old.sqlite")
            try FileManager.default.copyItem(at: original, to: url)
            let seconds = try side is RawSide ? run(sql, url) : cpuSeconds { try open(url, model) }.seconds
            try check(url)
            return seconds
        }
    }

    private func open(_ url: URL, _ model: NSManagedObjectModel) throws {
        let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        try coordinator.remove(store)
    }

    private func run(_ sql: String, _ url: URL) throws -> Double {
        try cpuSeconds {
            try withConnection(url) { connection in
                try SQLiteFailure.check(baseline_run(connection, "BEGIN IMMEDIATE; \(sql); COMMIT"), "migrate")
            }
        }.seconds
    }

    /// So many objects, each through a policy of one's own.
    func migrateByPolicy(count: Int) throws -> Double {
        let original = try filledStore(CoreDataSide(workload: workload), count: count)
        return try withScratchDirectory { directory in
            let old = directory.appendingPathComponent("old.sqlite")
            try FileManager.default.copyItem(at: original, to: old)
            return try cpuSeconds { try migrateByPolicy(old, count) }.seconds
        }
    }

    /// How much more memory than before the process has, at most, while twice as many objects go through a policy.
    func memoryOfMigration() throws -> Double {
        let songs = workload.songs.count
        let original = try filledStore(CoreDataSide(workload: workload))
        return try withScratchDirectory { directory in
            let old = directory.appendingPathComponent("old.sqlite")
            try FileManager.default.copyItem(at: original, to: old)
            let double = """
                CREATE TEMP TABLE more AS SELECT * FROM ZSONG; UPDATE more SET Z_PK = Z_PK + \(songs); \
                INSERT INTO ZSONG SELECT * FROM more; UPDATE Z_PRIMARYKEY SET Z_MAX = \(2 * songs)
                """
            _ = try run(double, old)
            return try PeakMemory.growth { try migrateByPolicy(old, 2 * songs) }
        }
    }

    private func migrateByPolicy(_ old: URL, _ count: Int) throws {
        let new = old.deletingLastPathComponent().appendingPathComponent("new.sqlite")
        let (source, destination) = (Song.model(isIndexed: false), Song.model(isIndexed: false))
        let shout = NSAttributeDescription()
        (shout.name, shout.attributeType) = ("shout", .stringAttributeType)
        destination.entities[0].properties.append(shout)
        SongPolicy.register()
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        mapping.entityMappings[0].mappingType = .customEntityMappingType
        mapping.entityMappings[0].entityMigrationPolicyClassName = NSStringFromClass(SongPolicy.self)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
        let (_, answer) = try askInC("SELECT COUNT(*) FROM ZSONG WHERE ZSHOUT = upper(ZTITLE)", new)
        guard answer.integers == Int64(count) else {
            throw WrongResult(description: "\(answer.integers) of \(count) songs were migrated")
        }
    }
}

final class SongPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
        made.first?.setValue((source.value(forKey: "title") as? String)?.uppercased(), forKey: "shout")
    }
}
