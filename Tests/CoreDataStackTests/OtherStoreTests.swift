import CoreData
import CoreDataStack
import Foundation
import TestSupport
import Testing

/// A stack on a store that is no SQLite file, as its description says.
@Suite("A stack on a store of any type", .timeLimit(.minutes(5)))
struct OtherStoreTests {
    enum Kind: CaseIterable, Sendable {
        case binary, xml, service, database, memory, databaseInMemory

        func description(in folder: TemporaryFolder) -> NSPersistentStoreDescription {
            let description = isInMemory ? NSPersistentStoreDescription() : NSPersistentStoreDescription(url: folder.file("a b/ü/Notes"))
            switch self {
            case .binary: description.type = NSBinaryStoreType
            case .xml: description.type = NSXMLStoreType
            case .service:
                NSPersistentStoreCoordinator.registerStoreClass(NoteService.self, forStoreType: NoteService.storeType)
                description.type = NoteService.storeType
            case .memory: description.type = NSInMemoryStoreType
            case .database, .databaseInMemory: break
            }
            return description
        }

        var isInMemory: Bool { self == .memory || self == .databaseInMemory }

        static let documents: [Kind] = [.binary, .xml, .service]
    }

    private func stack(_ kind: Kind, in folder: TemporaryFolder) async throws -> CoreDataStack {
        try await CoreDataStack.constructStack(model: NoteModel.make(), storeDescription: kind.description(in: folder))
    }

    @Test("takes what a worker saves to the store, and finds it again", arguments: Kind.allCases)
    func saving(_ kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let stack = try await stack(kind, in: folder)
        let worker = stack.newChildContext()
        try await worker.perform {
            worker.insertNote("first", 1).folder = Folder(context: worker)
            worker.insertNote("second", 2)
            try worker.save()
        }
        try await stack.flush()
        try await worker.perform {
            try #require(try worker.note("first")).number = 3
            worker.delete(try #require(try worker.note("second")))
        }
        try await worker.saveToStore()
        #expect(try await stack.mainQueueContext.fetchedTexts() == ["first": 3])
        if kind.isInMemory { return }
        try await stack.close()
        let again = try await self.stack(kind, in: folder)
        try await again.mainQueueContext.perform {
            let notes = try again.mainQueueContext.fetch(NSFetchRequest<Note>())
            #expect(notes.map(\.text) == ["first"] && notes.map(\.number) == [3] && notes.first?.folder?.notes.count == 1)
        }
    }

    @Test("has in main what a batch context saves", arguments: Kind.allCases)
    func batch(_ kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let stack = try await stack(kind, in: folder)
        let main = stack.mainQueueContext
        await main.perform { _ = main.insertNote("of main", 1) }
        try await main.saveToStore()
        let batch = try await stack.newBatchOperationContext()
        try await batch.perform {
            batch.insertNote("of the batch", 2)
            try #require(try batch.note("of main")).number = 5
            try batch.save()
        }
        await stack.privateQueueContext.perform(schedule: .enqueued) {}
        await main.perform(schedule: .enqueued) {}
        #expect(try await main.fetchedTexts() == ["of main": 5, "of the batch": 2])
        // Main goes on with what it has now.
        try await main.perform { try #require(try main.note("of main")).number += 1 }
        try await main.saveToStore()
        #expect(try await stack.privateQueueContext.fetchedTexts() == ["of main": 6, "of the batch": 2])
    }

    @Test("that cannot be emptied refuses a reset, and goes on", arguments: Kind.documents)
    func refusedReset(_ kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let stack = try await stack(kind, in: folder)
        let worker = stack.newChildContext()
        await worker.perform { _ = worker.insertNote("kept", 1) }
        await cocoaError(134070) { try await stack.resetStore() }
        try await worker.saveToStore()
        #expect(try await stack.mainQueueContext.fetchedTexts() == ["kept": 1])
    }

    @Test("is reset where that is a database", arguments: [Kind.database, .memory, .databaseInMemory])
    func reset(_ kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let stack = try await stack(kind, in: folder)
        let main = stack.mainQueueContext
        await main.perform { _ = main.insertNote("gone", 1) }
        try await main.saveToStore()
        try await stack.resetStore()
        #expect(try await main.fetchedTexts().isEmpty)
        await main.perform { _ = main.insertNote("new", 2) }
        try await main.saveToStore()
        #expect(try await main.fetchedTexts() == ["new": 2])
    }

    @Test("holds what a configuration names")
    func configuration() async throws {
        let (folder, model) = (try TemporaryFolder(), NoteModel.make())
        model.setEntities(model.entities, forConfigurationName: "All")
        model.setEntities(model.entities.filter { $0.name == "Folder" }, forConfigurationName: "Folders")
        let description = Kind.database.description(in: folder)
        description.configuration = "Nothing"
        await cocoaError(134080) { _ = try await CoreDataStack.constructStack(model: model, storeDescription: description) }
        description.configuration = "All"
        let stack = try await CoreDataStack.constructStack(model: model, storeDescription: description)
        let batch = try await stack.newBatchOperationContext()
        #expect(stack.privateQueueContext.persistentStoreCoordinator?.persistentStores.first?.configurationName == "All")
        #expect(batch.persistentStoreCoordinator?.persistentStores.first?.configurationName == "All")
    }

    @Test("is given to a callback, or why there is none")
    func callback() async throws {
        let folder = try TemporaryFolder()
        for type in [NSBinaryStoreType, "Unknown"] {
            let description = Kind.binary.description(in: folder)
            description.type = type
            let result = await withCheckedContinuation { continuation in
                CoreDataStack.constructStack(model: NoteModel.make(), storeDescription: description) { continuation.resume(returning: $0) }
            }
            switch result {
            case .success: #expect(type == NSBinaryStoreType)
            case .failure(let error): #expect(type == "Unknown" && (error as? CocoaError)?.errorCode == 134000)
            }
        }
    }
}

/// A store of the program's own: what would be a service on another machine.
private final class NoteService: NSIncrementalStore {
    static let storeType = "NoteService"
    override var type: String { Self.storeType }

    private struct Entry {
        let entity: String
        let values: [String: Any]
        let ends: [String: [String]]
    }

    /// By the URL of the service.
    // The lock orders access.
    nonisolated(unsafe) private static var entries: [URL: [String: Entry]] = [:]
    private static let lock = NSLock()

    private var entries: [String: Entry] {
        get { Self.lock.withLock { Self.entries[url!, default: [:]] } }
        set { Self.lock.withLock { Self.entries[url!] = newValue } }
    }

    override func loadMetadata() throws {
        let place = url!.path.utf8.map { String($0, radix: 16) }.joined()
        metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: place]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let request = request as? NSSaveChangesRequest {
            for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
                entries[reference(object.objectID)] = entry(of: object)
            }
            for object in request.deletedObjects ?? [] { entries[reference(object.objectID)] = nil }
            return []
        }
        let request = request as! NSFetchRequest<any NSFetchRequestResult>
        let all = entries.filter { $0.value.entity == request.entity?.name }.keys.sorted()
        let objects = all.map { context!.object(with: newObjectID(for: request.entity!, referenceObject: $0)) }
        return objects.filter { request.predicate?.evaluate(with: $0) ?? true }
    }

    private func reference(_ id: NSManagedObjectID) -> String { referenceObject(for: id) as! String }

    private func entry(of object: NSManagedObject) -> Entry {
        let ends = object.entity.relationshipsByName.keys.map { ($0, object.objectIDs(forRelationshipNamed: $0).map(reference)) }
        return Entry(
            entity: object.entity.name!,
            values: object.dictionaryWithValues(forKeys: Array(object.entity.attributesByName.keys)),
            ends: Dictionary(uniqueKeysWithValues: ends)
        )
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        guard let entry = entries[reference(objectID)] else { throw CocoaError(.managedObjectReferentialIntegrity) }
        return NSIncrementalStoreNode(objectID: objectID, withValues: entry.values, version: 1)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let ends = entries[reference(objectID)]?.ends[relationship.name] ?? []
        let ids = ends.map { newObjectID(for: relationship.destinationEntity!, referenceObject: $0) }
        return relationship.isToMany ? ids : ids.first ?? NSNull()
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }
}
