import CSQLite
import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

/// Writes to the source while it is migrated, when its objects are made or at the very end.
final class DisturbingPolicy: NSEntityMigrationPolicy {
    @TaskLocal static var source: (url: URL, atEnd: Bool)?

    private func disturb() throws {
        guard let source = Self.source else { return }
        let connection = try Connection(path: source.url.path, mode: .readWrite)
        defer { connection.close() }
        try connection.execute("UPDATE ZBOOK SET ZPREVIOUS = 1")
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        if Self.source?.atEnd == false { try disturb() }
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { if Self.source?.atEnd == true { try disturb() } }
}

@Suite("While entities are copied")
struct CopiedUnderWayTests {
    private let folder: TemporaryFolder
    private var old: URL { folder.file("Old.sqlite") }
    private var new: URL { folder.file("New.sqlite") }

    init() throws {
        folder = try TemporaryFolder()
        CountingPolicy.register()
        DisturbingPolicy.register()
    }

    /// Entities that lead to each other in a ring: Author, Book, and more where there are to be more.
    private func model(_ isNew: Bool, entities count: Int = 2) -> NSManagedObjectModel {
        let names = (0..<count).map { ["Author", "Book"].dropFirst($0).first ?? "More\($0)" }
        let all = names.map { NSEntityDescription($0, attribute("n")) }
        if isNew { for entity in all { entity.properties.append(attribute("note")) } }
        for (number, entity) in all.enumerated() {
            let next = all[(number + 1) % count]
            let many = entity.relate("next", to: next, many: true)
            many.inverseRelationship = next.relate("previous", to: entity, inverse: many)
        }
        let model = NSManagedObjectModel()
        model.entities = all
        return model
    }

    private func fill(_ model: NSManagedObjectModel) throws {
        let stack = try Stack(old, model)
        let context = stack.newContext()
        let objects = model.entities.map { NSEntityDescription.insertNewObject(forEntityName: $0.name ?? "", into: context) }
        for object in objects {
            object.setValue(object.entity.name, forKey: "n")
            let previous = object.entity.relationshipsByName["previous"]?.destinationEntity
            object.setValue(objects.first { $0.entity === previous }, forKey: "previous")
        }
        try context.save()
        try stack.close()
    }

    private func mapping(_ policy: NSEntityMigrationPolicy.Type, entities count: Int = 2) throws -> NSMappingModel {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: model(false, entities: count),
            destinationModel: model(true, entities: count)
        )
        for entity in mapping.entityMappings where entity.sourceEntityName == "Book" {
            entity.entityMigrationPolicyClassName = NSStringFromClass(policy)
        }
        return mapping
    }

    private func manager(entities count: Int = 2) -> NSMigrationManager {
        NSMigrationManager(sourceModel: model(false, entities: count), destinationModel: model(true, entities: count))
    }

    // * Somebody else writes to the source after some of it was read.
    // => 134110; nothing is at the destination. What he has written is in the source, and the next attempt takes it along.
    @Test("what others write to the source makes the migration fail", arguments: [true, false], [true, false])
    func disturbed(bySQL: Bool, atEnd: Bool) throws {
        try fill(model(false))
        let (mapping, manager) = (try mapping(DisturbingPolicy.self), manager())
        manager.usesStoreSpecificMigrationManager = bySQL
        let error = DisturbingPolicy.$source.withValue((old, atEnd)) {
            cocoaError(134110) { try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite) }
        }
        #expect(error?.localizedDescription.contains("Others have written to \(old.path)") == true)
        #expect(try folder.contents() == ["Old.sqlite"])
        try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
        #expect(manager.mappingModel === mapping)
        #expect(try StoreInspector(url: new).problems() == [])
    }

    private struct Enough: Error {}

    // * There are more authors than one statement copies; the migration is cancelled when it says that it has made progress with them.
    // => It ends there, with what it was cancelled with. Without that, progress is said between statements.
    @Test("it can be cancelled, and says how far it is", arguments: [true, false])
    func cancelled(isCancelled: Bool) throws {
        try fill(model(false))
        let connection = try Connection(path: old.path, mode: .readWrite)
        let count = 2 * RowCopy.rowsAtOnce + 7
        try connection.execute(
            """
            WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
            INSERT INTO ZAUTHOR(Z_PK, Z_ENT, Z_OPT) SELECT n, 1, 1 FROM number
            """
        )
        connection.close()
        let (mapping, manager) = (try mapping(CountingPolicy.self), manager())
        var fractions: [Float] = []
        manager.onProgress = { [unowned manager] fraction in
            fractions.append(fraction)
            if isCancelled, fraction > 0 { manager.cancelMigrationWithError(Enough()) }
        }
        if isCancelled {
            #expect(throws: Enough.self) { try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite) }
            #expect(fractions.count == 2)
            #expect(try folder.contents() == ["Old.sqlite"])
        } else {
            try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
            #expect(fractions == fractions.sorted() && fractions.filter { $0 > 0 && $0 < 0.16666 }.count == 2)
            let migrated = try Stack(new, model(true))
            #expect(try migrated.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Author")) == count)
            try migrated.close()
        }
    }

    private struct Interruption: Error {}

    // * The first, second, … statement that copies rows fails.
    // => 134110 with that underneath; the source is what it was, and nothing is at the destination. Without a failure all is there.
    @Test("a statement that fails ends the migration, and leaves the source as it is", arguments: [true, false])
    func failing(bySQLite: Bool) throws {
        try fill(model(false))
        let (before, links) = (bytes(of: old), try StoreContents(old, model(false)).objects)
        let mapping = try mapping(CountingPolicy.self)
        var (failed, isDone) = (0, false)
        while !isDone {
            let manager = manager()
            var left = failed
            manager.onCopyStatement = { _ in
                if left == 0 { throw bySQLite ? SQLiteError(extendedCode: SQLITE_FULL, message: "full") : Interruption() }
                left -= 1
            }
            do {
                try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
                isDone = true
            } catch {
                failed += 1
                let reason = (error as NSError).userInfo[NSUnderlyingErrorKey]
                #expect((error as? CocoaError)?.code == .migration, "statement \(failed): \(error)")
                #expect(
                    bySQLite ? (reason as? CocoaError)?.code == .fileWriteOutOfSpace : reason is Interruption,
                    "statement \(failed): \(error)"
                )
                #expect(bytes(of: old) == before, "statement \(failed)")
                #expect(try folder.contents() == ["Old.sqlite"], "statement \(failed)")
            }
            try #require(failed < 200)
        }
        #expect(failed > 15)
        #expect(try StoreInspector(url: new).problems() == [])
        #expect(try StoreContents(old, model(false)).objects == links)
        let migrated = try StoreContents(new, model(true)).objects
        #expect(migrated.mapValues { $0.mapValues { $0.filter { $0.key != "note" } } } == links)
    }

    // * Rows are copied into a file whose pages a statement may change all.
    // => What they were, to be taken back, is beside the file, and not in memory.
    @Test("what pages were is not kept in memory")
    func journal() throws {
        let options = WorkFile(beside: new).options(StoreSite(url: new, type: NSSQLiteStoreType))
        let stacks = [try Stack(old, model(false)), try Stack(new, model(true), options: options)]
        let stores = stacks.map { $0.coordinator.persistentStores[0] }
        let rows = try #require(RowCopy.between(stores[0], stores[1]))
        #expect(try rows.write { try $0.rows("PRAGMA main.journal_mode") } == [[.text("delete")]])
        rows.close()
        for stack in stacks { try stack.close() }
    }

    /// How many statements a migration takes.
    private func statements(entities count: Int) throws -> Int {
        for url in [old, new] { try? FileManager.default.removeItem(at: url) }
        try fill(model(false, entities: count))
        let manager = manager(entities: count)
        try manager.migrateStore(
            from: old,
            type: .sqlite,
            mapping: mapping(CountingPolicy.self, entities: count),
            to: new,
            type: .sqlite
        )
        return try #require(manager.userInfo?["statements"] as? Int)
    }

    @Test("as many statements are run for each entity, however many there are")
    func entities() throws {
        let counts = try [10, 20, 40].map(statements)
        #expect(counts[2] - counts[1] == 2 * (counts[1] - counts[0]), "\(counts)")
    }

    // * Models of 10, 20 and 40 entities, each of which gets an attribute and an ordered relationship.
    // => Twice as many entities take twice as many statements, and twice the text.
    @Test("a migration in place takes as many statements for each entity, which are no longer where there are more")
    func entitiesInPlace() throws {
        let scripts = try [10, 20, 40].map { count in
            try? FileManager.default.removeItem(at: old)
            try fill(model(false, entities: count))
            let new = model(true, entities: count)
            for relationship in new.entities.flatMap({ $0.relationshipsByName.values }) where relationship.isToMany {
                relationship.isOrdered = true
            }
            new.freeze()
            let place = StorePlace.file(old)
            let database = try StoreDatabase(place: place, options: DatabaseOptions(migrating, isInMemory: false))
            let connection = try place.connect(.readWrite, timeout: 5)
            defer { connection.close() }
            var lengths: [Int] = []
            connection.onStatement = { lengths.append($0.utf8.count) }
            try database.migrateIfAsked(connection, new, nil)
            return lengths
        }
        let (counts, lengths) = (scripts.map(\.count), scripts.map { $0.reduce(0, +) })
        #expect(counts[2] - counts[1] == 2 * (counts[1] - counts[0]), "\(counts)")
        // Names and numbers have a digit more.
        #expect(Double(lengths[2] - lengths[1]) < 2.1 * Double(lengths[1] - lengths[0]), "\(lengths)")
    }
}
