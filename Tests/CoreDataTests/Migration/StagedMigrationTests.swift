import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

/// Five versions of people: names that become first and last ones, and what comes and goes around them.
private enum People {
    static func version(_ number: Int) -> NSManagedObjectModel {
        var properties = [attribute("name")]
        if number >= 2 { properties += [attribute("first"), attribute("last")] }
        if number >= 3 { properties.removeFirst() }
        if number >= 4 { properties.append(attribute("email")) }
        if number >= 5 { properties.append(attribute("phone")) }
        let person = NSEntityDescription("Person")
        person.properties = properties
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    static func checksum(_ number: Int) -> String { version(number).versionChecksum }

    static func reference(_ number: Int) -> NSManagedObjectModelReference {
        let model = version(number)
        return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    /// The stage in which names are split.
    static func split(_ log: @escaping (String) -> Void = { _ in }) -> NSCustomMigrationStage {
        let stage = NSCustomMigrationStage(migratingFrom: reference(2), to: reference(3))
        stage.label = "split names"
        stage.willMigrateHandler = { manager, stage in
            let container = try #require(manager.container)
            #expect(container.managedObjectModel.versionChecksum == stage.currentModel.versionChecksum)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
                    let words = (person.value(forKey: "name") as? String ?? "").split(separator: " ").map(String.init)
                    person.setValue(words.first, forKey: "first")
                    person.setValue(words.last, forKey: "last")
                }
                try context.save()
            }
            log("will")
        }
        stage.didMigrateHandler = { manager, stage in
            #expect(manager.container?.managedObjectModel.versionChecksum == stage.nextModel.versionChecksum)
            log("did")
        }
        return stage
    }

    static func manager(_ log: @escaping (String) -> Void = { _ in }) -> NSStagedMigrationManager {
        NSStagedMigrationManager([
            NSLightweightMigrationStage([checksum(1), checksum(2)]), split(log),
            NSLightweightMigrationStage([checksum(3), checksum(4), checksum(5)]),
        ])
    }

    static func options(_ manager: NSStagedMigrationManager) -> [AnyHashable: Any] {
        migrating.merging([NSPersistentStoreStagedMigrationManagerOptionKey: manager]) { $1 }
    }

    static func make(_ url: URL, _ number: Int) throws {
        let stack = try Stack(url, version(number))
        let context = stack.newContext()
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        if number < 3 { person.setValue("Jane Austen", forKey: "name") }
        if number >= 3 {
            person.setValue("Jane", forKey: "first")
            person.setValue("Austen", forKey: "last")
        }
        try context.save()
        try stack.close()
    }

    static func checksum(at url: URL) throws -> String? {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        return metadata[NSPersistentStoreModelVersionChecksumKey] as? String
    }
}

@Suite("A migration in stages")
struct StagedMigrationTests {
    private let home: StoreHome

    init() throws { home = try StoreHome(.file) }

    // * A store of each version is opened with the last, or any later one.
    // => Just the stages that are needed have run, and the values are where they should be.
    @Test(
        "runs the stages that are needed, from whichever version to whichever",
        arguments: (1...5).flatMap { old in (old...5).map { (old, $0) } }
    )
    func chain(versions: (old: Int, new: Int)) throws {
        try People.make(home.url(), versions.old)
        var log: [String] = []
        let stack = try Stack(home.url(), People.version(versions.new), options: People.options(People.manager { log.append($0) }))
        #expect(log == (versions.old < 3 && versions.new >= 3 ? ["will", "did"] : []))
        let person = try #require(try stack.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
        let names = person.entity.attributesByName.keys.filter { ["first", "last", "name"].contains($0) }.sorted()
        let values = names.compactMap { person.value(forKey: $0) as? String }
        #expect(values == (versions.new >= 3 ? ["Jane", "Austen"] : ["Jane Austen"]))
        try stack.close()
        #expect(try People.checksum(at: home.url()) == People.checksum(versions.new))
        #expect(try StoreInspector(url: home.url()).problems(with: People.version(versions.new)) == [])
        #expect(!exists(home.url(), "-stages"))
        #expect(try home.sql("SELECT count(*) FROM ZPERSON") == "1")
    }

    @Test("goes on by itself where the coordinator's version comes after all stages, and makes a store where there is none")
    func ends() throws {
        try People.make(home.url(), 1)
        let stages: [NSMigrationStage] = [NSLightweightMigrationStage([People.checksum(1)]), People.split()]
        try Stack(home.url(), People.version(5), options: People.options(NSStagedMigrationManager(stages))).close()
        #expect(try home.sql("SELECT ZFIRST || ZLAST FROM ZPERSON") == "JaneAusten")
        #expect(try People.checksum(at: home.url()) == People.checksum(5))
        try Stack(home.url("New.sqlite"), People.version(5), options: People.options(NSStagedMigrationManager(stages))).close()
    }

    // * From 1 to 3 nothing can be inferred, as a type changes over a version in between that has neither attribute.
    @Test("goes over the versions between where the last one cannot be inferred at once")
    func between() throws {
        let versions = (0..<3).map { number -> NSManagedObjectModel in
            let thing = NSEntityDescription("Thing", attribute("name"))
            if number != 1 { thing.properties.append(attribute("size", number == 0 ? .string : .integer32)) }
            let model = NSManagedObjectModel()
            model.entities = [thing]
            return model
        }
        try versions[0].makeFilledStore(at: home.url())
        cocoaError(134140) { try Stack(home.url(), versions[2], options: migrating) }
        NSManagedObjectModel.register("Thing of StagedMigrationTests") { versions[1] }
        let manager = NSStagedMigrationManager([NSLightweightMigrationStage(versions.map(\.versionChecksum))])
        try Stack(home.url(), versions[2], options: People.options(manager)).close()
        #expect(try home.sql("SELECT count(ZNAME), count(ZSIZE) FROM ZTHING") == "3|0")
    }

    @Test("is refused with the stage's name where a handler throws, and the next attempt goes on there")
    func handler() throws {
        struct Failure: LocalizedError { var errorDescription: String? { "no more paper" } }
        try People.make(home.url(), 1)
        var log: [String] = []
        let stage = People.split { log.append($0) }
        let did = stage.didMigrateHandler
        stage.didMigrateHandler = { _, _ in throw Failure() }
        let manager = NSStagedMigrationManager([NSLightweightMigrationStage([People.checksum(1), People.checksum(2)]), stage])
        for _ in 0..<2 {
            let error = cocoaError(134110) { try Stack(home.url(), People.version(3), options: People.options(manager)) }
            #expect(error?.localizedDescription.contains("stage 2 of 2 “split names” failed: no more paper") == true)
            #expect(error?.userInfo[NSUnderlyingErrorKey] is Failure)
            #expect(manager.container == nil)
        }
        // What came before the handler is not done again.
        #expect(log == ["will"])
        #expect(try home.sql("SELECT ZFIRST || ZLAST FROM ZPERSON") == "JaneAusten")
        stage.didMigrateHandler = did
        let stack = try Stack(home.url(), People.version(3), options: People.options(manager))
        #expect(log == ["will", "did"])
        #expect(stack.coordinator.persistentStores[0].metadata[DatabaseOptions.stageKey] == nil)
        try stack.close()
        try Stack(home.url(), People.version(3), options: People.options(manager)).close()
        #expect(log == ["will", "did"])
    }

    // * A stage by a mapping model that the program has, and one of a document: the handler sets metadata of its own, saves, and throws.
    // => It runs again when the store is opened next.
    @Test(
        "runs a handler that threw again, whatever the stage is done by",
        arguments: [NSSQLiteStoreType, NSXMLStoreType],
        [true, false]
    )
    func handlerAgain(type: String, byMapping: Bool) throws {
        struct Failure: Error {}
        @Sendable func version(_ number: Int) -> NSManagedObjectModel {
            let note = NSEntityDescription("Note\(type)\(byMapping)", attribute("text"))
            if number == 2 { note.properties.append(attribute("length")) }
            return NSManagedObjectModel(note)
        }
        func open(_ number: Int, _ options: [AnyHashable: Any]) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(number))
            let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: home.url("Notes"), options: options)
            #expect(store.metadata[DatabaseOptions.stageKey] == nil)
            #expect(store.metadata["note"] as? String == (number == 1 ? nil : "of the handler's"))
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            if number == 1 { _ = NSManagedObject(entity: coordinator.managedObjectModel.entities[0], insertInto: context) }
            try context.save()
            try coordinator.remove(store)
        }
        try open(1, [:])
        // NB: a document carries no model.
        NSManagedObjectModel.register("Note\(type)\(byMapping)") { version(1) }
        if byMapping {
            NSMappingModel.register(from: version(1), to: version(2)) {
                // Both versions were checked to have a mapping that is inferred.
                try! NSMappingModel.inferredMappingModel(forSourceModel: version(1), destinationModel: version(2))
            }
        }
        let references = [1, 2].map { NSManagedObjectModelReference(model: version($0), versionChecksum: version($0).versionChecksum) }
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        let calls = Lock(0)
        stage.didMigrateHandler = { manager, _ in
            calls.withLock { $0 += 1 }
            guard calls.withLock({ $0 }) == 1, let coordinator = manager.container?.persistentStoreCoordinator else { return }
            coordinator.setMetadata(["note": "of the handler's"], for: coordinator.persistentStores[0])
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            _ = NSManagedObject(entity: coordinator.managedObjectModel.entities[0], insertInto: context)
            try context.save()
            throw Failure()
        }
        let options = People.options(NSStagedMigrationManager([stage]))
        let error = cocoaError(134110) { try open(2, options) }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is Failure)
        for _ in 0..<2 { try open(2, options) }
        #expect(calls.withLock { $0 } == 2)
        if type == NSXMLStoreType { try FileManager.default.removeItem(at: home.url("Notes")) }
    }

    @Test("whose first handler throws leaves the store of the version before, without the handler's changes")
    func first() throws {
        struct Failure: Error {}
        try People.make(home.url(), 2)
        let stage = People.split()
        stage.willMigrateHandler = { manager, _ in
            let context = try #require(manager.container?.newBackgroundContext())
            try context.performAndWait {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))[0].setValue("lost", forKey: "name")
            }
            throw Failure()
        }
        cocoaError(134110) { try Stack(home.url(), People.version(3), options: People.options(NSStagedMigrationManager([stage]))) }
        #expect(try People.checksum(at: home.url()) == People.checksum(2))
        #expect(try home.sql("SELECT ZNAME FROM ZPERSON") == "Jane Austen")
    }

    @Test("is refused for a version without a stage, a reference to no model, and the way back; the store stays")
    func refused() throws {
        try People.make(home.url(), 1)
        let none = NSManagedObjectModelReference(fileURL: home.folder.file("none.mom"), versionChecksum: People.checksum(2))
        let stage = NSCustomMigrationStage(migratingFrom: none, to: People.reference(3))
        let unresolved = NSStagedMigrationManager([NSLightweightMigrationStage([People.checksum(1)]), stage])
        let error = cocoaError(134110) { try Stack(home.url(), People.version(3), options: People.options(unresolved)) }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.errorCode == 134504)
        #expect(error?.userInfo["stage"] as? String == "stage 2 of 2" || error?.userInfo["stage"] as? String == "stage 1 of 2")
        let late = NSStagedMigrationManager([NSLightweightMigrationStage([People.checksum(3), People.checksum(4)])])
        let missing = cocoaError(134110) { try Stack(home.url(), People.version(4), options: People.options(late)) }
        #expect(missing?.localizedDescription.contains(People.checksum(1)) == true)
        let back = NSStagedMigrationManager([NSLightweightMigrationStage([People.checksum(4), People.checksum(1)])])
        cocoaError(134506) { try Stack(home.url(), People.version(4), options: People.options(back)) }
        cocoaError(134100) {
            try Stack(home.url(), People.version(4), options: [NSPersistentStoreStagedMigrationManagerOptionKey: People.manager()])
        }
        #expect(try People.checksum(at: home.url()) == People.checksum(1))
        #expect(try home.sql("SELECT ZNAME FROM ZPERSON") == "Jane Austen")
    }

    // * The file is copied, with its log, before each statement of all stages, as a process that is killed there leaves it.
    // => From each copy the same manager comes to the end.
    @Test("that is interrupted anywhere goes on from there")
    func interrupted() throws {
        try People.make(home.url(), 1)
        let copies = try TemporaryFolder()
        var count = 0
        let copy = { () throws -> Void in
            count += 1
            for suffix in ["", "-wal"] where exists(home.url(), suffix) {
                try FileManager.default.copyItem(atPath: home.url().path + suffix, toPath: copies.file("\(count).sqlite").path + suffix)
            }
        }
        let stage = People.split()
        let (will, did) = (stage.willMigrateHandler, stage.didMigrateHandler)
        stage.willMigrateHandler = {
            try copy()
            try will?($0, $1)
            try copy()
        }
        stage.didMigrateHandler = {
            try copy()
            try did?($0, $1)
            try copy()
        }
        let manager = NSStagedMigrationManager([
            NSLightweightMigrationStage([People.checksum(1), People.checksum(2)]), stage, NSLightweightMigrationStage([People.checksum(4)]),
        ])
        try Stack(home.url(), People.version(5), options: People.options(manager)).close()
        try copy()
        #expect(count == 5)
        for number in 1...count {
            var log: [String] = []
            let url = copies.file("\(number).sqlite")
            try Stack(url, People.version(5), options: People.options(People.manager { log.append($0) })).close()
            #expect(log == [["will", "did"], ["will", "did"], ["did"], ["did"], []][number - 1], "\(number)")
            #expect(try Child.sqlite(url, "SELECT ZFIRST || ZLAST FROM ZPERSON") == "JaneAusten", "\(number)")
        }
    }

    @Test("by several threads at once runs each stage once")
    func atOnce() throws {
        try People.make(home.url(), 1)
        let log = Lock<[String]>([])
        let url = home.url()
        let threads = (0..<4).map { _ in
            let (done, failed) = (DispatchSemaphore(value: 0), Lock<(any Error)?>(nil))
            Thread.detachNewThread {
                do {
                    let options = People.options(People.manager { said in log.withLock { $0.append(said) } })
                    _ = try Stack(url, People.version(5), options: options)
                } catch { failed.withLock { $0 = error } }
                done.signal()
            }
            return (done, failed)
        }
        for (done, failed) in threads {
            done.wait()
            #expect(failed.withLock { $0 } == nil)
        }
        #expect(log.withLock { $0 } == ["will", "did"])
    }

    @Test("of a description is a container's, too")
    func container() throws {
        try People.make(home.url(), 1)
        let container = NSPersistentContainer(name: "People", managedObjectModel: People.version(5))
        let description = NSPersistentStoreDescription(url: home.url())
        description.setOption(People.manager(), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        #expect(try home.sql("SELECT ZFIRST || ZLAST FROM ZPERSON") == "JaneAusten")
    }
}
