import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Knows whether threads are in it at once.
private final class Room: Sendable {
    private let lock = NSRecursiveLock()
    private let meetings = Lock(0)
    var meetingCount: Int { meetings.withLock { $0 } }

    func visited<Result>(_ body: () throws -> Result) rethrows -> Result {
        let isAlone = lock.try()
        if !isAlone { meetings.withLock { $0 += 1 } }
        defer { if isAlone { lock.unlock() } }
        return try body()
    }
}

/// An incremental store of people that looks up books in the other stores whenever it is asked, as one that completes what another has.
private final class AskingStore: NSIncrementalStore {
    static let storeType = "Asking"
    private var names: [Int: String] = [:]
    var others: [NSPersistentStore] = []
    /// One for all stores of a coordinator.
    var room = Room()

    private func number(_ id: NSManagedObjectID) -> Int { referenceObject(for: id) as? Int ?? 0 }

    private func ask(_ context: NSManagedObjectContext?) throws {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.affectedStores = others
        for book in try context?.fetch(request) ?? [] { _ = book.title }
    }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        try room.visited { try answer(request, context) }
    }

    private func answer(_ request: NSPersistentStoreRequest, _ context: NSManagedObjectContext?) throws -> [Any] {
        if let save = request as? NSSaveChangesRequest {
            for object in save.insertedObjects ?? [] { names[number(object.objectID)] = object.value(forKey: "name") as? String }
            return [Any]()
        }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity, entity.name == "Person" else {
            return [Any]()
        }
        try ask(context)
        return names.keys.sorted().map { newObjectID(for: entity, referenceObject: $0) }
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        try room.visited {
            try ask(context)
            return NSIncrementalStoreNode(objectID: objectID, withValues: ["name": names[number(objectID)] ?? ""], version: 1)
        }
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { relationship.isToMany ? [NSManagedObjectID]() as Any : NSNull() }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        let last = names.count
        for index in array.indices { names[last + index + 1] = "" }
        return array.indices.map { newObjectID(for: array[$0].entity, referenceObject: last + $0 + 1) }
    }
}

/// One that keeps its coordinator from its superclass.
private final class SilentStore: NSIncrementalStore {
    static let storeType = "Silent"

    override init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?,
        configurationName name: String?,
        at url: URL,
        options: [AnyHashable: Any]? = nil
    ) { super.init(persistentStoreCoordinator: nil, configurationName: name, at: url, options: options) }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }
}

@Suite("The hooks of several stores")
struct HookReadingTests {
    private let folder: TemporaryFolder
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    /// Those that take books.
    private let shelves: [NSPersistentStore]
    private let asking: [AskingStore]

    init() throws {
        folder = try TemporaryFolder()
        NSPersistentStoreCoordinator.registerStoreClass(AskingStore.self, forStoreType: AskingStore.storeType)
        let document = try coordinator.addPersistentStore(
            ofType: NSBinaryStoreType,
            configurationName: nil,
            at: folder.url.appendingPathComponent("books")
        )
        shelves = [document, try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)]
        asking = try (0..<2).map { [coordinator] _ in
            try #require(coordinator.addPersistentStore(ofType: AskingStore.storeType, configurationName: nil, at: nil) as? AskingStore)
        }
        for (store, other) in zip(asking, asking.reversed()) { (store.others, store.room) = (shelves + [other], asking[0].room) }
    }

    /// Saves in every store at once.
    private func save(times: Int) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for _ in 0..<times {
            try context.performAndWait {
                for store in shelves {
                    let book = Book(context: context)
                    book.title = "a book"
                    context.assign(book, to: store)
                }
                for store in asking {
                    let person = Person(context: context)
                    person.name = "somebody"
                    context.assign(person, to: store)
                }
                try context.save()
                context.reset()
            }
        }
    }

    private func read(_ store: AskingStore, times: Int) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.affectedStores = [store]
        for _ in 0..<times {
            try context.performAndWait {
                context.reset()
                for person in try context.fetch(request).suffix(3) { #expect(person.name == "somebody" || person.name == "") }
            }
        }
    }

    // * Each asks the documents, the memory and the other one, whatever it is asked; others save in all of them.
    @Test("may read the other stores of the coordinator, while others save in all of them")
    func readOthers() async throws {
        let done = DispatchGroup()
        let failures = Lock<[String]>([])
        @Sendable func run(_ body: @escaping @Sendable () throws -> Void) {
            onNewThread(done) { do { try body() } catch { failures.withLock { $0.append("\(error)") } } }
        }
        let times = 40
        // Sendable: the test only hands the stores on.
        nonisolated(unsafe) let test = self
        for _ in 0..<2 { run { try test.save(times: times) } }
        for index in 0..<2 { run { try test.read(test.asking[index], times: times) } }
        await Watchdog.wait(for: done, seconds: 50) { "The hooks and the saves wait for each other." }
        #expect(failures.withLock { $0 } == [])
        #expect(asking[0].room.meetingCount == 0)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        #expect(try context.fetch(NSFetchRequest<Book>(entityName: "Book")).count == 2 * 2 * times)
        #expect(try context.fetch(NSFetchRequest<Person>(entityName: "Person")).count == 2 * 2 * times)
    }

    @Test("have one turn, whatever the initialiser of a class hands on")
    func initialiser() throws {
        NSPersistentStoreCoordinator.registerStoreClass(SilentStore.self, forStoreType: SilentStore.storeType)
        let store = try coordinator.addPersistentStore(ofType: SilentStore.storeType, configurationName: nil, at: nil)
        #expect(store.hooks === asking[0].hooks && store.hooks === shelves[0].hooks)
    }
}
