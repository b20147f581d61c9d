import CoreData
import TestSupport
import Testing

@Suite("One end of a one-to-one relationship that is refreshed without its changes")
struct RefreshedPairTests {
    private let stage: Stage
    private let nodes: [NSManagedObject]

    init() throws {
        stage = try Stage {
            let node = LibraryModel.entity("Node", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(node, "next", toMany: false, .nullifyDeleteRule, node, "previous", toMany: false, .nullifyDeleteRule)
            return [node]
        }
        let context = stage.context
        nodes = (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Node", into: context) }
        nodes[0]["next"] = nodes[1]
        try stage.context.save()
    }

    private func file() throws -> String {
        try stage.sql("SELECT ifnull(ZNEXT, 0) || ifnull(ZPREVIOUS, 0) FROM ZNODE ORDER BY Z_PK")
    }

    // * The other end was led elsewhere, and back; this one is refreshed; the other is deleted.
    // => Nothing leads to the row that is gone.
    @Test("still leads to the other one, which was led elsewhere and back")
    func back() throws {
        nodes[0]["next"] = nodes[2]
        nodes[0]["next"] = nodes[1]
        stage.context.refresh(nodes[1], mergeChanges: false)
        #expect(nodes[0]["next"] as? NSManagedObject === nodes[1] && nodes[1]["previous"] as? NSManagedObject === nodes[0])
        stage.context.delete(nodes[0])
        try stage.context.save()
        #expect(try file() == "00\n00")
    }

    // * It was led elsewhere, which is undone; another context has parted the two meanwhile, and wins nothing by property.
    // => What leads again where it led is no edit: the others have saved that it does not.
    @Test("gives the other one back without an edit that would be saved over what others did")
    func noEdit() throws {
        let context = stage.context
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        #expect(nodes[1]["previous"] as? NSManagedObject === nodes[0])
        let other = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        try other.existingObject(with: nodes[0].objectID)["next"] = nil
        try other.save()
        nodes[0]["next"] = nodes[2]
        context.refresh(nodes[0], mergeChanges: false)
        nodes[1]["name"] = "mine"
        try context.save()
        #expect(try file() == "00\n00\n00")
        #expect(nodes[1]["previous"] == nil && nodes[1]["name"] as? String == "mine")
    }

    // * Others have deleted it, which this context finds as it leads somebody there; or it was deleted here, in the same event.
    // => Who was led there leads nowhere: nothing leads to the row that is gone.
    @Test("is left by whom it was set to, where it is deleted", arguments: [true, false])
    func deleted(byOthers: Bool) throws {
        let context = stage.context
        if byOthers {
            let other = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            other.delete(try other.existingObject(with: nodes[2].objectID))
            try other.save()
            context.refresh(nodes[2], mergeChanges: false)
        } else {
            context.delete(nodes[2])
        }
        nodes[0]["next"] = nodes[2]
        context.refresh(nodes[2], mergeChanges: false)
        try context.save()
        #expect(nodes[0]["next"] == nil)
        #expect(try file() == "00\n00")
    }

    // * A delete that a policy gives up, since others have put the object into a relationship with one that this context shows with somebody else.
    // => The two lead to each other, in the file too.
    @Test("is brought up to date where the delete of the other one is given up")
    func givenUp() throws {
        let context = stage.context
        context.mergePolicy = NSMergePolicy.rollback
        #expect(nodes[1]["previous"] as? NSManagedObject === nodes[0] && nodes[2]["previous"] == nil)
        let other = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let ends = try nodes.map { try other.existingObject(with: $0.objectID) }
        ends[0]["next"] = ends[2]
        try other.save()
        context.delete(nodes[2])
        try context.save()
        #expect(try file() == "30\n00\n01")
        #expect(nodes[2]["previous"] as? NSManagedObject === nodes[0] && nodes[0]["next"] as? NSManagedObject === nodes[2])
    }

    // * An object is deleted here that others relate meanwhile, which the other end is refreshed to show.
    // => Nothing leads to the row that is gone.
    @Test("is let go by a delete that was made before others related the two")
    func relatedMeanwhile() throws {
        let context = stage.context
        let other = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        #expect(nodes[1]["previous"] as? NSManagedObject === nodes[0])
        context.refresh(nodes[2], mergeChanges: false)
        let ends = try nodes.map { try other.existingObject(with: $0.objectID) }
        ends[2]["next"] = ends[1]
        try other.save()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        context.delete(nodes[2])
        context.processPendingChanges()
        context.refresh(nodes[1], mergeChanges: false)
        try context.save()
        #expect(try file() == "00\n00")
    }
}
