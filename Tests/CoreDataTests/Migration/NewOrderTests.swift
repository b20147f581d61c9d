import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A relationship that becomes ordered")
struct NewOrderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Tags lead to leaves and needles; in the second version they have an order.
    private func model(isOrdered: Bool) -> NSManagedObjectModel {
        let (tag, needle) = (NSEntityDescription("Tag"), NSEntityDescription("Needle"))
        let leaf = NSEntityDescription("Leaf", attribute("n", .integer32))
        leaf.subentities = [needle]
        let leaves = tag.relate("leaves", to: leaf, many: true, ordered: isOrdered)
        let tags = leaf.relate("tags", to: tag, many: true)
        (leaves.inverseRelationship, tags.inverseRelationship) = (tags, leaves)
        return NSManagedObjectModel(tag, leaf, needle)
    }

    private func fill() throws {
        let stack = try Stack(folder.file("Old.sqlite"), model(isOrdered: false))
        let context = stack.newContext()
        let leaves = try (0..<40).map { number in
            let leaf = NSEntityDescription.insertNewObject(forEntityName: number % 3 == 0 ? "Needle" : "Leaf", into: context)
            leaf.setValue(number, forKey: "n")
            // Their keys are in the order of their numbers.
            try context.obtainPermanentIDs(for: [leaf])
            return leaf
        }
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue(Set(leaves), forKey: "leaves")
        try context.save()
        try stack.close()
    }

    enum Manner: CaseIterable { case inPlace, asRows, byObjects }

    // * A tag leads to forty leaves of two entities in no order; the new version has one. Those of the subentity are migrated first.
    // => They are in the order of their older keys, each time, however they go.
    @Test("has the order of the older keys, in whatever manner it is migrated", arguments: Manner.allCases)
    func order(_ manner: Manner) throws {
        try fill()
        let (old, new) = (model(isOrdered: false), model(isOrdered: true))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        if manner != .inPlace { mapping.entityMappings.sort { first, _ in first.sourceEntityName == "Needle" } }
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = manner != .byObjects
        try manager.migrateStore(
            from: folder.file("Old.sqlite"),
            sourceType: NSSQLiteStoreType,
            with: mapping,
            toDestinationURL: folder.file("New.sqlite"),
            destinationType: NSSQLiteStoreType
        )
        let stack = try Stack(folder.file("New.sqlite"), new)
        let context = stack.newContext()
        let tag = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first)
        let leaves = tag.value(forKey: "leaves") as? NSOrderedSet
        #expect(leaves?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "n") as? Int } == Array(0..<40))
        try stack.close()
    }
}
