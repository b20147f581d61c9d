import CoreData
import Foundation
import TestSupport
import Testing

/// A store of any model in a temporary folder, and one context on it.
final class Stage {
    let folder: TemporaryFolder
    let url: URL
    let context: NSManagedObjectContext
    private let makeModel: () -> NSManagedObjectModel

    init(_ makeEntities: @escaping () -> [NSEntityDescription]) throws {
        folder = try TemporaryFolder()
        url = folder.store
        makeModel = {
            let model = NSManagedObjectModel()
            model.entities = makeEntities()
            return model
        }
        context = try Self.context(makeModel(), url)
    }

    /// A context on a coordinator of its own: it sees the file only.
    func separateContext() throws -> NSManagedObjectContext { try Self.context(makeModel(), url) }

    /// Another context on the same coordinator.
    func siblingContext() -> NSManagedObjectContext {
        let sibling = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        sibling.persistentStoreCoordinator = context.persistentStoreCoordinator
        return sibling
    }

    private static func context(_ model: NSManagedObjectModel, _ url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// What the `sqlite3` command reads from the file.
    func sql(_ query: String) throws -> String { try Child.sqlite(url, query) }
}

extension NSManagedObjectContext {
    /// All objects of an entity, by its name.
    func all<Object: NSManagedObject>(_ type: Object.Type, _ entity: String, by key: String? = nil) throws -> [Object] {
        let request = NSFetchRequest<Object>(entityName: entity)
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        return try fetch(request)
    }

    /// The only object of an entity.
    func only<Object: NSManagedObject>(_ type: Object.Type, _ entity: String) throws -> Object {
        let objects = try all(type, entity)
        #expect(objects.count == 1)
        return try #require(objects.first)
    }
}

/// The code of the Cocoa error that `body` throws, 0 where it throws none.
func errorCode(_ body: () throws -> Void) -> Int {
    do { try body() } catch { return (error as NSError).domain == NSCocoaErrorDomain ? (error as NSError).code : -1 }
    return 0
}

/// Notifications of one name from one context, as they came.
final class Notifications {
    private(set) var received: [Notification] = []
    private var token: (any NSObjectProtocol)?

    init(_ name: Notification.Name, from context: NSManagedObjectContext, _ body: @escaping (Notification) -> Void = { _ in }) {
        // The notifications are posted on the thread that the test runs on.
        nonisolated(unsafe) weak let me = self
        nonisolated(unsafe) let body = body
        token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
            me?.received.append(notification)
            body(notification)
        }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }

    /// The objects of the latest notification under a key.
    func objects(_ key: String) -> Set<NSManagedObject> { received.last?.userInfo?[key] as? Set<NSManagedObject> ?? [] }
}

extension Library {
    /// The statements that `body`, which throws nothing, runs.
    func statementsOf(_ body: () -> Void) -> [String] { statements(body) }
}
