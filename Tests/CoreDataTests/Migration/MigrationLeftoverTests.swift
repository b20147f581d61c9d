import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("What a migration leaves")
struct MigrationLeftoverTests {
    private let home: StoreHome
    private let deferring = migrating.merging([NSPersistentStoreDeferredLightweightMigrationOptionKey: true]) { $1 }
    private let deferred = NSPersistentStoreDeferredLightweightMigrationOptionKey

    init() throws { home = try StoreHome(.file) }

    private func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    private func entity(_ name: String, _ properties: NSPropertyDescription...) -> NSEntityDescription {
        let entity = NSEntityDescription(name)
        entity.properties = properties
        return entity
    }

    private func insert(_ entity: String, _ values: [String: Any], in context: NSManagedObjectContext) {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
    }

    // * A migration has put off the dropping of tables; a program sets metadata of its own, without what it has not set.
    // => The store still says that there is something to finish, and it is finished.
    @Test("is not forgotten over metadata that a program sets", arguments: [true, false])
    func metadata(isOpen: Bool) throws {
        try Zoo().model.makeFilledStore(at: home.url())
        let zoo = Zoo()
        zoo.remove(zoo.toy)
        zoo.animal.properties.removeAll { $0 === zoo.toys }
        try Stack(home.url(), zoo.model, options: deferring).close()
        if isOpen {
            let stack = try Stack(home.url(), zoo.model)
            let store = stack.coordinator.persistentStores[0]
            stack.coordinator.setMetadata(["mine": 1], for: store)
            let context = stack.newContext()
            insert("Keeper", [:], in: context)
            try context.save()
            try stack.close()
        } else {
            try NSPersistentStoreCoordinator.setMetadata(["mine": 1], type: .sqlite, at: home.url())
        }
        let stack = try Stack(home.url(), zoo.model)
        let store = stack.coordinator.persistentStores[0]
        #expect(store.metadata["mine"] as? Int == 1 && store.metadata[deferred] as? Bool == true)
        try stack.coordinator.finishDeferredLightweightMigration()
        #expect(store.metadata[deferred] == nil)
        #expect(try home.sql("SELECT count(*) FROM sqlite_master WHERE name GLOB '*MIGRATING*'") == "0")
        // Nor can a program say that there is something to do.
        stack.coordinator.setMetadata([deferred: true], for: store)
        #expect(store.metadata[deferred] == nil)
        try stack.close()
    }

    // * Two coordinators have a store of which a migration has left something; one of them finishes it.
    // => The other one, which sets metadata and saves after that, does not say that there is something to finish.
    @Test("is done for all once one coordinator has finished it")
    func finishedByOthers() throws {
        try Zoo().model.makeFilledStore(at: home.url())
        let zoo = Zoo()
        zoo.remove(zoo.toy)
        zoo.animal.properties.removeAll { $0 === zoo.toys }
        let first = try Stack(home.url(), zoo.model, options: deferring)
        let second = try Stack(home.url(), zoo.model)
        try first.coordinator.finishDeferredLightweightMigration()
        second.coordinator.setMetadata(["mine": 1], for: second.coordinator.persistentStores[0])
        let context = second.newContext()
        insert("Keeper", [:], in: context)
        try context.save()
        let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: home.url(), options: nil)
        #expect(found["mine"] as? Int == 1 && found[deferred] == nil)
    }

    // * An entity is called as a table would be that a migration has left.
    // => It is migrated as any other, and nothing of it is dropped.
    @Test("is told from an entity of a strange name")
    func strangeName() throws {
        func version(_ attributes: [String], _ extra: String?) -> NSManagedObjectModel {
            let odd = entity("_MIGRATING_1"), other = entity("Other")
            odd.properties = attributes.map { attribute($0) }
            other.properties = attributes.map { attribute($0) }
            let model = NSManagedObjectModel()
            model.entities = [odd, other] + (extra.map { [NSEntityDescription($0)] } ?? [])
            return model
        }
        let versions = [
            version(["a", "b", "c", "d"], "_MIGRATING_2"), version(["a"], nil), version(["a", "_MIGRATING_ZA"], "_MIGRATING_3"),
        ]
        let stack = try Stack(home.url(), versions[0])
        let context = stack.newContext()
        for entity in ["_MIGRATING_1", "Other"] { insert(entity, ["a": entity], in: context) }
        try context.save()
        try stack.close()
        for version in versions.dropFirst() {
            let stack = try Stack(home.url(), version, options: deferring)
            try stack.coordinator.finishDeferredLightweightMigration()
            let context = stack.newContext()
            for entity in ["_MIGRATING_1", "Other"] {
                let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
                #expect(found.map { $0.value(forKey: "a") as? String } == [entity])
            }
            try stack.close()
            try expectSchema(home.url(), of: version)
        }
    }

    // * Core Data has put data into files; their objects, or the attribute, are gone in the next version.
    // => So are the files, but not those of other objects, nor what no object has named.
    @Test("is no file with data of objects that are gone", arguments: [false, true])
    func externalData(fails: Bool) throws {
        func data() -> NSAttributeDescription {
            let data = attribute("data", .binaryData)
            data.allowsExternalBinaryDataStorage = true
            return data
        }
        let old = model(entity("Photo", data()), entity("Film", data()), entity("Song", data(), attribute("title")))
        let new = model(entity("Photo", data()), entity("Song", attribute("title")))
        if fails { new.entitiesByName["Song"]?.uniquenessConstraints = [["title"]] }
        let stack = try Stack(home.url(), old)
        let context = stack.newContext()
        for entity in ["Photo", "Film", "Song"] { insert(entity, ["data": Data([7])], in: context) }
        for _ in 0..<2 { insert("Song", ["title": "same"], in: context) }
        try context.save()
        try stack.close()
        let folder = try #require(StorePlace.file(home.url()).supportFolder).appendingPathComponent("_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var names: [String: String] = [:]
        for entity in ["Photo", "Film", "Song", ""] {
            let name = UUID().uuidString
            names[entity] = name
            try Data("data of \(entity)".utf8).write(to: folder.appendingPathComponent(name))
            if entity.isEmpty { continue }
            let hex = name.utf8.map { String($0, radix: 16) }.joined()
            _ = try home.sql("UPDATE Z\(entity.uppercased()) SET ZDATA = x'02\(hex)00' WHERE ZDATA IS NOT NULL")
        }
        if fails {
            #expect(throws: CocoaError.self) { try Stack(home.url(), new, options: migrating) }
        } else {
            let migrated = try Stack(home.url(), new, options: migrating)
            let photo = try migrated.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo")).first
            #expect(photo?.value(forKey: "data") as? Data == Data("data of Photo".utf8))
            try migrated.close()
        }
        let left = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
        #expect(left == Set((fails ? ["Photo", "Film", "Song", ""] : ["Photo", ""]).compactMap { names[$0] }))
    }

    // * A store holds the entities of one configuration; what cannot be inferred is of another one.
    // => The store migrates. With the whole model, and with the other one, it is refused.
    @Test("is nothing of what stands in the way of entities that the store does not hold")
    func configurations() throws {
        func version(_ next: Bool) -> NSManagedObjectModel {
            let (person, car) = (entity("Person", attribute("name")), entity("Car", attribute("wheels", next ? .string : .integer32)))
            if next { person.properties.append(attribute("note")) }
            let model = model(person, car)
            model.setEntities([person], forConfigurationName: "People")
            model.setEntities([car], forConfigurationName: "Cars")
            return model
        }
        for configuration in ["People", "Cars", nil] {
            let url = home.url("\(configuration ?? "All").sqlite")
            let old = Stack(version(false))
            try old.add(url, configuration: configuration)
            try old.close()
            let new = Stack(version(true))
            if configuration == "People" {
                try new.add(url, configuration: configuration, options: migrating)
            } else {
                let error = #expect(throws: CocoaError.self) { try new.add(url, configuration: configuration, options: migrating) }
                #expect(error?.code == .migrationMissingMappingModel && error?.localizedDescription.contains("Car.wheels") == true)
            }
            try new.close()
        }
    }

    // * A store of the whole model is opened, by mistake, as one of a configuration.
    // => It keeps the objects of all entities. Without objects of others it becomes one, and the whole again.
    @Test("is never objects of entities in another configuration", arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func otherConfiguration(type: String) throws {
        let (person, car) = (entity("Person", attribute("name")), entity("Car", attribute("wheels", .integer32)))
        let whole = model(person, car)
        whole.setEntities([person], forConfigurationName: "People")
        let url = home.folder.file("Whole")
        func stack(_ configuration: String? = nil) throws -> Stack {
            let stack = Stack(whole)
            try stack.coordinator.addPersistentStore(ofType: type, configurationName: configuration, at: url, options: migrating)
            return stack
        }
        let first = try stack()
        let context = first.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        let object = NSEntityDescription.insertNewObject(forEntityName: "Car", into: context)
        object.setValue(4, forKey: "wheels")
        try context.save()
        let error = cocoaError(134110) { _ = try stack("People") }
        #expect(error?.localizedDescription.contains("objects of Car") == true)
        context.delete(object)
        try context.save()
        try first.close()
        for configuration in ["People", nil, "People"] { try stack(configuration).close() }
        let people = try stack("People")
        #expect(try people.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 1)
        try people.close()
    }

    // * A process was killed in a migration by a mapping model, and has left the file in which it made the new store.
    // => Whoever opens the store removes it, unless somebody is at work there.
    @Test("of a killed process goes when the store is opened")
    func workFile() throws {
        let url = home.url()
        try Zoo().model.makeFilledStore(at: url)
        let left = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).migration")
        let files = [left.path, left.path + "-journal"]
        for path in files { try Data("x".utf8).write(to: URL(fileURLWithPath: path)) }
        let areThere = { files.map { FileManager.default.fileExists(atPath: $0) } }
        let worker = try Connection(path: url.path, mode: .readWrite)
        try worker.execute("BEGIN IMMEDIATE")
        try Stack(url, Zoo().model).close()
        #expect(areThere() == [true, true])
        worker.close()
        try Stack(url, Zoo().model, options: [NSReadOnlyPersistentStoreOption: true]).close()
        #expect(areThere() == [true, true])
        try Stack(url, Zoo().model).close()
        #expect(areThere() == [false, false])
    }

    // * A process that was making a backup was killed, another one is at work on one.
    // => The next backup is whole, and nothing is left but what that other one needs.
    @Test("of a backup whose process was killed goes with the next one")
    func backup() throws {
        let url = home.url()
        try Zoo().model.makeFilledStore(at: url)
        let zoo = Zoo()
        zoo.keeper.properties.append(attribute("motto"))
        let copy = url.appendingPathExtension("backup")
        let folder = url.deletingLastPathComponent()
        let names = [Int32.max, getpid()].map { ".\(copy.lastPathComponent).\($0)-0.migration" }
        for name in names + [names[0] + "-journal"] { try Data("x".utf8).write(to: folder.appendingPathComponent(name)) }
        try #require(try StoreFileMigration(of: url, to: zoo.model)).backUp(to: copy)
        let hidden = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(".\(url.lastPathComponent)") }
        #expect(hidden == [names[1]])
        #expect(try StoreContents(copy, Zoo().model).objects == StoreContents(url, Zoo().model).objects)
    }
}
