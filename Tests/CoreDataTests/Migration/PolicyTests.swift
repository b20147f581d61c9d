import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Deletes the orders with odd numbers as soon as a relationship is to be set, and notes which orders it is asked about.
final class OddDeletingPolicy: NSEntityMigrationPolicy {
    override func createRelationships(forDestination object: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        let asked = manager.userInfo?["asked"] as? [Int] ?? []
        manager.userInfo = ["asked": asked + [object.value(forKey: "number") as? Int ?? -1]]
        let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
        request.predicate = NSPredicate(format: "modulus:by:(number, 2) == 1")
        for order in try manager.destinationContext.fetch(request) { manager.destinationContext.delete(order) }
        try super.createRelationships(forDestination: object, in: mapping, manager: manager)
    }
}

/// Lets go of all source objects after each.
final class ResettingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(forSource object: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try super.createDestinationInstances(forSource: object, in: mapping, manager: manager)
        manager.sourceContext.reset()
    }
}

/// Saves after each object, and lets go of all of them.
final class SavingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(forSource object: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try super.createDestinationInstances(forSource: object, in: mapping, manager: manager)
        try saveAndReset(manager)
    }

    override func createRelationships(forDestination object: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try super.createRelationships(forDestination: object, in: mapping, manager: manager)
        try saveAndReset(manager)
    }

    private func saveAndReset(_ manager: NSMigrationManager) throws {
        try manager.destinationContext.save()
        manager.destinationContext.reset()
    }
}

/// Deletes the orders with odd numbers once all are made, and saves that.
final class SavedDeletingPolicy: NSEntityMigrationPolicy {
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        for order in manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil) {
            if (order.value(forKey: "number") as? Int ?? 0) % 2 == 1 { manager.destinationContext.delete(order) }
        }
        try manager.destinationContext.save()
        manager.userInfo = ["left": manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil).count]
    }
}

/// Makes one order of all, and notes how many the manager knows before and after they are saved.
final class GatheringPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(forSource object: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        guard let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil).first else {
            return try super.createDestinationInstances(forSource: object, in: mapping, manager: manager)
        }
        manager.associate(sourceInstance: object, withDestinationInstance: made, for: mapping)
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { note(mapping, manager) }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note(mapping, manager)
    }

    private func note(_ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: made)
        manager.userInfo = ["known": (manager.userInfo?["known"] as? [[Int]] ?? []) + [[made.count, sources.count]]]
    }
}

/// Notes what becomes of what.
final class NotingManager: NSMigrationManager {
    private(set) var noted: [String: Int] = [:]

    override func associate(sourceInstance: NSManagedObject, withDestinationInstance made: NSManagedObject, for mapping: NSEntityMapping) {
        noted[mapping.name, default: 0] += 1
        super.associate(sourceInstance: sourceInstance, withDestinationInstance: made, for: mapping)
    }
}

@Suite("A policy")
struct PolicyTests {
    private let folder: TemporaryFolder
    private let shop = Shop()

    init() throws {
        folder = try TemporaryFolder()
        try shop.fill(folder.file("Old.sqlite"))
    }

    private func migrate(
        _ policy: NSEntityMigrationPolicy.Type? = nil,
        _ change: (NSEntityMapping) -> Void = { _ in }
    ) throws -> (manager: NSMigrationManager, contents: [String]) {
        let mapping = shop.mapping()
        mapping.entityMappings[1].entityMigrationPolicyClassName = policy.map { NSStringFromClass($0) }
        change(mapping.entityMappings[0])
        let manager = NSMigrationManager(sourceModel: shop.old, destinationModel: shop.new)
        manager.userInfo = ["language": "German"]
        let (old, new) = (folder.file("Old.sqlite"), folder.file("New.sqlite"))
        try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
        return (manager, try shop.contents(new))
    }

    @Test("is not asked for the relationships of an object that it has deleted")
    func deleted() throws {
        let (manager, contents) = try migrate(OddDeletingPolicy.self)
        #expect(manager.userInfo?["asked"] as? [Int] == [0, 2, 4])
        #expect(contents.prefix(3) == ["Ann0, 20: [0]", "Ann1, 21: [2]", "Ann2, 22: [4]"])
    }

    @Test("that makes one object of several is told of that once")
    func gathered() throws {
        #expect(try migrate(GatheringPolicy.self).manager.userInfo?["known"] as? [[Int]] == [[1, 6], [1, 6]])
    }

    @Test("may reset the source's context between two objects")
    func reset() throws {
        let expected = Shop.migrated.map { $0.replacingOccurrences(of: " Löwe", with: "") }
        #expect(try migrate(ResettingPolicy.self).contents == expected)
    }

    @Test("may save, and reset the destination's context, between two objects")
    func saved() throws {
        let expected = Shop.migrated.map { $0.replacingOccurrences(of: " Löwe", with: "") }
        #expect(try migrate(SavingPolicy.self).contents == expected)
    }

    @Test("that deletes objects and saves that finds them no more, nor does anything lead to them")
    func deletedAndSaved() throws {
        let (manager, contents) = try migrate(SavedDeletingPolicy.self)
        #expect(manager.userInfo?["left"] as? Int == 3)
        #expect(contents.prefix(3) == ["Ann0, 20: [0]", "Ann1, 21: [2]", "Ann2, 22: [4]"])
    }

    // * The full name is computed by expressions as mapping models have them.
    @Test(
        "is served by expressions that read its mapping, its manager and values of values",
        arguments: [
            ("$entityMapping.name", "CustomerToClient"), ("$manager.userInfo.language", "German"), ("$propertyMapping.name", "fullName"),
            ("$manager.currentEntityMapping.sourceEntityName", "Customer"), ("FUNCTION($source, \"valueForKey:\", \"first\")", "Ann0"),
            ("FUNCTION(FUNCTION($source, \"valueForKeyPath:\", \"orders.customer.first\"), \"lastObject\")", "Ann0"),
        ]
    )
    func expressions(_ expression: String, _ name: String) throws {
        let (_, contents) = try migrate { client in
            client.attributeMappings = [.init("fullName", expression), .init("age", "$source.age")]
        }
        #expect(contents.first == "\(name), 20: [0, 1]")
    }

    @Test("that leaves all to the base class has each object associated by the manager, whose class may note that")
    func noted() throws {
        let manager = NotingManager(sourceModel: shop.old, destinationModel: shop.new)
        let (old, new) = (folder.file("Old.sqlite"), folder.file("New.sqlite"))
        let mapping = shop.mapping(policy: JoiningPolicy.self)
        try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
        #expect(manager.noted["CustomerToClient"] == 3)
        #expect(try shop.contents(new) == Shop.migrated)
    }
}
