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
