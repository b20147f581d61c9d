import CoreData
import Foundation

/// Batch requests, one after the other for ever, each of which leaves its mark on many rows: what is done by halves is found out. All with a history.
struct BatchWork {
    static let size = 500
    static let objects = 50

    /// Groups and members, and totals that are unique by their number and know the round that has written them last.
    static func model() -> NSManagedObjectModel {
        let model = GroupModel.make()
        let round = NSAttributeDescription()
        (round.name, round.attributeType) = ("round", .integer64AttributeType)
        let total = model.entities.first { $0.name == "Total" }
        total?.properties.append(round)
        total?.uniquenessConstraints = [["number"]]
        return model
    }

    private let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)

    init(_ url: URL?) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let options = [NSPersistentHistoryTrackingKey: true]
        _ = try coordinator.addPersistentStore(type: .sqlite, at: url ?? URL(fileURLWithPath: "/dev/null"), options: options)
        context.persistentStoreCoordinator = coordinator
    }

    func run() throws {
        try context.performAndWait {
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for entity in ["Group", "Member", "Total"] { try deleteAll(entity) }
            StackProgram.say("ready")
            for round in 1... {
                try step()
                StackProgram.say(round)
            }
        }
    }

    /// A group with members, who are all numbered anew, and go with the group, whose place is set to nil.
    private func step() throws {
        var number = 0
        let insertion = NSBatchInsertRequest(entityName: "Group", objects: [["number": 1]])
        insertion.resultType = .objectIDs
        let result = try context.execute(insertion) as? NSBatchInsertResult
        guard let group = (result?.result as? [NSManagedObjectID])?.first else { return }
        try context.execute(
            NSBatchInsertRequest(entityName: "Member") { (row: NSMutableDictionary) -> Bool in
                (row["number"], row["group"]) = (0, group)
                number += 1
                return number > Self.size
            }
        )
        for _ in 0..<3 {
            let update = NSBatchUpdateRequest(entityName: "Member")
            update.propertiesToUpdate = ["number": NSExpression(format: "number + 1")]
            try context.execute(update)
        }
        for entity in ["Group", "Member"] { try deleteAll(entity) }
        try upsert()
    }

    /// Totals that are inserted, then half of them written anew beside new ones, then some saved as objects.
    private func upsert() throws {
        for round in 1...2 {
            let numbers = (0..<Self.size).map { $0 + (round - 1) * Self.size / 2 }
            try context.execute(NSBatchInsertRequest(entityName: "Total", objects: numbers.map { ["number": $0, "round": round] }))
        }
        for number in 0..<Self.objects {
            let total = NSEntityDescription.insertNewObject(forEntityName: "Total", into: context)
            total.setValue(-1 - number, forKey: "number")
            total.setValue(3, forKey: "round")
        }
        try context.save()
        context.reset()
        try deleteAll("Total")
    }

    private func deleteAll(_ entity: String) throws {
        try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: entity)))
    }
}
