import Foundation
import TestSupport
import Testing

@testable import CoreData

/// An incremental store with one tag in it, which does one thing that it must not.
private final class FaultyStore: NSIncrementalStore {
    enum Fault: String, CaseIterable {
        case noUUID, wrongType, throwingFetch, noArray, tooMany, foreignID, wrongEntity, wrongCount, unknownKey, wrongValue, otherNode,
            throwingSave, unknownRequest
        case tooFewIDs, sameIDs, temporaryIDs, noIDs, fractionCount, largeCount, wrongColumn, largeFloat, sameObject
    }
    static let storeType = "Faulty"
    override var type: String { Self.storeType }
    private var fault: Fault { Fault(rawValue: options?["fault"] as? String ?? "") ?? .throwingSave }
    private static let stranger = LibraryModel.make()

    struct Thrown: Error {}

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: fault == .wrongType ? "Other" : Self.storeType, NSStoreUUIDKey: "F"]
        if fault == .noUUID { metadata[NSStoreUUIDKey] = nil }
    }

    private func entity(_ name: String) -> NSEntityDescription { persistentStoreCoordinator!.managedObjectModel.entitiesByName[name]! }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if request is NSBatchUpdateRequest { return try super.execute(request, with: context) }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult> else {
            if fault == .throwingSave { throw Thrown() }
            return [Any]()
        }
        if fault == .throwingFetch { throw Thrown() }
        if fetch.resultType == .dictionaryResultType { return [["label": (fault == .wrongColumn ? 7 : nil) as Any]] }
        if fetch.resultType == .countResultType {
            return switch fault {
            case .wrongCount: -1
            case .fractionCount: [1.5]
            case .largeCount: 3
            default: 1
            }
        }
        switch fault {
        case .noArray: return "one"
        case .tooMany: return (0..<3).map { newObjectID(for: entity("Tag"), referenceObject: $0) }
        case .sameObject: return (0..<2).map { _ in newObjectID(for: entity("Tag"), referenceObject: 1) }
        case .foreignID: return [NSManagedObject(entity: fetch.entity!, insertInto: nil).objectID]
        case .wrongEntity: return [newObjectID(for: entity("Book"), referenceObject: 1)]
        default: return [newObjectID(for: entity(fetch.entityName ?? "Tag"), referenceObject: 1)]
        }
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        switch fault {
        case .unknownKey: NSIncrementalStoreNode(objectID: objectID, withValues: ["colour": "red"], version: 1)
        case .wrongValue: NSIncrementalStoreNode(objectID: objectID, withValues: ["label": 7], version: 1)
        case .largeFloat: NSIncrementalStoreNode(objectID: objectID, withValues: ["weight": 1e300, "author": NSNull()], version: 1)
        case .otherNode:
            NSIncrementalStoreNode(objectID: newObjectID(for: entity("Tag"), referenceObject: 2), withValues: [:], version: 1)
        default: NSIncrementalStoreNode(objectID: objectID, withValues: ["label": "x"], version: 1)
        }
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        switch fault {
        case .tooFewIDs: []
        case .sameIDs: array.map { newObjectID(for: $0.entity, referenceObject: "same") }
        case .temporaryIDs: array.map(\.objectID)
        case .noIDs: try super.obtainPermanentIDs(for: array)
        default: array.enumerated().map { newObjectID(for: $1.entity, referenceObject: "new\($0)") }
        }
    }
}

/// An atomic store that is told to fail.
private final class FaultyDocument: NSAtomicStore {
    static let storeType = "FaultyDocument"
    override var type: String { Self.storeType }
    private var fault: String { options?["fault"] as? String ?? "" }
    private(set) var saved: [Set<String>] = []
    var failures = 0

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: "D"] }

    override func load() throws {
        let tag = persistentStoreCoordinator!.managedObjectModel.entitiesByName["Tag"]!
        let node = NSAtomicStoreCacheNode(objectID: objectID(for: tag, withReferenceObject: "t1"))
        node.setValue("old", forKey: "label")
        if fault == "unknownKey" { node.setValue("red", forKey: "colour") }
        if fault == "wrongValue" { node.setValue(Date(), forKey: "label") }
        addCacheNodes([node])
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        switch fault {
        case "sameReference": "t1"
        case "oddReference": Date()
        default: super.newReferenceObject(for: managedObject)
        }
    }

    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        fault == "otherNode" ? NSAtomicStoreCacheNode(objectID: cacheNodes().first!.objectID) : super.newCacheNode(for: managedObject)
    }

    override func save() throws {
        if failures > 0 {
            failures -= 1
            throw FaultyStore.Thrown()
        }
        saved.append(labels)
    }

    var labels: Set<String> { Set(cacheNodes().compactMap { $0.value(forKey: "label") as? String }) }
}

@Suite("A store's class that does what it must not", .serialized)
struct FaultyStoreTests {
    private let folder: TemporaryFolder
    private let coordinator: NSPersistentStoreCoordinator

    init() throws {
        folder = try TemporaryFolder()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        NSPersistentStoreCoordinator.registerStoreClass(FaultyStore.self, forStoreType: FaultyStore.storeType)
        NSPersistentStoreCoordinator.registerStoreClass(FaultyDocument.self, forStoreType: FaultyDocument.storeType)
    }

    private func open(_ type: String, _ fault: String) throws -> NSManagedObjectContext {
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("store"), options: ["fault": fault])
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The text of the error that the store's fault leads to.
    private func failure(_ fault: FaultyStore.Fault) -> String {
        do {
            let context = try open(FaultyStore.storeType, fault.rawValue)
            let request = NSFetchRequest<Tag>(entityName: "Tag")
            request.fetchLimit = 2
            switch fault {
            case .tooFewIDs, .sameIDs, .temporaryIDs, .noIDs, .throwingSave:
                for _ in 0..<2 { _ = Tag(context: context) }
                try context.save()
            case .unknownRequest: _ = try context.execute(NSBatchUpdateRequest(entityName: "Tag"))
            case .wrongCount, .fractionCount, .largeCount: _ = try context.count(for: request)
            case .wrongColumn:
                let request = NSFetchRequest<NSDictionary>(entityName: "Tag")
                (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, ["label"])
                _ = try context.fetch(request)
            case .largeFloat: try #require(try context.all(Book.self).first).fireThrowing()
            case .unknownKey, .wrongValue, .otherNode:
                let tag = try #require(try context.fetch(request).first)
                _ = try context.existingObject(with: tag.objectID)
                try tag.fireThrowing()
            default: _ = try context.fetch(request)
            }
            return "nothing was thrown"
        } catch {
            return error is FaultyStore.Thrown ? "its own" : error.localizedDescription
        }
    }

    @Test("gets an error that names class and method")
    func incrementalErrors() {
        let expected: [FaultyStore.Fault: String] = [
            .noUUID: "FaultyStore.loadMetadata() has not set NSStoreUUID", .wrongType: "FaultyStore.loadMetadata() says",
            .throwingFetch: "its own",
            .noArray: "FaultyStore.execute(_:with:) has returned String", .tooMany: "FaultyStore.execute(_:with:) has returned 3 objects",
            .sameObject: "FaultyStore.execute(_:with:) has returned 0x",
            .foreignID: "FaultyStore.execute(_:with:) has returned", .wrongEntity: "FaultyStore.execute(_:with:) has returned",
            .wrongCount: "FaultyStore.execute(_:with:) has returned -1 for a count",
            .fractionCount: "FaultyStore.execute(_:with:) has returned [1.5] for a count",
            .largeCount: "FaultyStore.execute(_:with:) has returned 3 for a count that is limited to 2",
            .wrongColumn: "FaultyStore.execute(_:with:) has returned Int for Tag.label in a dictionary",
            .largeFloat: "FaultyStore.newValuesForObject(with:with:) has returned Double for Book.weight",
            .unknownKey: "FaultyStore.newValuesForObject(with:with:) has returned a value for \"colour\"",
            .wrongValue: "FaultyStore.newValuesForObject(with:with:) has returned Int for Tag.label",
            .otherNode: "FaultyStore.newValuesForObject(with:with:) has returned the node of",
            .tooFewIDs: "FaultyStore.obtainPermanentIDs(for:) has returned 0 IDs for 2 objects",
            .sameIDs: "FaultyStore.obtainPermanentIDs(for:) has returned the same ID", .throwingSave: "its own",
            .temporaryIDs: "FaultyStore.obtainPermanentIDs(for:) has returned",
            .unknownRequest: "FaultyStore.execute(_:with:) does not know requests of class NSBatchUpdateRequest",
            .noIDs: "FaultyStore does not override obtainPermanentIDs(for:)",
        ]
        for fault in FaultyStore.Fault.allCases {
            let said = failure(fault)
            #expect(said.contains(expected[fault] ?? "?"), "\(fault): \(said)")
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
        }
    }

    @Test("may have nil for a column, though")
    func nilColumn() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Tag")
        (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, ["label"])
        let context = try open(FaultyStore.storeType, "")
        #expect(try context.fetch(request) == [NSDictionary()])
    }

    @Test("leaves an atomic store as it was", arguments: ["sameReference", "oddReference", "otherNode"])
    func atomicErrors(_ fault: String) throws {
        let context = try open(FaultyDocument.storeType, fault)
        let store = try #require(coordinator.persistentStores.first as? FaultyDocument)
        let tag = Tag(context: context)
        tag.label = "new"
        let error = #expect(throws: CocoaError.self) { try context.save() }
        let method = fault == "otherNode" ? "newCacheNode(for:)" : "newReferenceObject(for:)"
        #expect(error?.localizedDescription.contains("FaultyDocument.\(method)") == true, "\(error?.localizedDescription ?? "")")
        #expect(store.labels == ["old"] && store.saved.isEmpty && tag.isInserted)
    }

    @Test("is refused where its nodes do not fit the model", arguments: ["unknownKey", "wrongValue"])
    func nodes(_ fault: String) {
        let error = #expect(throws: CocoaError.self) { try open(FaultyDocument.storeType, fault) }
        #expect(error?.code == .persistentStoreOpen && error?.localizedDescription.contains("FaultyDocument.load()") == true)
        #expect(coordinator.persistentStores.isEmpty)
    }

    // * save() of an atomic store throws. => Nodes and rows are as before, changes unsaved; the next save writes them.
    // * An incremental store of the same coordinator throws after the atomic one was written. => That one is written once more, as it was.
    @Test("takes nothing along in other stores where a save fails in the middle")
    func failingSaves() throws {
        let context = try open(FaultyDocument.storeType, "")
        let document = try #require(coordinator.persistentStores.first as? FaultyDocument)
        let tag = try #require(try context.all(Tag.self).first)
        tag.label = "new"
        document.failures = 1
        #expect(throws: FaultyStore.Thrown.self) { try context.save() }
        #expect(document.labels == ["old"] && tag.hasChanges)

        let file = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("a.sqlite"))
        let other = try coordinator.addPersistentStore(
            ofType: FaultyStore.storeType,
            configurationName: nil,
            at: folder.file("b"),
            options: ["fault": "throwingSave"]
        )
        let (first, second) = (Book(context: context), Tag(context: context))
        first.title = "in SQLite"
        context.assign(first, to: file)
        context.assign(second, to: other)
        #expect(throws: FaultyStore.Thrown.self) { try context.save() }
        #expect(document.labels == ["old"] && document.saved == [["new"], ["old"]])
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.affectedStores = [file]
        request.includesPendingChanges = false
        #expect(try context.count(for: request) == 0)

        context.delete(second)
        try context.save()
        #expect(document.saved.last == ["new"])
        #expect(try context.count(for: request) == 1)
    }

    @Test("cannot be registered for a type that another class has")
    func registration() throws {
        NSPersistentStoreCoordinator.registerStoreClass(FaultyDocument.self, forStoreType: FaultyStore.storeType)
        defer { NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: FaultyStore.storeType) }
        let error = #expect(throws: CocoaError.self) { try open(FaultyStore.storeType, "") }
        #expect(error?.code == .persistentStoreInvalidType)
        #expect(error?.localizedDescription.contains("registerStoreClass(_:forStoreType:)") == true)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSXMLStoreType] != nil)
        NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: FaultyStore.storeType)
        let unknown = #expect(throws: CocoaError.self) { try open(FaultyStore.storeType, "") }
        #expect(unknown?.code == .persistentStoreInvalidType)
    }
}
