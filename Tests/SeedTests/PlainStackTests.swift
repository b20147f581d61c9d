import CoreData
import Foundation
import Testing

/// Model, coordinator, store, context, made one after the other.
private final class PlainStack {
    let context: NSManagedObjectContext

    init?(in documents: URL) {
        // 1. The model. On an Apple system it is "momd"; the resources of a package contain the source.
        guard let url = Bundle.module.url(forResource: "DataModel", withExtension: "xcdatamodeld"),
            let model = NSManagedObjectModel(contentsOf: url)
        else { return nil }
        // 2. The coordinator.
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        // 3. The store.
        let storeURL = documents.appendingPathComponent("Example.sqlite")
        do {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: nil)
        } catch {
            return nil
        }
        // 4. The context.
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    func saveIfNeeded() throws {
        if context.hasChanges { try context.save() }
    }
}

@Suite("A stack of one coordinator and one context")
@MainActor struct PlainStackTests {
    private let documents: Documents
    init() throws { documents = try Documents() }

    @Test("fetches, saves, and finds it again")
    func fetchingAndSaving() throws {
        let stack = try #require(PlainStack(in: documents.url))
        #expect(try stack.context.fetch(NSFetchRequest<User>()).isEmpty)
        try stack.saveIfNeeded()
        let user = stack.context.insertUser("Ada", age: 36)
        user.posts = [Post(context: stack.context)]
        try stack.saveIfNeeded()
        #expect(!stack.context.hasChanges)
        let again = try #require(PlainStack(in: documents.url))
        let users = try again.context.fetch(NSFetchRequest<User>())
        #expect(users.map(\.name) == ["Ada"] && users[0].age == 36 && users[0].posts.count == 1)
    }

    @Test("is not made where the store cannot be")
    func noStore() throws {
        try Data("no database, but long enough to be taken for the beginning of one".utf8)
            .write(to: documents.url.appendingPathComponent("Example.sqlite"))
        #expect(PlainStack(in: documents.url) == nil)
    }

    @Test("is what a container makes of a name: model, context, coordinator, background contexts")
    func container() async throws {
        let container = NSPersistentContainer(name: "DataModel")
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: documents.url.appendingPathComponent("Example.sqlite"))
        ]
        container.loadPersistentStores(completionHandler: { _, error in
            if let error = error { Issue.record("Unresolved error \(error)") }
        })
        #expect(container.managedObjectModel.entities.count == 2)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
        #expect(container.newBackgroundContext().concurrencyType == .privateQueueConcurrencyType)
        await answer { done in
            container.performBackgroundTask { context in
                context.insertUser("Grace")
                do { try context.save() } catch { Issue.record(error) }
                done(())
            }
        }
        #expect(try container.viewContext.userNames() == ["Grace"])
    }

    @Test("has a fetch request template of the model")
    func template() throws {
        let stack = try #require(PlainStack(in: documents.url))
        for name in ["Ada", "Grace"] { stack.context.insertUser(name) }
        let model = try #require(stack.context.persistentStoreCoordinator?.managedObjectModel)
        let request = try #require(model.fetchRequestFromTemplate(withName: "usersNamed", substitutionVariables: ["NAME": "Ada"]))
        #expect(try stack.context.fetch(request).compactMap { ($0 as? User)?.name } == ["Ada"])
    }

    @Test("has several stores, each with a description of its own")
    func severalStores() throws {
        let container = NSPersistentContainer(name: "DataModel")
        let urls = ["A", "B"].map { documents.url.appendingPathComponent("\($0).sqlite") }
        container.persistentStoreDescriptions = urls.map { NSPersistentStoreDescription(url: $0) }
        var loaded: [URL?] = []
        container.loadPersistentStores { description, error in
            #expect(error == nil)
            loaded.append(description.url)
        }
        #expect(loaded == urls && container.persistentStoreCoordinator.persistentStores.count == 2)
        let (first, second) = (container.viewContext.insertUser("in A"), container.viewContext.insertUser("in B"))
        for (user, store) in zip([first, second], container.persistentStoreCoordinator.persistentStores) {
            container.viewContext.assign(user, to: store)
        }
        try container.viewContext.save()
        #expect([first, second].map { $0.objectID.persistentStore?.url } == urls)
        #expect(try container.viewContext.userNames() == ["in A", "in B"])
        // As the article writes it: the name of the type is the parameter's.
        container.performBackgroundTask { (NSManagedObjectContext) in

        }
    }
}
