import Foundation
import Testing

@testable import CoreData

/// A request that only one kind of store knows.
private final class Search: NSPersistentStoreRequest {
    let text: String
    init(_ text: String) { self.text = text }
}

private final class Found: NSPersistentStoreResult {
    let texts: [String]
    init(_ texts: [String]) { self.texts = texts }
}

/// An incremental store that searches, and changes and deletes without objects.
private final class SearchStore: NSIncrementalStore {
    static let storeType = "Search"
    override var type: String { Self.storeType }
    let entries = Lock(["a": "apple", "b": "bread", "c": "cake"])
    let reads = Lock(0)
    private(set) weak var asker: NSManagedObjectContext?

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        asker = context
        switch request {
        case let search as Search:
            if search.text.isEmpty { throw CocoaError(.userCancelled) }
            let texts = entries.withLock { $0.values.filter { $0.contains(search.text) }.sorted() }
            return search.text == "number" ? 7 : Found(texts)
        case let update as NSBatchUpdateRequest:
            let text = update.propertiesToUpdate?["text"] as? String ?? ""
            let changed = entries.withLock { entries in
                for key in entries.keys { entries[key] = text }
                return Array(entries.values)
            }
            return Found(changed)
        case is NSBatchDeleteRequest:
            let texts = entries.withLock { entries in
                defer { entries = [:] }
                return entries.values.sorted()
            }
            return Found(texts)
        case let insert as NSBatchInsertRequest:
            let texts = (insert.objectsToInsert ?? []).compactMap { $0["text"] as? String }
            entries.withLock { for text in texts { $0[text] = text } }
            return Found(texts)
        case let fetch as NSFetchRequest<any NSFetchRequestResult>:
            guard let entity = fetch.entity else { return [Any]() }
            return entries.withLock { $0.keys.sorted() }.map { newObjectID(for: entity, referenceObject: $0) }
        default: return [Any]()
        }
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        reads.withLock { $0 += 1 }
        guard let text = entries.withLock({ $0["\(referenceObject(for: objectID))"] }) else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: ["text": text], version: 1)
    }
}

@Suite("A request that a program's own store knows")
struct OwnRequestTests {
    private let coordinator: NSPersistentStoreCoordinator
    private let context: NSManagedObjectContext
    private let store: SearchStore

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(SearchStore.self, forStoreType: SearchStore.storeType)
        let model = NSManagedObjectModel(NSEntityDescription("Entry", attribute("text")))
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try Self.add(to: coordinator)
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    private static func add(to coordinator: NSPersistentStoreCoordinator) throws -> SearchStore {
        let url = URL(fileURLWithPath: "/search/\(UUID().uuidString)")
        let added = try coordinator.addPersistentStore(ofType: SearchStore.storeType, configurationName: nil, at: url)
        return try #require(added as? SearchStore)
    }

    private func code(_ body: () throws -> Any) -> Int? {
        do { _ = try body() } catch { return (error as? CocoaError)?.code.rawValue }
        return nil
    }

    @Test("reaches it with the context that asks, also from a child, and its answer comes back")
    func search() throws {
        #expect((try context.execute(Search("a")) as? Found)?.texts == ["apple", "bread", "cake"])
        #expect(store.asker === context)
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        #expect((try child.execute(Search("br")) as? Found)?.texts == ["bread"])
        #expect(store.asker === child)
        #expect((try coordinator.execute(Search("ca"), with: context) as? Found)?.texts == ["cake"])
        #expect(code { try context.execute(Search("")) } == CocoaError.userCancelled.rawValue)
    }

    @Test("gives a context a result, and the coordinator whatever the class has returned")
    func answers() throws {
        #expect(try coordinator.execute(Search("number"), with: context) as? Int == 7)
        #expect(code { try context.execute(Search("number")) } == CocoaError.Code.persistentStoreOperation.rawValue)
    }

    @Test("goes to one store, which it names where there are several")
    func several() throws {
        let other = try Self.add(to: coordinator)
        other.entries.withLock { $0 = ["d": "date"] }
        #expect(code { try context.execute(Search("a")) } == 134_060)
        let search = Search("a")
        search.affectedStores = [other]
        #expect((try context.execute(search) as? Found)?.texts == ["date"])
        try coordinator.remove(other)
        #expect(code { try context.execute(search) } == CocoaError.Code.persistentStoreOperation.rawValue)
        let memory = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect((try context.execute(Search("ap")) as? Found)?.texts == ["apple"])
        search.affectedStores = [memory]
        #expect(code { try context.execute(search) } == 134_091)
        try coordinator.remove(store)
        #expect(code { try context.execute(Search("a")) } == 134_091)
    }

    @Test("may be one for many rows at once, after which these are read anew")
    func batches() throws {
        let entry = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry")).first)
        #expect(entry.value(forKey: "text") as? String == "apple")
        let update = NSBatchUpdateRequest(entityName: "Entry")
        update.propertiesToUpdate = ["text": "new"]
        #expect((try context.execute(update) as? Found)?.texts == ["new", "new", "new"])
        context.refresh(entry, mergeChanges: false)
        #expect(entry.value(forKey: "text") as? String == "new")
        let insert = NSBatchInsertRequest(entityName: "Entry", objects: [["text": "x"]])
        #expect((try coordinator.execute(insert, with: context) as? Found)?.texts == ["x"])
        let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Entry"))
        #expect((try context.execute(delete) as? Found)?.texts.count == 4)
        context.reset()
        #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry")).isEmpty)
    }

    @Test("for many rows, which another store holds too, is refused unless it names one")
    func batchesOfSeveral() throws {
        let memory = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let update = NSBatchUpdateRequest(entityName: "Entry")
        update.propertiesToUpdate = ["text": "new"]
        #expect(code { try context.execute(update) } == 134_060)
        #expect(store.entries.withLock { $0["a"] } == "apple")
        update.affectedStores = [memory]
        #expect(try context.execute(update) is NSBatchUpdateResult)
        update.affectedStores = [store]
        #expect(try context.execute(update) is Found)
    }

    // * Of a database, a class that knows batch deletes, and a document, each has entries.
    // => What is named by its ID is in one of them, which alone is asked; a document cannot.
    @Test("that names objects by their IDs goes to the stores that these are in")
    func namedObjects() throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
        let found = try context.fetch(request)
        let others = try [NSInMemoryStoreType, NSXMLStoreType].map { type in
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).xml")
            let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: type == NSXMLStoreType ? url : nil)
            let entry = NSManagedObject(entity: found[0].entity, insertInto: context)
            context.assign(entry, to: store)
            return entry
        }
        let temporary = others.map(\.objectID)
        try context.save()
        defer { for url in coordinator.persistentStores.compactMap(\.url) { try? FileManager.default.removeItem(at: url) } }
        func delete(_ ids: [NSManagedObjectID]) throws -> NSPersistentStoreResult {
            try context.execute(NSBatchDeleteRequest(objectIDs: ids))
        }

        #expect(try delete([others[0].objectID]) is NSBatchDeleteResult)
        #expect(code { try delete([others[1].objectID]) } == 134_091)
        #expect(code { try delete([found[0].objectID, others[1].objectID]) } == 134_060)
        #expect(try Set(context.fetch(request)) == Set(found + [others[1]]))
        #expect(try delete([temporary[0]]) is NSBatchDeleteResult)
        #expect(try delete([found[0].objectID]) is Found)
        #expect(try context.fetch(request) == [others[1]])
        let elsewhere = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        elsewhere.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
        let strange = NSManagedObject(entity: found[0].entity, insertInto: elsewhere)
        #expect(try delete([strange.objectID]) is NSBatchDeleteResult)
    }

    // * Another coordinator has a store that is its first as well, and a request given here names that one.
    // => An error: it is not done to the store here that has the same number.
    @Test("that names a store of another coordinator is refused, and leaves the store here as it is")
    func strangers() throws {
        let strange = try Self.add(to: NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel))
        let update = NSBatchUpdateRequest(entityName: "Entry")
        update.propertiesToUpdate = ["text": "new"]
        let requests = [
            Search("a"), update, NSBatchInsertRequest(entityName: "Entry", objects: [["text": "x"]]),
            NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Entry")),
        ]
        for request in requests {
            request.affectedStores = [strange]
            #expect(code { try context.execute(request) } == CocoaError.Code.persistentStoreOperation.rawValue)
        }
        #expect(store.asker == nil && store.entries.withLock { $0 } == ["a": "apple", "b": "bread", "c": "cake"])
    }

    @Test("is no save, which is the context's to ask for")
    func saves() {
        let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
        #expect(code { try context.execute(request) } == 134_060)
    }
}
