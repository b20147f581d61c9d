import CoreData
import Foundation
import TestSupport
import Testing

/// Makes texts of ages, and leaves out contacts without a name.
final class PersonPolicy: NSEntityMigrationPolicy {
    override func value(forFunction name: String, arguments: [Any?]) throws -> Any? {
        guard name == "yearsFromText:" else { return try super.value(forFunction: name, arguments: arguments) }
        return (arguments[0] as? Int).map { "\($0) years" }
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject,
        in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        if sInstance.value(forKey: "name") == nil { return }
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
}

@Suite("The guide to mapping models")
struct MappingGuide {
    private static func makeMapping() -> NSMappingModel {
        let contact = NSEntityMapping()
        contact.name = "ContactToPerson"
        contact.mappingType = .transformEntityMappingType
        (contact.sourceEntityName, contact.destinationEntityName) = ("Contact", "Person")
        contact.entityMigrationPolicyClassName = NSStringFromClass(PersonPolicy.self)
        contact.attributeMappings = ["fullName": "$source.name", "years": "FUNCTION($entityPolicy, \"yearsFromText:\", $source.age)"].map {
            let mapping = NSPropertyMapping()
            mapping.name = $0.key
            mapping.valueExpression = NSExpression(format: $0.value)
            return mapping
        }
        let model = NSMappingModel()
        model.entityMappings = [contact]
        return model
    }

    private static func register(from oldModel: NSManagedObjectModel, to newModel: NSManagedObjectModel) {
        NSMappingModel.register(from: oldModel, to: newModel) { makeMapping() }
    }

    private static func migrate(
        _ url: URL,
        _ oldModel: NSManagedObjectModel,
        _ mapping: NSMappingModel,
        to newURL: URL,
        _ newModel: NSManagedObjectModel
    ) throws {
        let manager = NSMigrationManager(sourceModel: oldModel, destinationModel: newModel)
        try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: newURL, type: .sqlite)
    }

    /// The model without classes.
    private static func contacts() -> NSManagedObjectModel {
        let model = ContactModel.make()
        for entity in model.entities { (entity.managedObjectClassName, entity.uniquenessConstraints) = (nil, []) }
        return model
    }

    private static func people() -> NSManagedObjectModel {
        let person = NSEntityDescription()
        person.name = "Person"
        person.properties = ["fullName", "years"].map {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = ($0, .stringAttributeType)
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    private static func names(_ url: URL, options: [AnyHashable: Any]? = nil) throws -> [[String?]] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: people())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let found = try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { person in
                ["fullName", "years"].map { person.value(forKey: $0) as? String }
            }
        }
        try coordinator.remove(store)
        return found
    }

    @Test("makes a new store with a policy, by hand and by itself")
    func mappings() throws {
        let folder = try TemporaryFolder()
        let old = Self.contacts()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for name in ["Ann", nil] {
                let contact = NSEntityDescription.insertNewObject(forEntityName: "Contact", into: context)
                contact.setValue(name, forKey: "name")
                contact.setValue(40, forKey: "age")
            }
            try context.save()
        }
        try coordinator.remove(store)
        try Self.migrate(folder.store, old, Self.makeMapping(), to: folder.file("People.sqlite"), Self.people())
        #expect(try Self.names(folder.file("People.sqlite")) == [["Ann", "40 years"]])
        Self.register(from: old, to: Self.people())
        #expect(try Self.names(folder.store, options: [NSMigratePersistentStoresAutomaticallyOption: true]) == [["Ann", "40 years"]])
    }
}
