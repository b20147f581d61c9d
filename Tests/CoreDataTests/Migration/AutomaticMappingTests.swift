import Foundation
import ModelFormat
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A store for whose version there is a mapping model", .serialized)
struct AutomaticMappingTests {
    private let folder: TemporaryFolder
    private let shop = Shop()
    private var url: URL { folder.file("Store.sqlite") }
    /// What is in the folder but the store and its log.
    private var left: [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []
        return all.filter { !$0.hasPrefix("Store.sqlite") }
    }

    init() throws {
        folder = try TemporaryFolder()
        try shop.fill(url)
    }

    private func register(_ policy: NSEntityMigrationPolicy.Type = JoiningPolicy.self) {
        NSMappingModel.register(from: shop.old, to: shop.new) { Shop().mapping(policy: policy) }
    }

    private var metadata: [String: Any] {
        get throws { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url) }
    }

    // * Nothing can be inferred between the two versions, and inference is off.
    // => The store is migrated where it is, by the mapping model; its identifier and the program's metadata stay.
    @Test("is migrated by that when it is opened, and stays where it is")
    func opens() throws {
        register()
        let (before, status) = (try metadata, try identity)
        try Stack(url, shop.new, options: [NSMigratePersistentStoresAutomaticallyOption: true]).close()
        #expect(try shop.contents(url) == Shop.migrated)
        #expect(try metadata["note"] as? String == "mine")
        #expect(try metadata[NSStoreUUIDKey] as? String == before[NSStoreUUIDKey] as? String)
        #expect(try identity == status)
        #expect(left == [])
        let inspector = try StoreInspector(url: url)
        #expect(try inspector.problems() + inspector.problems(with: shop.new) == [])
        try expectSchema(url, of: shop.new)
    }

    @Test("leaves what others have in the file: tables, whatever they are called, indexes and triggers")
    func strangers() throws {
        register()
        let connection = try Connection(path: url.path, mode: .readWrite)
        try connection.execute(
            """
            CREATE TABLE ZNOTES (text); INSERT INTO ZNOTES VALUES('mine');
            CREATE INDEX by_pk ON ZORDER (Z_PK, Z_OPT); CREATE INDEX by_notes ON ZNOTES (text);
            CREATE TRIGGER counted AFTER DELETE ON ZORDER BEGIN INSERT INTO ZNOTES VALUES('deleted'); END;
            """
        )
        connection.close()
        try Stack(url, shop.new, options: [NSMigratePersistentStoresAutomaticallyOption: true]).close()
        #expect(try shop.contents(url) == Shop.migrated)
        let after = try Connection(path: url.path, mode: .readWrite)
        defer { after.close() }
        let names = try after.rows("SELECT name FROM sqlite_master WHERE name IN ('ZNOTES', 'by_pk', 'by_notes', 'counted')")
        #expect(try names.count == 4 && after.rows("SELECT text FROM ZNOTES") == [[.text("mine")]])
    }

    private var identity: DatabaseIdentity { get throws { try #require(DatabaseIdentity(path: url.path)) } }

    // * A history of some transactions, each of which somebody has a token of; then the migration.
    // => The history is gone: every token has expired, and who follows begins anew, with nothing that only made the new store.
    @Test("has no history afterwards, and lets tokens from before expire")
    func history() throws {
        register()
        let tracked: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        let old = try Stack(url, shop.old, options: tracked)
        let writer = old.newContext()
        var tokens: [NSPersistentHistoryToken] = []
        for _ in 0..<5 {
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: writer).setValue("x", forKey: "label")
            try writer.save()
            tokens.append(try #require(writer.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)))
        }
        try old.close()
        let new = try Stack(url, shop.new, options: tracked.merging([NSMigratePersistentStoresAutomaticallyOption: true]) { $1 })
        let reader = new.newContext()
        for token in tokens { #expect(errorCode { _ = try reader.history(after: token) } == 134_301) }
        #expect(try reader.history().isEmpty)
        let token = try #require(reader.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil))
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: reader).setValue("y", forKey: "label")
        try reader.save()
        #expect(try reader.history(after: token).count == 1)
        try new.close()
    }

    @Test("is migrated by that rather than by what can be inferred")
    func wins() throws {
        let (old, new) = (Zoo(), Zoo())
        new.keeper.properties.append(attribute("motto"))
        try FileManager.default.removeItem(at: url)
        try old.model.makeFilledStore(at: url)
        NSMappingModel.register(from: old.model, to: new.model) {
            let keeper = NSEntityMapping("KeeperToKeeper", "Keeper", "Keeper")
            keeper.attributeMappings = [.init("motto", "$source.badge")]
            let model = NSMappingModel()
            model.entityMappings = [keeper]
            return model
        }
        try Stack(url, new.model, options: migrating).close()
        let contents = try StoreContents(url, new.model).objects
        #expect(contents["Keeper"]?.count == 3 && contents["Toy"]?.isEmpty == true)
        #expect(contents["Keeper"]?.values.allSatisfy { $0["motto"]?.hasPrefix("badge") == true } == true)
    }

    @Test("is what it was where the policy fails, with the reason underneath")
    func fails() throws {
        register(UnrulyPolicy.self)
        let error = UnrulyPolicy.$place.withValue("createRelationships") {
            cocoaError(134110) { try Stack(url, shop.new, options: migrating) }
        }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is UnrulyPolicy.Refusal)
        #expect(error?.userInfo["mapping"] as? String == "CustomerToClient")
        #expect(left == [])
        #expect(try StoreContents(url, shop.old).objects["Order"]?.count == 6)
    }

    private func migrate(_ onStatement: @escaping (String) throws -> Void) throws {
        let migration = MigrationInPlace(
            site: StoreSite(url: url, type: NSSQLiteStoreType),
            source: SourceModelSearch.Found(model: shop.old, configuration: nil),
            model: shop.new,
            mapping: shop.mapping(policy: JoiningPolicy.self),
            onStatement: onStatement
        )
        try migration.run()
    }

    private struct Interruption: Error {}

    // * The first, second, … statement on the store fails.
    // => 134110, and the store is what it was, with nothing beside it; without a failure it is the new one.
    @Test("is the old one where the migration fails at any statement")
    func interrupted() throws {
        let before = try StoreContents(url, shop.old).objects
        var (failed, isDone) = (0, false)
        while !isDone {
            var rest = failed
            do {
                try migrate { _ in
                    if rest == 0 { throw Interruption() }
                    rest -= 1
                }
                isDone = true
            } catch {
                failed += 1
                #expect((error as? CocoaError)?.code == .migration)
                if failed % 5 == 0 { #expect(try StoreContents(url, shop.old).objects == before && left == []) }
            }
            try #require(failed < 200)
        }
        #expect(failed > 20)
        #expect(try shop.contents(url) == Shop.migrated)
    }

    // * Before each statement on the store all files are copied as they are: a process that is killed there leaves them like that.
    // => Each copy opens as the old store or the new one, and is migrated by the next who opens it, who takes away what was left.
    @Test("is the old one or the new one where the process is killed at any statement")
    func killed() throws {
        register()
        let copies = try TemporaryFolder()
        var count = 0
        let copy = {
            count += 1
            try FileManager.default.copyItem(at: folder.url, to: copies.file("\(count)"))
        }
        try migrate { _ in try copy() }
        try copy()
        #expect(count > 20)
        var (old, new) = (0, 0)
        for number in 1...count {
            let url = copies.file("\(number)/Store.sqlite")
            let connection = try Connection(path: url.path, mode: .readWrite)
            #expect(try connection.rows("PRAGMA integrity_check") == [[.text("ok")]])
            let hashes = try #require(try StoreMetadata.read(from: connection)?.versionHashes)
            connection.close()
            if hashes == shop.old.entityVersionHashesByName { old += 1 } else { new += 1 }
            try Stack(url, shop.new, options: migrating).close()
            #expect(try shop.contents(url) == Shop.migrated)
            let left = try FileManager.default.contentsOfDirectory(atPath: copies.file("\(number)").path)
            #expect(left.filter { !$0.hasPrefix("Store.sqlite") } == [], "statement \(number)")
        }
        #expect(old > 10 && new > 0)
    }

    @Test(
        "is found beside the program by the version hashes of its models",
        .enabled(if: Fixtures.areThere, Comment(rawValue: Fixtures.whyNot))
    )
    func bundles() throws {
        let versions = try (1...3).map {
            try NSManagedObjectModel(reading: Fixtures.url("jsq/ExampleModel.xcdatamodeld/Version \($0).xcdatamodel"))
        }
        for (number, pair) in [(versions[0], versions[1]), (versions[1], versions[2])].enumerated() {
            let name = "Version\(number + 1)_to_Version\(number + 2).xcmappingmodel"
            try FileManager.default.copyItem(at: Fixtures.url("jsq/" + name), to: folder.file(name))
            let hashes = MappingModel.Hashes(source: pair.0.entityVersionHashesByName, destination: pair.1.entityVersionHashesByName)
            try hashes.data().write(to: folder.file(name).appendingPathComponent(MappingModel.hashesFile))
        }
        let bundle = try #require(Bundle(path: folder.url.path))
        let counts = versions.map { old in
            versions.map { NSMappingModel(from: [bundle], forSourceModel: old, destinationModel: $0)?.entityMappings.count }
        }
        #expect(counts == [[nil, 1, nil], [nil, nil, 2], [nil, nil, nil]])
        // One more entity: the mapping is of another version, though all that it names is there.
        let later = try NSManagedObjectModel(reading: Fixtures.url("jsq/ExampleModel.xcdatamodeld/Version 2.xcdatamodel"))
        later.entities.append(NSEntityDescription("Later"))
        #expect(NSMappingModel(from: [bundle], forSourceModel: versions[0], destinationModel: later) == nil)
        #expect(NSMappingModel(from: [bundle], forSourceModel: later, destinationModel: versions[2]) == nil)
    }
}

@Suite("Mapping models that Xcode has written", .enabled(if: Fixtures.areThere, Comment(rawValue: Fixtures.whyNot)))
struct FixtureMappingTests {
    // * A store of version 1 is migrated by the first mapping model, what comes of it by the second.
    // => Values are copied by name where the mapping says nothing, and constants and key paths are evaluated.
    @Test("are carried out one after the other")
    func jsq() throws {
        let folder = try TemporaryFolder()
        let versions = try (1...3).map {
            try NSManagedObjectModel(reading: Fixtures.url("jsq/ExampleModel.xcdatamodeld/Version \($0).xcdatamodel"))
        }
        try versions[0].makeFilledStore(at: folder.file("1.sqlite"), countOfEach: 5)
        for number in 1...2 {
            let mapping = try #require(
                NSMappingModel(contentsOf: Fixtures.url("jsq/Version\(number)_to_Version\(number + 1).xcmappingmodel"))
            )
            try NSMigrationManager(sourceModel: versions[number - 1], destinationModel: versions[number]).migrateStore(
                from: folder.file("\(number).sqlite"),
                type: .sqlite,
                mapping: mapping,
                to: folder.file("\(number + 1).sqlite"),
                type: .sqlite
            )
        }
        let contents = try (1...3).map { try StoreContents(folder.file("\($0).sqlite"), versions[$0 - 1]).objects }
        for name in ["name", "birthDate", "salary"] {
            let values = contents.map { ($0["Employee"] ?? [:]).mapValues { $0[name] ?? "?" } }
            #expect(values[0].count == 5 && values[0] == values[1] && values[1] == values[2], "\(name)")
        }
        let employees = contents[1]["Employee"]?.values.map { [$0["companyName"], $0["companyProfits"]] } ?? []
        #expect(employees.allSatisfy { $0 == ["Unknown", "0"] })
        let companies = contents[2]["Company"]?.values.map { [$0["name"], $0["profits"]] } ?? []
        #expect(companies.count == 5 && companies.allSatisfy { $0 == ["Unknown", "0"] })
        #expect(contents[2]["Company"]?.values.allSatisfy { $0["dateFounded"] != "[]" } == true)
        let inspector = try StoreInspector(url: folder.file("3.sqlite"))
        #expect(try inspector.problems() + inspector.problems(with: versions[2]) == [])
    }
}
