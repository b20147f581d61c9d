import Foundation
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

    private static func make(_ url: URL, configuration: String? = nil) throws {
        let stack = Stack(version(1))
        try stack.add(url, configuration: configuration)
        let context = stack.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue("Jane", forKey: "name")
        try context.save()
        try stack.close()
    }

    private static func options(_ stage: NSMigrationStage) -> [AnyHashable: Any] {
        migrating.merging([NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([stage])]) { $1 }
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

    @Test("that a handler has destroyed is not called a valid one")
    func destroyed() throws {
        try Self.make(home.url())
        let references = [1, 2].map {
            NSManagedObjectModelReference(model: Self.version($0), versionChecksum: Self.version($0).versionChecksum)
        }
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        let url = home.url()
        stage.didMigrateHandler = { manager, _ in
            try manager.container?.persistentStoreCoordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        }
        let error = cocoaError(134110) { try Stack(url, Self.version(2), options: Self.options(stage)) }
        #expect(error?.localizedDescription.contains("; there is none any more. Its stage 1 of 1 failed") == true)
        try Stack(url, Self.version(2), options: Self.options(stage)).close()
    }
}
