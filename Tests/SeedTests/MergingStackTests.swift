import CoreData
import Foundation
import Testing

/// Two contexts on one coordinator. Each save of one is merged into the other by an observer.
private final class MergingStack {
    var errorHandler: (Error) -> Void = { _ in }
    private let documents: URL
    private var observers: [NSObjectProtocol] = []

    init(in documents: URL) {
        self.documents = documents
        let pairs = [(managedObjectContext, backgroundManagedObjectContext), (backgroundManagedObjectContext, managedObjectContext)]
        // There are no selectors on Linux: a block is the observer.
        observers = pairs.map { saver, other in
            NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: saver, queue: nil) { notification in
                // Nobody else has it from here on.
                nonisolated(unsafe) let notification = notification
                other.perform { other.mergeChanges(fromContextDidSave: notification) }
            }
        }
    }

    deinit { observers.forEach(NotificationCenter.default.removeObserver) }

    lazy var managedObjectModel: NSManagedObjectModel = {
        let modelURL = Bundle.module.url(forResource: "DataModel", withExtension: "xcdatamodeld")!
        return NSManagedObjectModel(contentsOf: modelURL)!
    }()

    lazy var persistentStoreCoordinator: NSPersistentStoreCoordinator = {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: self.managedObjectModel)
        do {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType,
                configurationName: nil,
                at: self.documents.appendingPathComponent("DataModel.sqlite"),
                options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
            )
        } catch {
            self.errorHandler(error)
        }
        return coordinator
    }()

    lazy var backgroundManagedObjectContext: NSManagedObjectContext = {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = self.persistentStoreCoordinator
        return context
    }()

    lazy var managedObjectContext: NSManagedObjectContext = {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = self.persistentStoreCoordinator
        return context
    }()
}

@Suite("Two contexts that merge on save")
@MainActor struct MergingStackTests {
    private let documents: Documents
    init() throws { documents = try Documents() }

    // * The background context stores a user, and changes its name later. Main holds the user.
    // => Main has the name without fetching again; then the same the other way round.
    @Test("see what the other saves, both ways")
    func bothWays() async throws {
        let stack = MergingStack(in: documents.url)
        let (main, background) = (stack.managedObjectContext, stack.backgroundManagedObjectContext)
        let id = try await background.perform {
            let user = background.insertUser("Ada")
            try background.save()
            return user.objectID
        }
        let user = try #require(try main.existingObject(with: id) as? User)
        try await background.perform {
            (background.object(with: id) as? User)?.name = "Grace"
            try background.save()
        }
        await main.perform(schedule: .enqueued) {}
        #expect(user.name == "Grace")

        await background.perform {
            background.retainsRegisteredObjects = true
            #expect((background.object(with: id) as? User)?.name == "Grace")
        }
        user.name = "Barbara"
        try main.save()
        await background.perform(schedule: .enqueued) {}
        #expect(await background.perform { (background.registeredObject(for: id) as? User)?.name } == "Barbara")
    }

    @Test("keep what they have not saved, and see new and deleted objects")
    func unsavedChanges() async throws {
        let stack = MergingStack(in: documents.url)
        let (main, background) = (stack.managedObjectContext, stack.backgroundManagedObjectContext)
        let (ada, grace) = (main.insertUser("Ada"), main.insertUser("Grace"))
        try main.save()
        ada.age = 36
        try await background.perform { [id = grace.objectID] in
            background.delete(background.object(with: id))
            background.insertUser("Barbara")
            try background.save()
        }
        await main.perform(schedule: .enqueued) {}
        #expect(ada.age == 36 && main.hasChanges)
        #expect(try main.userNames() == ["Ada", "Barbara"])
    }
}
