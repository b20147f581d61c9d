import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A relationship that is its own inverse, migrated object by object")
struct OwnInverseTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func model(_ isNew: Bool) -> NSManagedObjectModel {
        let (person, member) = (NSEntityDescription("Person", attribute("n", .integer32)), NSEntityDescription("Member"))
        person.subentities = [member]
        let friends = person.relate("friends", to: person, many: true, ordered: true)
        friends.inverseRelationship = friends
        if isNew { person.properties.append(attribute("note")) }
        return NSManagedObjectModel(person, member)
    }

    /// The numbers of the friends of each, in their order.
    private static func friends(_ context: NSManagedObjectContext) throws -> [[Int]] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "n", ascending: true)]
        return try context.fetch(request).map { person in
            let friends = person.value(forKey: "friends") as? NSOrderedSet
            return friends?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "n") as? Int } ?? []
        }
    }

    private func fill() throws -> [[Int]] {
        let stack = try Stack(folder.file("Old.sqlite"), Self.model(false))
        let context = stack.newContext()
        let people = (0..<700).map { number in
            // Those of the subentity have a mapping of their own.
            let person = NSEntityDescription.insertNewObject(forEntityName: number % 3 == 1 ? "Member" : "Person", into: context)
            person.setValue(number, forKey: "n")
            return person
        }
        // Friends are near and far, so that some come with another part of the migration.
        for (number, person) in people.enumerated() {
            for step in [1, 350, 7] { person.mutableOrderedSetValue(forKey: "friends").insert(people[(number + step) % 700], at: 0) }
        }
        try context.save()
        for person in people where (person.value(forKey: "n") as? Int ?? 0) % 3 == 0 {
            let friends = person.mutableOrderedSetValue(forKey: "friends")
            friends.moveObjects(at: [0], to: friends.count - 1)
        }
        try context.save()
        let order = try Self.friends(stack.newContext())
        try stack.close()
        return order
    }

    @Test("keeps the order of each object", arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func order(type: String) throws {
        let before = try fill()
        let (old, new) = (Self.model(false), Self.model(true))
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = false
        try manager.migrateStore(
            from: folder.file("Old.sqlite"),
            sourceType: NSSQLiteStoreType,
            options: nil,
            with: NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new),
            toDestinationURL: folder.file("New"),
            destinationType: type,
            destinationOptions: nil
        )
        let stack = Stack(new)
        try stack.coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("New"))
        #expect(try Self.friends(stack.newContext()) == before)
        try stack.close()
    }
}
