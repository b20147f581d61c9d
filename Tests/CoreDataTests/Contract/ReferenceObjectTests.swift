import Foundation
import Testing

@testable import CoreData

/// An incremental store of tags that are identified by their labels.
private final class LabelStore: NSIncrementalStore {
    static let storeType = "Label"
    // Tests of the suite run one at a time.
    nonisolated(unsafe) static var labels: [Any] = []
    nonisolated(unsafe) static var asked: [Any] = []
    override var type: String { Self.storeType }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: url!.lastPathComponent] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            let deleted = (save.deletedObjects ?? []).map { "\(referenceObject(for: $0.objectID))" }
            Self.labels.removeAll { deleted.contains("\($0)") }
            let inserted = (save.insertedObjects ?? []).map { "\(referenceObject(for: $0.objectID))" }
            Self.labels += inserted.filter { label in !Self.labels.contains { "\($0)" == label } }
            return []
        }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity else { return [] }
        return Self.labels.map { newObjectID(for: entity, referenceObject: $0) }
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        let reference = referenceObject(for: objectID)
        Self.asked.append(reference)
        return NSIncrementalStoreNode(objectID: objectID, withValues: ["label": "\(reference)"], version: 1)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { relationship.isToMany ? [] as [Any] : NSNull() }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: $0.value(forKey: "label") ?? "") }
    }
}

@Suite("Reference objects of a program's own stores", .serialized)
struct ReferenceObjectTests {
    init() {
        NSPersistentStoreCoordinator.registerStoreClass(LabelStore.self, forStoreType: LabelStore.storeType)
        (LabelStore.labels, LabelStore.asked) = ([], [])
    }

    private func open(_ identifier: String = UUID().uuidString) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let url = try #require(URL(string: "label://host/\(identifier)"))
        try coordinator.addPersistentStore(ofType: LabelStore.storeType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("are others where they are written otherwise, though they are equivalent")
    func equivalentTexts() throws {
        LabelStore.labels = ["\u{e9}", "e\u{301}", "\u{212b}", "\u{c5}"]
        let context = try open()
        let found = try context.all(Tag.self)
        #expect(Set(found.map(\.objectID)).count == 4)
        #expect(found.compactMap(\.label).map { Array($0.utf8) } == ["\u{e9}", "e\u{301}", "\u{212b}", "\u{c5}"].map { Array($0.utf8) })
    }

    @Test("come back from a URI in a process that has not met them", arguments: ["12345", "\u{301}a", "\u{200d}b", "a/b %", "ü"])
    func uris(_ text: String) throws {
        LabelStore.labels = [text]
        let uri: URL
        do {
            let context = try open()
            uri = try #require(try context.all(Tag.self).first).objectID.uriRepresentation()
        }
        // The last coordinator with the store is gone, and with it what was known of its reference objects.
        LabelStore.asked = []
        let identifier = try #require(uri.host)
        let context = try open(identifier)
        let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
        #expect(id.uriRepresentation() == uri)
        let tag = try #require(try context.existingObject(with: id) as? Tag)
        #expect(tag.label.map { Array($0.utf8) } == Array(text.utf8))
        #expect(LabelStore.asked.first is String)
    }

    @Test("are no fractions, and nothing that is no number")
    func noNumbers() {
        for value in [0.5, Double.infinity, -Double.infinity, Double.nan, Float.infinity] as [Any] {
            #expect(ReferenceObject(value) == nil, "\(value)")
        }
    }

    @Test("that are numbers come back as numbers, however large")
    func numbers() throws {
        let context = try open()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let uuid = try #require(coordinator.persistentStores.first?.identifier)
        for text in ["7", "18446744073709551615"] {
            let uri = try #require(URL(string: "x-coredata://\(uuid)/Tag/p\(text)"))
            let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
            _ = try context.existingObject(with: id)
            #expect("\(try #require(LabelStore.asked.last as? NSNumber))" == text)
        }
    }

    @Test("of an object that is deleted can be those of a new one in the same save")
    func replaced() throws {
        let context = try open()
        let former = Tag(context: context)
        former.label = "a"
        try context.save()
        context.delete(former)
        let new = Tag(context: context)
        new.label = "a"
        try context.save()
        #expect(LabelStore.labels.map { "\($0)" } == ["a"])
        #expect(new.objectID.uriRepresentation().lastPathComponent == "pa")
        #expect(try context.all(Tag.self) == [new])
        let taken = Tag(context: context)
        taken.label = "a"
        #expect(throws: CocoaError.self) { try context.save() }
    }

    // * A store is removed from a coordinator that goes on; the context that had objects of it goes, then the last ID.
    // => What identified them is kept up to then, and not longer. Added once more, the store has the same IDs as long as somebody has one.
    @Test("are kept until nobody can ask for one")
    func keeping() throws {
        LabelStore.labels = ["x", "y"]
        NSPersistentStoreCoordinator.registerStoreClass(LabelStore.self, forStoreType: LabelStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let url = URL(fileURLWithPath: "/\(UUID().uuidString)")
        func add() throws -> NSPersistentStore {
            try coordinator.addPersistentStore(ofType: LabelStore.storeType, configurationName: nil, at: url)
        }
        func ids() throws -> [NSManagedObjectID] {
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return try context.all(Tag.self).map(\.objectID)
        }
        weak let table = try add().references
        var id = try ids().first
        try coordinator.persistentStores.forEach(coordinator.remove)
        #expect(table != nil && id?.uriRepresentation().lastPathComponent == "px")
        _ = try add()
        #expect(try ids().first == id)
        try coordinator.persistentStores.forEach(coordinator.remove)
        #expect(table != nil)
        id = nil
        #expect(table == nil)
        _ = try add()
        #expect(try ids().map { $0.uriRepresentation().lastPathComponent } == ["px", "py"])
    }
}
