import Foundation
import Testing

@testable import CoreData

/// An atomic store whose objects are named by themselves, with nodes that keep their values in their own way. What it would write is in `file`.
private final class NamedStore: NSAtomicStore {
    static let storeType = "Named"
    override var type: String { Self.storeType }
    private(set) var file: [String: String] = [:]
    private(set) var saves = 0
    var failures = 0

    /// What identifies an object that `save()` adds a node of.
    var stranger: String?

    struct Thrown: Error {}

    final class Node: NSAtomicStoreCacheNode {
        var values: [String: Any] = [:]
        override func value(forKey key: String) -> Any? { values[key] }
        override func setValue(_ value: Any?, forKey key: String) { values[key] = value }
    }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }
    override func newReferenceObject(for managedObject: NSManagedObject) -> Any { managedObject.value(forKey: "name") ?? "" }
    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode { Node(objectID: managedObject.objectID) }

    override func save() throws {
        saves += 1
        metadata["saves"] = saves
        if failures > 0 {
            failures -= 1
            throw Thrown()
        }
        if let stranger, let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName["Entry"] {
            addCacheNodes([Node(objectID: objectID(for: entity, withReferenceObject: stranger))])
        }
        file = Dictionary(
            uniqueKeysWithValues: cacheNodes().map { ("\(referenceObject(for: $0.objectID))", $0.value(forKey: "text") as? String ?? "") }
        )
    }
}

@Suite("An atomic store whose save fails")
struct FailedStoreSaveTests {
    private let context: NSManagedObjectContext
    private let store: NamedStore

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(NamedStore.self, forStoreType: NamedStore.storeType)
        let model = NSManagedObjectModel(NSEntityDescription("Entry", attribute("name"), attribute("text")))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let url = URL(fileURLWithPath: "/named/\(UUID().uuidString)")
        store = try #require(
            try coordinator.addPersistentStore(ofType: NamedStore.storeType, configurationName: nil, at: url) as? NamedStore
        )
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    private func entry(_ name: String, _ text: String = "") -> NSManagedObject {
        let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
        entry.setValue(name, forKey: "name")
        entry.setValue(text, forKey: "text")
        return entry
    }

    @Test("has its own nodes as they were, so that nothing of it is written later")
    func nodes() throws {
        let first = entry("a", "old")
        try context.save()
        first.setValue("new", forKey: "text")
        store.failures = 1
        #expect(throws: NamedStore.Thrown.self) { try context.save() }
        context.rollback()
        _ = entry("b", "other")
        try context.save()
        #expect(store.file == ["a": "old", "b": "other"])
    }

    @Test("finds an object under its reference object again, which another one was to have")
    func references() throws {
        let first = entry("a", "old")
        try context.save()
        context.delete(first)
        _ = entry("a", "new")
        store.failures = 1
        #expect(throws: NamedStore.Thrown.self) { try context.save() }
        context.rollback()
        let uri = first.objectID.uriRepresentation()
        #expect(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) == first.objectID)
        #expect(store.cacheNode(for: first.objectID) != nil)

        context.delete(first)
        _ = entry("a", "new")
        store.failures = 1
        #expect(throws: NamedStore.Thrown.self) { try context.save() }
        try context.save()
        #expect(store.file == ["a": "new"])
    }

    // * save() adds a node, which no fetch would find.
    // => The save says so, and the node is gone; the next one that does not succeeds.
    @Test("since it adds nodes says so, and has none of them")
    func addedNode() throws {
        _ = entry("a", "1")
        store.stranger = "b"
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .persistentStoreSave)
        #expect(error?.localizedDescription.contains("NamedStore.save() has added a node of") == true)
        #expect(store.cacheNodes().isEmpty)
        store.stranger = nil
        try context.save()
        #expect(store.file == ["a": "1"])
        // => A node of an object that there is, in the place of the other one, is as good as that.
        store.stranger = "a"
        _ = entry("c", "2")
        try context.save()
    }

    @Test("refuses two objects that are identified by the same, also if both have got permanent IDs before")
    func twice() throws {
        let both = [entry("a"), entry("a")]
        try context.obtainPermanentIDs(for: both)
        #expect { try context.save() } throws: { "\($0)".contains("newReferenceObject(for:)") }
        context.delete(both[0])
        try context.save()
        #expect(store.file.count == 1)
    }

    @Test("or does not, and notes something in its metadata, is not saved once more for that")
    func metadata() throws {
        _ = entry("a")
        try context.save()
        let saves = store.saves
        try context.save()
        context.delete(entry("b"))
        try context.save()
        #expect(store.saves == saves)
    }
}

/// An incremental store with one entry, whose save waits.
private final class WaitingStore: NSIncrementalStore {
    static let storeType = "Waiting"
    override var type: String { Self.storeType }
    let (entered, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    private let written = Lock("old")
    var isWaiting = false
    var text: String { written.withLock { $0 } }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let save = request as? NSSaveChangesRequest else {
            guard let entity = (request as? NSFetchRequest<any NSFetchRequestResult>)?.entity else { return [Any]() }
            return [newObjectID(for: entity, referenceObject: "only")]
        }
        if isWaiting {
            entered.signal()
            mayGoOn.wait()
        }
        for object in save.updatedObjects ?? [] { written.withLock { $0 = object.value(forKey: "text") as? String ?? "" } }
        return [Any]()
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        NSIncrementalStoreNode(objectID: objectID, withValues: ["text": text], version: 1)
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: "only") }
    }
}

@Suite("An incremental store that is saved")
struct IncrementalSavingTests {
    private let coordinator: NSPersistentStoreCoordinator
    private let store: WaitingStore

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(WaitingStore.self, forStoreType: WaitingStore.storeType)
        coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel(NSEntityDescription("Entry", attribute("text")))
        )
        let url = URL(fileURLWithPath: "/waiting/\(UUID().uuidString)")
        let added = try coordinator.addPersistentStore(ofType: WaitingStore.storeType, configurationName: nil, at: url)
        store = try #require(added as? WaitingStore)
    }

    private func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func write(_ text: String, _ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let entry = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry")).first)
            _ = entry.value(forKey: "text")
            entry.setValue(text, forKey: "text")
        }
    }

    @Test("by two contexts at once tells the second one of a conflict")
    func conflict() throws {
        let contexts = [context(), context()]
        try write("first", contexts[0])
        try write("second", contexts[1])
        store.isWaiting = true
        let (done, codes) = (DispatchSemaphore(value: 0), Lock([0, 0]))
        func save(_ index: Int) {
            contexts[index].perform {
                do { try contexts[index].save() } catch {
                    let code = (error as? CocoaError)?.code.rawValue ?? -1
                    codes.withLock { $0[index] = code }
                }
                done.signal()
            }
        }
        save(0)
        store.entered.wait()
        save(1)
        // Twice, for the second one would wait as well if it got through.
        for _ in 0..<2 { store.mayGoOn.signal() }
        for _ in 0..<2 { done.wait() }
        #expect(codes.withLock { $0 } == [0, 133020])
        #expect(store.text == "first")
    }

    @Test("refuses an ID for a new object that another one has, also if nobody has that at hand any more", arguments: [true, false])
    func existing(isAtHand: Bool) throws {
        let context = context()
        try write("old", context)
        if !isAtHand { context.performAndWait { context.reset() } }
        context.performAndWait {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
            #expect { try context.save() } throws: { "\($0)".contains("obtainPermanentIDs(for:)") }
        }
    }
}

/// Stores that save the context that they are shown, while they are asked to write.
private final class NestingStore: NSIncrementalStore {
    static let storeType = "Nesting"
    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }
    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        try context?.save()
        return [Any]()
    }
    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }
}

private final class NestingDocument: NSAtomicStore {
    static let storeType = "NestingDocument"
    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }
    override func save() throws {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        Tag(context: context).label = "more"
        try context.save()
    }
}

@Suite("A store that saves while it is asked to save")
struct NestedSaveTests {
    private static func save(_ storeClass: AnyClass, _ type: String) throws {
        NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: URL(fileURLWithPath: "/nesting"))
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        Tag(context: context).label = "first"
        try context.save()
    }

    @Test("stops the program with the cure, where it would wait for itself for ever")
    func incremental() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try NestedSaveTests.save(NestingStore.self, NestingStore.storeType)
        }
        #expect(complaint(result).contains("NestingStore saves a context from a hook"))
    }

    @Test("stops the program with the cure, where its nodes would be those of two saves")
    func atomic() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try NestedSaveTests.save(NestingDocument.self, NestingDocument.storeType)
        }
        #expect(complaint(result).contains("NestingDocument saves a context from a hook"))
    }
}
