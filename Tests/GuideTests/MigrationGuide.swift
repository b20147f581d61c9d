import CoreData
import Foundation
import TestSupport
import Testing

@Suite("The guide to migration")
struct MigrationGuide {
    private static func load(_ url: URL, _ model: NSManagedObjectModel) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Contacts", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    private static func add(_ url: URL, to coordinator: NSPersistentStoreCoordinator) throws {
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType,
            configurationName: nil,
            at: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        )
    }

    private static func rename(in model: NSManagedObjectModel) {
        let email = model.entitiesByName["Contact"]?.attributesByName["email"]
        email?.name = "address"
        email?.renamingIdentifier = "email"
    }

    private static func reason(of error: CocoaError) -> String {
        if error.code == .migrationMissingMappingModel, let refusal = error.userInfo[NSUnderlyingErrorKey] as? CocoaError {
            // "No mapping can be inferred: Contact.age is String and was Integer 16."
            return refusal.localizedDescription
        }
        return error.localizedDescription
    }

    private static func needsMigration(_ url: URL, _ model: NSManagedObjectModel) throws -> Bool {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        return !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }

    /// A model without classes, whose versions differ in what `change` does.
    private static func version(_ change: (NSManagedObjectModel) -> Void) -> NSManagedObjectModel {
        let model = ContactModel.make()
        for entity in model.entities { (entity.managedObjectClassName, entity.uniquenessConstraints) = (nil, []) }
        change(model)
        return model
    }

    private static func stages(
        _ firstModel: NSManagedObjectModel,
        _ secondModel: NSManagedObjectModel,
        _ thirdModel: NSManagedObjectModel,
        _ description: NSPersistentStoreDescription
    ) {
        let second = NSManagedObjectModelReference(model: secondModel, versionChecksum: secondModel.versionChecksum)
        let third = NSManagedObjectModelReference(model: thirdModel, versionChecksum: thirdModel.versionChecksum)
        let split = NSCustomMigrationStage(migratingFrom: second, to: third)
        split.label = "split names"
        split.willMigrateHandler = { manager, _ in
            guard let context = manager.container?.newBackgroundContext() else { return }
            try context.performAndWait {
                for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
                    let words = (person.value(forKey: "name") as? String ?? "").split(separator: " ").map(String.init)
                    person.setValue(words.first, forKey: "first")
                    person.setValue(words.last, forKey: "last")
                }
                try context.save()
            }
        }
        let stages = NSStagedMigrationManager([NSLightweightMigrationStage([firstModel.versionChecksum]), split])
        description.setOption(stages, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    }

    private static func cleanUp(_ store: NSPersistentStore, _ coordinator: NSPersistentStoreCoordinator) throws {
        if store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? Bool == true {
            try coordinator.finishDeferredLightweightMigration()
        }
    }

    private static func move(_ store: NSPersistentStore, to place: URL, _ coordinator: NSPersistentStoreCoordinator) throws
        -> NSPersistentStore
    {
        let moved = try coordinator.migratePersistentStore(store, to: place, type: .sqlite)
        return moved
    }

    private static func restore(_ url: URL, from backup: URL, _ coordinator: NSPersistentStoreCoordinator) throws {
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup, type: .sqlite)
    }

    /// People with these attributes, all of them texts.
    private static func people(_ names: String...) -> NSManagedObjectModel {
        let person = NSEntityDescription()
        person.name = "Person"
        person.properties = names.map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = (name, .stringAttributeType)
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    @Test("has stores that go through stages, to another place, and back")
    @MainActor func stages() throws {
        let folder = try TemporaryFolder()
        let models = [Self.people("name"), Self.people("name", "first", "last"), Self.people("first", "last")]
        let first = try Self.load(folder.store, models[0])
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: first.viewContext).setValue("Jane Austen", forKey: "name")
        try first.viewContext.save()
        try first.persistentStoreCoordinator.remove(first.persistentStoreCoordinator.persistentStores[0])
        let container = NSPersistentContainer(name: "People", managedObjectModel: models[2])
        let description = NSPersistentStoreDescription(url: folder.store)
        Self.stages(models[0], models[1], models[2], description)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        let names = {
            try container.viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map {
                $0.value(forKey: "last") as? String
            }
        }
        #expect(try names() == ["Austen"])
        let coordinator = container.persistentStoreCoordinator
        try Self.cleanUp(coordinator.persistentStores[0], coordinator)
        let moved = try Self.move(coordinator.persistentStores[0], to: folder.file("Moved.sqlite"), coordinator)
        #expect(try names() == ["Austen"] && moved.url == folder.file("Moved.sqlite"))
        try Self.restore(folder.store, from: folder.file("Moved.sqlite"), coordinator)
    }

    @Test("has stores that migrate, keep values under new names, or are refused with the reason")
    @MainActor func migrates() throws {
        let folder = try TemporaryFolder()
        let first = Self.version { _ in }
        let container = try Self.load(folder.store, first)
        let contact = NSEntityDescription.insertNewObject(forEntityName: "Contact", into: container.viewContext)
        contact.setValue("a@x.org", forKey: "email")
        try container.viewContext.save()
        try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
        let second = Self.version(Self.rename)
        #expect(try Self.needsMigration(folder.store, second))
        let next = try Self.load(folder.store, second)
        let migrated = try next.viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Contact"))
        #expect(migrated.map { $0.value(forKey: "address") as? String } == ["a@x.org"])
        try next.persistentStoreCoordinator.remove(next.persistentStoreCoordinator.persistentStores[0])
        let third = Self.version {
            Self.rename(in: $0)
            $0.entitiesByName["Contact"]?.attributesByName["age"]?.attributeType = .stringAttributeType
        }
        let error = #expect(throws: CocoaError.self) {
            try Self.add(folder.store, to: NSPersistentStoreCoordinator(managedObjectModel: third))
        }
        #expect(error.map(Self.reason) == "No mapping can be inferred: Contact.age is String and was Integer 16.")
    }
}
