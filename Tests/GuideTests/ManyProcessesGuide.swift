import CoreData
import CoreDataStack
import TestSupport
import Testing

@Suite("The guide to many processes", .timeLimit(.minutes(20)))
struct ManyProcessesGuide {
    private static func container(at url: URL) async throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Contacts", managedObjectModel: ContactModel.make())
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        try await container.loadPersistentStores()
        return container
    }

    private static func follow(_ container: NSPersistentContainer, _ merged: AsyncStream<Int>.Continuation) async throws {
        let follower = HistoryFollower(name: "app", coordinator: container.persistentStoreCoordinator)
        for try await transactions in follower {
            for transaction in transactions {
                await container.viewContext.perform {
                    container.viewContext.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                }
            }
            try follower.deleteSeenHistory()
            merged.yield(transactions.count)
        }
    }

    private static func changes(of name: String, after token: NSPersistentHistoryToken?, _ context: NSManagedObjectContext) throws
        -> [String]
    {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        let fetch = NSPersistentHistoryTransaction.fetchRequest
        fetch?.predicate = NSPredicate(format: "author == %@", name)
        request.fetchRequest = fetch
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        return transactions.flatMap { $0.changes ?? [] }.map { change in
            let properties = change.updatedProperties?.map(\.name).sorted() ?? []
            return "\(change.changeType) \(change.changedObjectID.entity.name ?? "") \(properties)"
        }
    }

    @Test("has a container that merges what another one saves, and reads the history")
    func following() async throws {
        let folder = try TemporaryFolder()
        let (app, other) = (try await Self.container(at: folder.store), try await Self.container(at: folder.store))
        let merged = AsyncStream<Int>.makeStream()
        let task = Task { try await Self.follow(app, merged.continuation) }
        let context = other.newBackgroundContext()
        try await context.perform {
            context.transactionAuthor = "extension"
            let contact = Contact(context: context)
            contact.name = "Ann"
            try context.save()
            contact.age = 30
            try context.save()
        }
        var count = 0
        for await more in merged.stream {
            count += more
            if count == 2 { break }
        }
        task.cancel()
        let told = try await context.perform { try Self.changes(of: "extension", after: nil, context) }
        #expect(told.last == "update Contact [\"age\"]")
    }

    @Test("has a stack that shares its store")
    func sharing() async throws {
        let folder = try TemporaryFolder()
        let (model, url) = (ContactModel.make(), folder.store)
        var options = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
        options[CoreDataStackSharingNameOption] = "app"
        let stack = try await CoreDataStack.constructSQLiteStack(model: model, at: url, persistentStoreOptions: options)
        let context = stack.newChildContext()
        try await context.perform {
            _ = Contact(context: context)
            try context.save()
        }
        try await stack.close()
    }
}
