import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A deferred migration")
struct DeferredMigrationTests {
    private let home: StoreHome
    private let deferring = migrating.merging([NSPersistentStoreDeferredLightweightMigrationOptionKey: true]) { $1 }

    init() throws {
        home = try StoreHome(.file)
        try Zoo().model.makeFilledStore(at: home.url())
    }

    private static func changed() -> Zoo {
        let zoo = Zoo()
        zoo.remove(zoo.toy)
        zoo.animal.properties.removeAll { $0 === zoo.toys }
        zoo.animal.subentities = [zoo.dog]
        zoo.cat.properties = [attribute("name")]
        return zoo
    }

    private var left: String {
        get throws { try home.sql("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name GLOB 'CD_MIGRATING_*'") }
    }

    // * Tables go, and the option asks to leave that for later.
    // => The store is of the new version at once; the tables go one by one, or all at once, and the metadata say whether any are left.
    @Test("leaves tables that nothing needs, and drops them when it is asked to")
    func tasks() throws {
        let before = try StoreContents(home.url(), Zoo().model)
        let new = Self.changed().model
        let stack = try Stack(home.url(), new, options: deferring)
        let store = stack.coordinator.persistentStores[0]
        let key = NSPersistentStoreDeferredLightweightMigrationOptionKey
        #expect(store.metadata[key] as? Bool == true)
        #expect(try left == "2")
        try stack.coordinator.finishDeferredLightweightMigrationTask()
        #expect(try left == "1" && store.metadata[key] as? Bool == true)
        try stack.close()
        let again = try Stack(home.url(), new)
        try again.coordinator.finishDeferredLightweightMigration()
        #expect(try left == "0" && again.coordinator.persistentStores[0].metadata[key] == nil)
        try again.coordinator.finishDeferredLightweightMigrationTask()
        try again.close()
        try expectMigrated(home.url(), before, ModelTransition(from: Zoo().model, to: new))
    }

    @Test("leaves nothing in a store that is emptied")
    func emptied() throws {
        let stack = try Stack(home.url(), Self.changed().model, options: deferring)
        #expect(try left == "2")
        _ = try stack.coordinator.emptyPersistentStore(stack.coordinator.persistentStores[0])
        #expect(try left == "0")
        try stack.close()
        try expectSchema(home.url(), of: Self.changed().model)
    }

    // * Somebody else destroys the store before what is left is dropped.
    // => There is nothing to be done, and whoever asks for that gets an end of it.
    @Test("has nothing to finish in a store that others have destroyed")
    func destroyed() throws {
        let new = Self.changed().model
        let stack = try Stack(home.url(), new, options: deferring)
        try NSPersistentStoreCoordinator(managedObjectModel: new).destroyPersistentStore(at: home.url(), ofType: NSSQLiteStoreType)
        for _ in 0..<2 { try stack.coordinator.finishDeferredLightweightMigrationTask() }
        #expect(stack.coordinator.persistentStores[0].metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
        try stack.coordinator.finishDeferredLightweightMigration()
        try stack.close()
    }

    @Test("goes through the next migration with what is left")
    func next() throws {
        try Stack(home.url(), Self.changed().model, options: deferring).close()
        let zoo = Self.changed()
        zoo.remove(zoo.keeper)
        zoo.animal.properties.removeAll { $0 === zoo.keeperOfAnimal }
        let stack = try Stack(home.url(), zoo.model, options: deferring)
        #expect(try left == "3")
        try stack.coordinator.finishDeferredLightweightMigration()
        try stack.close()
        try expectSchema(home.url(), of: zoo.model)
    }
}
