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

    private func stage() throws -> Stage {
        try Stage {
            let owner = LibraryModel.entity("Owner", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let badge = LibraryModel.entity("Badge", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(owner, "badge", toMany: false, .nullifyDeleteRule, badge, "owner", toMany: false, .nullifyDeleteRule)
            return [owner, badge]
        }
    }

    @Test("takes it out of there", arguments: policies, 0..<3)
    private func leave(policy: NSMergePolicyType, layers: Int) throws {
        let stage = try stage()
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

    enum End: CaseIterable { case owner, badge, deletedOwner, deletedBadge }

    /// Where somebody else joins the two, and whether the context hears of it.
    struct Others: CaseIterable {
        var (areApart, areMerged) = (false, false)
        static let allCases = [false, true].flatMap { apart in [false, true].map { Others(areApart: apart, areMerged: $0) } }
    }

    // * A child joins two objects, as somebody else does, who saves first. The context above, which knows the one end or both, takes the child's save,
    //   measured against what was before, and parts the two again: with that, one of the ends is as the child has read it.
    @Test("is parted from it, though one end is as it was once", arguments: End.allCases, Others.allCases)
    private func part(end: End, others: Others) throws {
        for policy in Self.policies {
            for known in [[], ["Owner"], ["Badge"], ["Owner", "Badge"]] {
                for layers in 0..<2 { try part(policy, end, others, known, layers) }
            }
        }
    }

    private func part(_ policy: NSMergePolicyType, _ end: End, _ others: Others, _ known: [String], _ layers: Int) throws {
        let stage = try stage()
        for name in ["Owner", "Badge"] {
            NSEntityDescription.insertNewObject(forEntityName: name, into: stage.context).setValue(name, forKey: "name")
        }
        try stage.context.save()
        stage.context.reset()
        let context = layers == 0 ? stage.context : Layers.child(of: stage.context, "context")
        for context in [context, stage.context] { context.mergePolicy = NSMergePolicy(merge: policy) }
        let child = Layers.child(of: context, "child")
        try badge(child).setValue(owner("Owner", child), forKey: "owner")
        let held = try known.flatMap { try context.all(NSManagedObject.self, $0, orderedBy: nil) }
        for object in held { _ = object.value(forKey: "name") }
        let other = try others.areApart ? stage.separateContext() : stage.siblingContext()
        try badge(other).setValue(owner("Owner", other), forKey: "owner")
        try other.save()
        if others.areMerged { for object in held { context.refresh(object, mergeChanges: true) } }
        try child.save()
        switch end {
        case .owner: try owner("Owner", context).setValue(nil, forKey: "badge")
        case .badge: try badge(context).setValue(nil, forKey: "owner")
        case .deletedOwner: try context.delete(owner("Owner", context))
        case .deletedBadge: try context.delete(badge(context))
        }
        try context.save()
        if stage.context !== context { try stage.context.save() }
        let ends = try stage.sql(
            """
            SELECT (SELECT COUNT(*) FROM ZOWNER, ZBADGE WHERE ZOWNER.ZBADGE = ZBADGE.Z_PK AND ZBADGE.ZOWNER = ZOWNER.Z_PK), \
            (SELECT COUNT(*) FROM ZOWNER WHERE ZBADGE > 0), (SELECT COUNT(*) FROM ZBADGE WHERE ZOWNER > 0)
            """
        )
        #expect(["0|0|0", "1|1|1"].contains(ends), "\(policy) \(known) \(layers) layers")
        withExtendedLifetime(held) {}
    }

    // * As above, of a badge among many, whose owner is deleted.
    @Test("leaves a deleted owner who has many", arguments: policies, Others.allCases)
    private func deleteOwner(policy: NSMergePolicyType, others: Others) throws {
        let stage = try Stage {
            let owner = LibraryModel.entity("Owner", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let badge = LibraryModel.entity("Badge", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(owner, "badges", toMany: true, .nullifyDeleteRule, badge, "owner", toMany: false, .nullifyDeleteRule)
            return [owner, badge]
        }
        for name in ["Owner", "Badge"] {
            NSEntityDescription.insertNewObject(forEntityName: name, into: stage.context).setValue(name, forKey: "name")
        }
        try stage.context.save()
        let context = stage.context
        context.reset()
        context.mergePolicy = NSMergePolicy(merge: policy)
        let child = Layers.child(of: context, "child")
        try badge(child).setValue(owner("Owner", child), forKey: "owner")
        let other = try others.areApart ? stage.separateContext() : stage.siblingContext()
        try badge(other).setValue(owner("Owner", other), forKey: "owner")
        try other.save()
        if others.areMerged { context.refreshAllObjects() }
        try child.save()
        try context.delete(owner("Owner", context))
        try context.save()
        #expect(try stage.sql("SELECT COUNT(*) FROM ZBADGE WHERE ZOWNER > 0 AND ZOWNER NOT IN (SELECT Z_PK FROM ZOWNER)") == "0")
    }
}
