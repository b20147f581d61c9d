import Foundation
import Testing

@testable import CoreData

/// An incremental store with a plain dictionary, as many are, that counts who is in it at once.
// Sendable: its coordinator calls it once at a time, which is what is tested.
private final class UnlockedStore: NSIncrementalStore, @unchecked Sendable {
    static let storeType = "Unlocked"
    private var names: [Int: String] = [:]
    private let visitors = Lock((now: 0, most: 0))
    var most: Int { visitors.withLock { $0.most } }
    /// What the next fetch of objects does first.
    var whenFetched: (() -> Void)?

    private func visited<Result>(_ body: () throws -> Result) rethrows -> Result {
        visitors.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        defer { visitors.withLock { $0.now -= 1 } }
        // Whoever waits outside has his chance.
        sched_yield()
        return try body()
    }

    private func number(_ id: NSManagedObjectID) -> Int { referenceObject(for: id) as? Int ?? 0 }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        visited {
            if request is NSBatchUpdateRequest { return NSPersistentStoreResult() }
            guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity else {
                let saved = (request as? NSSaveChangesRequest)?.insertedObjects ?? []
                for object in saved { names[number(object.objectID)] = object.value(forKey: "name") as? String }
                return [Any]()
            }
            if fetch.resultType == .countResultType { return names.count }
            if let work = whenFetched {
                whenFetched = nil
                work()
            }
            return names.keys.sorted().map { newObjectID(for: entity, referenceObject: $0) }
        }
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        visited { NSIncrementalStoreNode(objectID: objectID, withValues: ["name": names[number(objectID)] ?? ""], version: 1) }
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        visited { relationship.isToMany ? [NSManagedObjectID]() as Any : NSNull() }
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        visited {
            let last = names.count
            for index in array.indices { names[last + index + 1] = "" }
            return array.indices.map { newObjectID(for: array[$0].entity, referenceObject: last + $0 + 1) }
        }
    }
}

/// Another thread that has the turn to save a store, until it is told to end it.
private final class SavingElsewhere {
    private let isToEnd = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ store: UnlockedStore) throws {
        let hasBegun = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [isToEnd, hasEnded] in
            let turn = try? store.turnToSave()
            hasBegun.signal()
            isToEnd.wait()
            turn?.end()
            hasEnded.signal()
        }
        hasBegun.wait()
    }

    func end() {
        isToEnd.signal()
        hasEnded.wait()
    }
}

@Suite("An incremental store's class", .timeLimit(.minutes(5)))
struct HookOrderTests {
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    private let store: UnlockedStore

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(UnlockedStore.self, forStoreType: UnlockedStore.storeType)
        let added = try coordinator.addPersistentStore(ofType: UnlockedStore.storeType, configurationName: nil, at: nil)
        store = try #require(added as? UnlockedStore)
    }

    private static func work(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<Person>(entityName: "Person")
        for _ in 0..<10 {
            try context.performAndWait {
                Person(context: context).name = "new"
                try context.save()
                context.reset()
                _ = try context.execute(NSBatchUpdateRequest(entityName: "Person"))
                for person in try context.fetch(request).suffix(3) { _ = (person.name, person.boss, person.reports) }
                _ = try context.count(for: request)
            }
        }
    }

    // * Several contexts insert, save, fetch, count and follow relationships.
    @Test("is called once at a time, whoever fetches and saves")
    func alone() throws {
        DispatchQueue.concurrentPerform(iterations: 6) { [coordinator] _ in
            do { try Self.work(coordinator) } catch { Issue.record(error) }
        }
        #expect(store.most == 1)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        #expect(try context.count(for: NSFetchRequest<Person>(entityName: "Person")) == 60)
    }

    // * A hook saves into another store of the coordinator while somebody else has the turn there, who may wait for the hook.
    @Test("that saves into another store, which somebody else is saving, is refused and waits for nobody; afterwards it is not")
    func nested() throws {
        let other = try #require(
            coordinator.addPersistentStore(ofType: UnlockedStore.storeType, configurationName: nil, at: nil) as? UnlockedStore
        )
        let inner = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        inner.persistentStoreCoordinator = coordinator
        let person = Person(context: inner)
        person.name = "new"
        inner.assign(person, to: other)
        let turn = try SavingElsewhere(other)
        var refusal: (any Error)?
        store.whenFetched = { do { try inner.save() } catch { refusal = error } }
        try Self.fetch(coordinator, store)
        #expect((refusal as? CocoaError)?.code == .persistentStoreTimeout)
        #expect(((refusal as? CocoaError)?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]) == [other])
        #expect(inner.hasChanges)
        turn.end()
        store.whenFetched = { do { try inner.save() } catch { Issue.record(error) } }
        try Self.fetch(coordinator, store)
        #expect(!inner.hasChanges)
        #expect(try inner.count(for: NSFetchRequest<Person>(entityName: "Person")) == 1)
    }

    private static func fetch(_ coordinator: NSPersistentStoreCoordinator, _ store: NSPersistentStore) throws {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.affectedStores = [store]
        _ = try context.fetch(request)
    }
}
