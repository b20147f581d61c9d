import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData
@testable import ExampleStores

@Suite("A migration manager")
struct ManualMigrationTests {
    private let folder: TemporaryFolder
    private let shop = Shop()

    init() throws { folder = try TemporaryFolder() }

    private func migrate(
        _ mapping: NSMappingModel,
        to name: String = "New.sqlite",
        with manager: NSMigrationManager? = nil,
        types: (String, String) = (NSSQLiteStoreType, NSSQLiteStoreType)
    ) throws {
        let manager = manager ?? NSMigrationManager(sourceModel: shop.old, destinationModel: shop.new)
        try manager.migrateStore(
            from: folder.file("Old.sqlite"),
            sourceType: types.0,
            with: mapping,
            toDestinationURL: folder.file(name),
            destinationType: types.1
        )
    }

    /// All files in the folder.
    private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()) ?? [] }

    // * Names are joined by a function of the policy, totals become numbers, tags are copied.
    // => Every value and relationship is there; the metadata come along, the source is what it was, and nothing else is left.
    @Test("makes a new store as a mapping model made in code says, with a policy and expressions")
    func shopWithPolicy() throws {
        try shop.fill(folder.file("Old.sqlite"))
        let before = bytes(of: folder.file("Old.sqlite"))
        try migrate(shop.mapping(policy: JoiningPolicy.self))
        #expect(bytes(of: folder.file("Old.sqlite")) == before)
        #expect(files == ["New.sqlite", "Old.sqlite"])
        #expect(try shop.contents(folder.file("New.sqlite")) == Shop.migrated)
        let inspector = try StoreInspector(url: folder.file("New.sqlite"))
        #expect(try inspector.problems() + inspector.problems(with: shop.new) == [])
        let metadata = try ["Old.sqlite", "New.sqlite"].map {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: folder.file($0))
        }
        #expect(metadata[1]["note"] as? String == "mine")
        #expect(metadata[0][NSStoreUUIDKey] as? String == metadata[1][NSStoreUUIDKey] as? String)
    }

    @Test("removes what a migration has left whose process was killed, and nothing else")
    func abandoned() throws {
        try shop.fill(folder.file("Old.sqlite"))
        let names = [
            ".New.sqlite.\(Int32.max)-1.migration", ".New.sqlite.\(getpid())-0.migration", ".Newer.sqlite.\(Int32.max)-1.migration",
        ]
        for name in names { try Data([1]).write(to: folder.file(name)) }
        try migrate(shop.mapping(policy: JoiningPolicy.self))
        #expect(files == [names[1], names[2], "New.sqlite", "Old.sqlite"].sorted())
    }

    @Test("leaves nothing of a store of a program's own class that it could not finish, so that the next attempt finds room")
    func unfinished() throws {
        ContractKind.register()
        try shop.fill(folder.file("Old.sqlite"))
        let types = (NSSQLiteStoreType, CSVStore.storeType)
        _ = UnrulyPolicy.$place.withValue("createRelationships") {
            cocoaError(134110) { try migrate(shop.mapping(policy: UnrulyPolicy.self), to: "New", types: types) }
        }
        #expect(files == ["Old.sqlite"])
        try migrate(shop.mapping(policy: JoiningPolicy.self), to: "New", types: types)
        #expect(try shop.contents(folder.file("New"), type: CSVStore.storeType) == Shop.migrated)
    }

    @Test("asks a policy's hooks in three passes")
    func hooks() throws {
        try shop.fill(folder.file("Old.sqlite"))
        let mapping = shop.mapping(policy: NotingPolicy.self)
        mapping.entityMappings[1].entityMigrationPolicyClassName = NSStringFromClass(NotingPolicy.self)
        let manager = NSMigrationManager(sourceModel: shop.old, destinationModel: shop.new)
        try migrate(mapping, with: manager)
        let (client, order) = ("CustomerToClient", "OrderToOrder")
        let notes = manager.userInfo?["notes"] as? [String]
        #expect(
            notes == [
                "begin \(client)", "create \(client)", "endCreation \(client)", "begin \(order)", "create \(order)", "endCreation \(order)",
                "relate \(client)", "endRelation \(client)", "relate \(order)", "endRelation \(order)", "validate \(client)",
                "validate \(order)", "end \(client)", "end \(order)",
            ]
        )
        #expect(manager.migrationProgress == 1)
        #expect(try shop.contents(folder.file("New.sqlite")) == Shop.migrated)
    }

    @Test("goes between documents and databases", arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType])
    func documents(_ type: String) throws {
        for other in [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType] {
            for file in files { try FileManager.default.removeItem(at: folder.file(file)) }
            try shop.fill(folder.file("Old.sqlite"), type: type)
            try migrate(shop.mapping(policy: JoiningPolicy.self), types: (type, other))
            #expect(files == ["New.sqlite", "Old.sqlite"])
            #expect(try shop.contents(folder.file("New.sqlite"), type: other) == Shop.migrated)
        }
    }

    @Test("goes from memory to memory, as long as somebody has the stores")
    func memory() throws {
        let urls = [1, 2].map { _ in URL(string: "file:///\(UUID().uuidString)?vfs=memdb")! }
        let keepers = [shop.old, shop.new].map { NSPersistentStoreCoordinator(managedObjectModel: $0) }
        let old = try keepers[0].addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: urls[0])
        _ = old
        try shop.fill(urls[0], type: NSInMemoryStoreType)
        _ = try keepers[1].addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: urls[1])
        try NSMigrationManager(sourceModel: shop.old, destinationModel: shop.new).migrateStore(
            from: urls[0],
            type: .inMemory,
            mapping: shop.mapping(policy: JoiningPolicy.self),
            to: urls[1],
            type: .inMemory
        )
        #expect(try shop.contents(urls[1], type: NSInMemoryStoreType) == Shop.migrated)
    }

    // * A thousand customers and two thousand orders are migrated.
    // => At no time are more objects alive than those of a few batches.
    @Test("holds a few hundred objects at a time, however many there are")
    func bounded() throws {
        try shop.fill(folder.file("Old.sqlite"), customers: 1500)
        let manager = NSMigrationManager(sourceModel: shop.old, destinationModel: shop.new)
        var most = 0
        manager.onProgress = { [unowned manager] _ in
            guard let run = manager.run else { return }
            most = max(most, run.source.context.identityMap.objects.count + run.destination.context.identityMap.objects.count)
        }
        try migrate(shop.mapping(policy: JoiningPolicy.self), with: manager)
        #expect(most < 2 * MigrationRun.batchSize)
        #expect(try shop.contents(folder.file("New.sqlite")).count == 4500)
    }

    // * What can be inferred is migrated by SQL, and object by object.
    // => Both stores have the same objects.
    @Test("carries out an inferred mapping model by SQL, or object by object", arguments: [true, false])
    func inferred(_ usesSQL: Bool) throws {
        let (old, new) = (Zoo(), Zoo())
        new.add(NSEntityDescription("Aardvark", attribute("name")))
        (new.animal.name, new.animal.renamingIdentifier) = ("Beast", "Animal")
        new.toys.isOrdered = true
        new.keeper.properties.append(attribute("note"))
        try old.model.makeFilledStore(at: folder.file("Old.sqlite"), countOfEach: 40)
        let before = try StoreContents(folder.file("Old.sqlite"), old.model)
        let manager = NSMigrationManager(sourceModel: old.model, destinationModel: new.model)
        manager.usesStoreSpecificMigrationManager = usesSQL
        var counts = 0
        manager.onProgress = { _ in counts += 1 }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old.model, destinationModel: new.model)
        try migrate(mapping, with: manager)
        #expect(usesSQL == (counts == 2))
        if usesSQL { return try expectMigrated(folder.file("New.sqlite"), before, ModelTransition(from: old.model, to: new.model)) }
        // Keys are given anew, entity by entity, so objects are told by a text that each has.
        let after = try StoreContents(folder.file("New.sqlite"), new.model).objects
        for (entity, name) in [("Beast", "name"), ("Dog", "tricks"), ("Keeper", "badge"), ("Toy", "color")] {
            let origin = entity == "Beast" ? "Animal" : entity
            #expect(
                after[entity]?.values.compactMap { $0[name] }.sorted() == before.objects[origin]?.values.compactMap { $0[name] }.sorted()
            )
        }
        let inspector = try StoreInspector(url: folder.file("New.sqlite"))
        #expect(try inspector.problems() + inspector.problems(with: new.model) == [])
        #expect(
            try related(after, "Keeper", "badge", "animals", ["Beast", "Dog", "Cat"], "age")
                == related(before.objects, "Keeper", "badge", "animals", ["Animal", "Dog", "Cat"], "age")
        )
        #expect(
            try related(after, "Dog", "tricks", "friends", ["Dog"], "tricks")
                == related(before.objects, "Dog", "tricks", "friends", ["Dog"], "tricks")
        )
    }

    /// What the objects of an entity lead to, both ends told by a value.
    private func related(
        _ objects: [String: [String: [String: String]]],
        _ entity: String,
        _ name: String,
        _ relationship: String,
        _ targets: [String],
        _ value: String
    ) throws -> [String] {
        let all = targets.reduce(into: [String: String]()) { all, target in
            for (key, values) in objects[target] ?? [:] { all[key] = values[value] }
        }
        return (objects[entity] ?? [:]).values.map { values in
            let keys = (values[relationship] ?? "[]").dropFirst().dropLast().components(separatedBy: ", ")
            return "\(values[name] ?? ""): \(keys.compactMap { all[$0] }.sorted())"
        }.sorted()
    }

    @Test("fetches source objects as the mapping says")
    func sourceExpression() throws {
        try shop.fill(folder.file("Old.sqlite"))
        let mapping = shop.mapping(policy: JoiningPolicy.self)
        mapping.entityMappings[0].sourceExpression = NSExpression(
            format: "FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Customer\", \"age > 20\")"
        )
        try migrate(mapping)
        let lines = try shop.contents(folder.file("New.sqlite"))
        #expect(lines.prefix(2) == ["Ann1 Löwe, 21: [2, 3]", "Ann2 Löwe, 22: [4, 5]"])
        #expect(lines.dropFirst(2).first == "0 0.0 [\"red\", \"green\"] of -")
    }

    // * The new store has the name of the source, but for its extension, and with it the folder for data in files of their own. It has none.
    // => The source has its data still: it is only read.
    @Test("leaves the source its data in files of their own", arguments: [true, false])
    func sharedFolder(bySQL: Bool) throws {
        func model(_ names: [String]) -> NSManagedObjectModel {
            let photo = NSEntityDescription("Photo")
            photo.properties = names.map { attribute($0, $0 == "title" ? .string : .binaryData) }
            photo.attributesByName["data"]?.allowsExternalBinaryDataStorage = true
            photo.attributesByName["sound"]?.allowsExternalBinaryDataStorage = true
            return NSManagedObjectModel(photo)
        }
        let (old, new) = (model(["data", "sound"]), model(["sound", "title"]))
        let source = folder.file("Photos.sqlite")
        let stack = try Stack(source, old)
        let context = stack.newContext()
        let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
        for name in ["data", "sound"] { photo.setValue(Data([1]), forKey: name) }
        try context.save()
        try stack.close()
        let files = try #require(StorePlace.file(source).supportFolder).appendingPathComponent("_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        for name in ["data", "sound"] {
            let file = UUID().uuidString
            try Data(name.utf8).write(to: files.appendingPathComponent(file))
            _ = try Child.sqlite(source, "UPDATE ZPHOTO SET Z\(name.uppercased()) = CAST(x'02' || '\(file)' || x'00' AS BLOB)")
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = bySQL
        try manager.migrateStore(from: source, type: .sqlite, mapping: mapping, to: folder.file("Photos.new"), type: .sqlite)
        for (url, model, names) in [(source, old, ["data", "sound"]), (folder.file("Photos.new"), new, ["sound"])] {
            let stack = try Stack(url, model)
            let photo = try stack.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo")).first
            #expect(names.map { photo?.value(forKey: $0) as? Data } == names.map { Data($0.utf8) })
            try stack.close()
        }
    }
}
