import CoreData
import Foundation

/// Batch requests, one after the other for ever, each of which leaves its mark on many rows: what is done by halves is found out. All with a history.
struct BatchWork {
    static let size = 500

    private let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)

    init(_ url: URL?) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GroupModel.make())
        let options = [NSPersistentHistoryTrackingKey: true]
        _ = try coordinator.addPersistentStore(type: .sqlite, at: url ?? URL(fileURLWithPath: "/dev/null"), options: options)
        context.persistentStoreCoordinator = coordinator
    }

    func run() throws {
        try context.performAndWait {
            try context.execute(NSBatchDeleteRequest(fetchRequest: GroupModel.groups()))
            try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Member")))
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
        try context.execute(NSBatchDeleteRequest(fetchRequest: GroupModel.groups()))
        try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Member")))
    }
}
