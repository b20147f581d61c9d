import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A store in stages")
struct StagedStoreTests {
    private let home: StoreHome

    init() throws { home = try StoreHome(.file) }

    private static func version(_ number: Int) -> NSManagedObjectModel {
        let (person, place) = (NSEntityDescription("Person", attribute("name")), NSEntityDescription("Place", attribute("name")))
        if number >= 2 { person.properties.append(attribute("first")) }
        if number >= 3 { place.properties.append(attribute("street")) }
        let model = NSManagedObjectModel(person, place)
        for entity in [person, place] { model.setEntities([entity], forConfigurationName: entity.name ?? "") }
        return model
    }

    private static func references(_ numbers: ClosedRange<Int>) -> [NSManagedObjectModelReference] {
        numbers.map { NSManagedObjectModelReference(model: version($0), versionChecksum: version($0).versionChecksum) }
    }

    private static func make(_ url: URL, entity: String = "Person", configuration: String? = nil) throws {
        let stack = Stack(version(1))
        try stack.add(url, configuration: configuration)
        let context = stack.newContext()
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context).setValue("Jane", forKey: "name")
        try context.save()
        try stack.close()
    }

    private static func options(_ stage: NSMigrationStage) -> [AnyHashable: Any] { options(NSStagedMigrationManager([stage])) }

    private static func options(_ manager: NSStagedMigrationManager) -> [AnyHashable: Any] {
        migrating.merging([NSPersistentStoreStagedMigrationManagerOptionKey: manager]) { $1 }
    }

    // * The stages know versions by their checksums only, and the program has no model of before.
    // => The store's own copy says which it is.
    @Test("of one configuration is known by the model that it carries")
    func configuration() throws {
        try Self.make(home.url(), configuration: "Person")
        let stage = NSLightweightMigrationStage((1...3).map { Self.version($0).versionChecksum })
        let stack = Stack(Self.version(3))
        try stack.add(home.url(), configuration: "Person", options: Self.options(stage))
        try stack.close()
        #expect(try home.sql("SELECT count(ZNAME), count(ZFIRST) FROM ZPERSON") == "1|0")
    }

    // * Two stores are opened at once with one manager.
    // => Each handler has the store that it was called for, from its first line to its last.
    @Test("is the one that a handler has, also while another is opened with the same manager")
    func oneManager() throws {
        let urls = [home.url(), home.url("Other.sqlite")]
        for url in urls { try Self.make(url) }
        let references = Self.references(1...2)
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        let (both, seen) = (DispatchGroup(), Lock<[URL?]>([]))
        for _ in urls { both.enter() }
        stage.willMigrateHandler = { manager, _ in
            func store() -> URL? { manager.container?.persistentStoreCoordinator.persistentStores.first?.url }
            let first = store()
            both.leave()
            // The other one comes meanwhile, if it can.
            _ = both.wait(timeout: .now() + 0.3)
            seen.withLock { $0 += [first, store()] }
        }
        let manager = NSStagedMigrationManager([stage])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            #expect(throws: Never.self) { try Stack(urls[index], Self.version(2), options: Self.options(manager)).close() }
        }
        let stores = seen.withLock { $0 }
        #expect(stores.count == 4 && stores[0] == stores[1] && stores[2] == stores[3] && Set(stores) == Set(urls))
    }

    // * The place is the same in the first two versions; the stage from the second to the third fails once.
    // => The next attempt goes on with that one, and the first is not asked again.
    @Test("of one configuration goes on where a stage failed, though its entities are of the versions before, too")
    func sameEntities() throws {
        try Self.make(home.url(), entity: "Place", configuration: "Place")
        let references = Self.references(1...3)
        let calls = Lock<[String]>([])
        let stages = [1, 2].map { number in
            let stage = NSCustomMigrationStage(migratingFrom: references[number - 1], to: references[number])
            stage.willMigrateHandler = { _, _ in
                let isFirst = calls.withLock { calls in
                    calls.append("will \(number)")
                    return calls.filter { $0 == "will 2" }.count == 1
                }
                if isFirst && number == 2 { throw Failure() }
            }
            stage.didMigrateHandler = { _, _ in calls.withLock { $0.append("did \(number)") } }
            return stage
        }
        let options = Self.options(NSStagedMigrationManager(stages))
        cocoaError(134110) { try Stack(Self.version(3)).add(home.url(), configuration: "Place", options: options) }
        let stack = Stack(Self.version(3))
        try stack.add(home.url(), configuration: "Place", options: options)
        try stack.close()
        #expect(calls.withLock { $0 } == ["will 1", "did 1", "will 2", "will 2", "did 2"])
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: home.url())
        #expect(metadata.keys.filter { $0.hasPrefix("CoreDataStage") || $0.hasPrefix("CoreDataUnfinished") }.isEmpty)
    }

    // * The handler after a stage fails; a program opens the store whose manager does not know that stage; then one that does.
    // => The stage is still to be ended, and is.
    @Test("in which a stage has not ended waits for a manager that knows the stage")
    func otherManager() throws {
        try Self.make(home.url())
        let references = Self.references(1...2)
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        stage.didMigrateHandler = { _, _ in throw Failure() }
        cocoaError(134110) { try Stack(home.url(), Self.version(2), options: Self.options(stage)) }
        let other = NSLightweightMigrationStage([Self.version(2).versionChecksum])
        try Stack(home.url(), Self.version(2), options: Self.options(other)).close()
        let calls = Lock(0)
        stage.didMigrateHandler = { _, _ in calls.withLock { $0 += 1 } }
        for _ in 0..<2 { try Stack(home.url(), Self.version(2), options: Self.options(stage)).close() }
        #expect(calls.withLock { $0 } == 1)
    }

    // * A handler opens another store with its manager, which is being opened by another thread meanwhile.
    // => Neither waits for the other for ever.
    @Test("may be opened by the handler of another one, also while somebody else opens it with the same manager")
    func openedByHandler() throws {
        let urls = [home.url(), home.url("Other.sqlite")]
        for url in urls { try Self.make(url) }
        let references = Self.references(1...2)
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        let (begun, ended) = (DispatchSemaphore(value: 0), DispatchGroup())
        stage.willMigrateHandler = { manager, _ in
            guard manager.container?.persistentStoreCoordinator.persistentStores.first?.url == urls[0] else { return }
            begun.signal()
            try Stack(urls[1], Self.version(2), options: Self.options(manager)).close()
        }
        let manager = NSStagedMigrationManager([stage])
        for (index, url) in urls.enumerated() {
            if index == 1 { begun.wait() }
            DispatchQueue.global()
                .async(group: ended) {
                    #expect(throws: Never.self) { try Stack(url, Self.version(2), options: Self.options(manager)).close() }
                }
        }
        #expect(ended.wait(timeout: .now() + 20) == .success)
    }

    @Test("that a handler has destroyed is not called a valid one")
    func destroyed() throws {
        try Self.make(home.url())
        let references = Self.references(1...2)
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        let url = home.url()
        stage.didMigrateHandler = { manager, _ in
            try manager.container?.persistentStoreCoordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        }
        let error = cocoaError(134110) { try Stack(url, Self.version(2), options: Self.options(stage)) }
        #expect(error?.localizedDescription.contains("; there is none any more. Its stage 1 of 1 failed") == true)
        try Stack(url, Self.version(2), options: Self.options(stage)).close()
    }

    private struct Failure: Error {}

    private static func locked(_ url: URL) throws -> Connection {
        let connection = try Connection(path: url.path, mode: .readWrite)
        try connection.execute("PRAGMA journal_mode = DELETE")
        try connection.execute("BEGIN EXCLUSIVE")
        return connection
    }

    private static var impatient: [AnyHashable: Any] { [NSPersistentStoreTimeoutOption: 0.01] }

    // * A handler fails, and the store is locked by somebody who is not a part of it.
    // => Nobody says that the store is gone.
    @Test("that is locked when a stage fails is not called gone")
    func lockedMeanwhile() throws {
        try Self.make(home.url())
        let references = Self.references(1...2)
        let (stage, url) = (NSCustomMigrationStage(migratingFrom: references[0], to: references[1]), home.url())
        var lock: Connection?
        stage.didMigrateHandler = { manager, _ in
            let coordinator = try #require(manager.container?.persistentStoreCoordinator)
            for store in coordinator.persistentStores { try coordinator.remove(store) }
            lock = try Self.locked(url)
            throw Failure()
        }
        let options = Self.options(stage).merging(Self.impatient) { $1 }
        let error = cocoaError(134110) { try Stack(url, Self.version(2), options: options) }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is Failure)
        #expect(error?.localizedDescription.contains("cannot be read now") == true)
        lock?.close()
        stage.didMigrateHandler = nil
        try Stack(url, Self.version(2), options: options).close()
    }

    // * A store is locked by others while it is asked which stages it needs.
    // => It is an error, as nobody knows; opening it would go past the stages.
    @Test("that is locked does not go past its stages")
    func lockedBefore() throws {
        try Self.make(home.url())
        let stage = NSLightweightMigrationStage((1...3).map { Self.version($0).versionChecksum })
        let stack = Stack(Self.version(3))
        let options = Self.options(stage).merging(Self.impatient) { $1 }
        let opening = stack.coordinator.opening(NSSQLiteStoreType, nil, home.url(), options)
        let lock = try Self.locked(home.url())
        cocoaError(134090) { try opening.prepare() }
        lock.close()
        try opening.prepare()
        try Stack(home.url(), Self.version(3)).close()
    }

    @Test("of the last version loses the file of a turn that ended with its process, but not that of one who has the turn")
    func turnFile() throws {
        let (url, stack) = (home.url(), Stack(Self.version(3)))
        try Stack(url, Self.version(3)).close()
        let stage = NSLightweightMigrationStage((1...3).map { Self.version($0).versionChecksum })
        let opening = stack.coordinator.opening(NSSQLiteStoreType, nil, url, Self.options(stage))
        try StageTurn.holding(url) {
            try opening.prepare()
            #expect(exists(url, "-stages"))
        }
        try Data().write(to: URL(fileURLWithPath: url.path + "-stages"))
        try opening.prepare()
        #expect(!exists(url, "-stages"))
    }
}
