import Foundation
import Testing

@testable import CoreData

/// An incremental store with three entries, which is told which of them are in use.
private final class CountingStore: NSIncrementalStore {
    static let storeType = "Counting"
    override var type: String { Self.storeType }
    private let told = Lock((begun: [[String]](), ended: [[String]](), uses: [String: Int]()))

    var begun: [[String]] { told.withLock { $0.begun } }
    var ended: [[String]] { told.withLock { $0.ended } }
    /// How many contexts have an object, by reference object.
    var uses: [String: Int] { told.withLock { $0.uses } }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let entity = (request as? NSFetchRequest<any NSFetchRequestResult>)?.entity, let context else { return [Any]() }
        return ["a", "b", "c"].map { context.object(with: newObjectID(for: entity, referenceObject: $0)) }
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        NSIncrementalStoreNode(objectID: objectID, withValues: ["text": name(objectID)], version: 1)
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: $0.value(forKey: "text") ?? "") }
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        let names = objectIDs.map(name)
        told.withLock {
            $0.begun.append(names)
            for name in names { $0.uses[name, default: 0] += 1 }
        }
    }

    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        let names = objectIDs.map(name)
        told.withLock {
            $0.ended.append(names)
            for name in names { $0.uses[name] = $0.uses[name] == 1 ? nil : ($0.uses[name] ?? 0) - 1 }
        }
    }

    private func name(_ id: NSManagedObjectID) -> String { "\(referenceObject(for: id))" }
}

@Suite("An incremental store that wants to know")
struct UsedObjectsTests {
    private let coordinator: NSPersistentStoreCoordinator
    private let store: CountingStore

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(CountingStore.self, forStoreType: CountingStore.storeType)
        let model = NSManagedObjectModel(NSEntityDescription("Entry", attribute("text")))
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let url = URL(fileURLWithPath: "/counting/\(UUID().uuidString)")
        let added = try coordinator.addPersistentStore(ofType: CountingStore.storeType, configurationName: nil, at: url)
        store = try #require(added as? CountingStore)
    }

    private func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func fetch(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry"))
    }

    @Test("is told of all that a fetch finds, once for each context, and of what is let go of")
    func fetching() throws {
        let (first, second) = (context(), context())
        var entries = try fetch(first)
        #expect(Set(store.begun.joined()) == ["a", "b", "c"] && store.uses == ["a": 1, "b": 1, "c": 1])
        _ = try fetch(first).map { $0.value(forKey: "text") }
        #expect(store.uses == ["a": 1, "b": 1, "c": 1])
        let others = try fetch(second)
        #expect(store.uses == ["a": 2, "b": 2, "c": 2])
        entries.removeFirst()
        #expect(store.uses == ["a": 1, "b": 2, "c": 2])
        second.reset()
        #expect(store.uses == ["b": 1, "c": 1])
        withExtendedLifetime((entries, others)) {}
    }

    // * The objects outlive their context, and go later.
    // => They are in no context from when that goes, and are told of once.
    @Test("is told of a context that goes")
    func contexts() throws {
        var context: NSManagedObjectContext? = context()
        var entries = try context.map(fetch) ?? []
        #expect(entries.count == 3)
        context = nil
        #expect(store.uses == [:] && store.ended.joined().count == 3)
        entries = []
        #expect(store.ended.joined().count == 3)
    }

    @Test("is told of a fault that an ID gives, and of a new object when it has got its ID")
    func faultsAndInserts() throws {
        let context = context()
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Entry"])
        var fault: NSManagedObject? = context.object(with: store.newObjectID(for: entity, referenceObject: "a"))
        #expect(store.begun == [["a"]] && fault?.isFault == true)
        fault = nil
        #expect(store.ended == [["a"]])
        let new = NSManagedObject(entity: entity, insertInto: context)
        new.setValue("new", forKey: "text")
        #expect(store.begun.count == 1)
        try context.save()
        #expect(store.begun.last == ["new"] && store.uses == ["new": 1])
        context.delete(new)
        try context.save()
        #expect(store.uses == [:])
    }

    @Test("is told by children too")
    func children() throws {
        let parent = context()
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = parent
        var entries = try fetch(child)
        #expect(store.uses["a"] ?? 0 >= 1 && entries.count == 3)
        entries = []
        #expect(store.uses == [:])
    }

    @Test("is the only one whose class is called")
    func overrides() throws {
        #expect(store.followsUse)
        let home = try ContractHome(.dictionary)
        let other = try #require(try home.coordinator().allStores.first)
        #expect(!other.followsUse)
    }

    @Test("gets a manager for migrations of the framework's class, unless it says another")
    func managers() {
        #expect(ObjectIdentifier(CountingStore.migrationManagerClass()) == ObjectIdentifier(NSMigrationManager.self))
    }
}
