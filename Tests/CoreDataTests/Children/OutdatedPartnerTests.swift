import Foundation
import Testing

@testable import CoreData

// * Another program has joined two objects one to one. Here the one has been read since, and the other before; the first is joined to a third, in the
//   topmost context or in a child. Somebody saves all of that, under a merge policy.
// => Both ends of each pair agree in the file.
@Suite("One end of a one-to-one relationship that is led away from an end which is out of date")
struct OutdatedPartnerTests {
    private static let policies: [NSMergePolicyType] = [
        .mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .overwriteMergePolicyType,
        .rollbackMergePolicyType,
    ]

    private func owner(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let owners = try context.all(NSManagedObject.self, "Owner", orderedBy: nil)
        return try #require(owners.first { $0.value(forKey: "name") as? String == name })
    }

    private func badge(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(context.all(NSManagedObject.self, "Badge", orderedBy: nil).first)
    }

    @Test("takes it out of there", arguments: policies, 0..<3)
    private func leave(policy: NSMergePolicyType, layers: Int) throws {
        let stage = try Stage {
            let owner = LibraryModel.entity("Owner", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let badge = LibraryModel.entity("Badge", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(owner, "badge", toMany: false, .nullifyDeleteRule, badge, "owner", toMany: false, .nullifyDeleteRule)
            return [owner, badge]
        }
        var contexts = [stage.context]
        for _ in 0..<layers { contexts.append(Layers.child(of: contexts[contexts.count - 1], "child")) }
        for context in contexts { context.mergePolicy = NSMergePolicy(merge: policy) }
        for name in ["first", "second"] {
            NSEntityDescription.insertNewObject(forEntityName: "Owner", into: stage.context).setValue(name, forKey: "name")
        }
        try stage.context.save()
        let context = contexts[layers]
        let (first, second) = (try owner("first", context), try owner("second", context))
        #expect(first.value(forKey: "badge") == nil)
        let other = try stage.separateContext()
        let joined = NSEntityDescription.insertNewObject(forEntityName: "Badge", into: other)
        joined.setValue(try owner("first", other), forKey: "owner")
        try other.save()
        let badge = try badge(context)
        #expect(badge.value(forKey: "owner") as? NSManagedObject === first && first.value(forKey: "badge") == nil)
        badge.setValue(second, forKey: "owner")
        for context in contexts.reversed() { try context.save() }
        #expect(try stage.sql("SELECT ZNAME, ZBADGE FROM ZOWNER ORDER BY 1") == "first|\nsecond|1")
        #expect(try stage.sql("SELECT ZNAME FROM ZOWNER WHERE Z_PK = (SELECT ZOWNER FROM ZBADGE)") == "second")
        let reader = try stage.separateContext()
        #expect(try owner("second", reader).value(forKey: "badge") as? NSManagedObject === self.badge(reader))
    }
}
