import Foundation
import TestSupport
import Testing

@testable import CoreData

/// An atomic store with the nodes that a test wants.
private final class GivenStore: NSAtomicStore {
    static let storeType = "Given"
    // Tests of the suite run one at a time.
    nonisolated(unsafe) static var nodes: (GivenStore) -> [NSAtomicStoreCacheNode] = { _ in [] }
    nonisolated(unsafe) static var isFailing = false
    struct Refused: Error {}
    override var type: String { Self.storeType }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }
    override func load() throws { addCacheNodes(Set(Self.nodes(self))) }
    override func save() throws { if Self.isFailing { throw Refused() } }

    override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        guard let known = node.value(forKey: "chapters") as? NSMutableOrderedSet else {
            return super.updateCacheNode(node, from: managedObject)
        }
        known.removeAllObjects()
    }

    func node(_ entity: String, _ reference: Any, _ values: [String: Any] = [:]) -> NSAtomicStoreCacheNode {
        let entity = persistentStoreCoordinator!.managedObjectModel.entitiesByName[entity]!
        let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: reference))
        for (key, value) in values { node.setValue(value, forKey: key) }
        return node
    }
}

@Suite("What stores of a program's own give", .serialized)
struct GivenValuesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        NSPersistentStoreCoordinator.registerStoreClass(GivenStore.self, forStoreType: GivenStore.storeType)
        GivenStore.isFailing = false
    }

    private func open(_ nodes: @escaping (GivenStore) -> [NSAtomicStoreCacheNode]) throws -> NSManagedObjectContext {
        GivenStore.nodes = nodes
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try coordinator.addPersistentStore(ofType: GivenStore.storeType, configurationName: nil, at: folder.file("Given"))
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func refused(_ nodes: @escaping (GivenStore) -> [NSAtomicStoreCacheNode], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(sourceLocation: sourceLocation) {
            _ = try open(nodes)
        } throws: { error in
            let error = error as? CocoaError
            return error?.code == .persistentStoreOpen && error?.localizedDescription.contains("GivenStore.load()") == true
        }
    }

    @Test("is refused where a relationship leads to an object of another entity")
    func strangers() {
        refused { [$0.node("Book", 1, ["title": "b", "author": $0.node("Tag", 2)]), $0.node("Tag", 2), $0.node("Author", 2)] }
        refused { store in
            let author = store.node("Author", 1)
            return [author, store.node("Book", 2, ["title": "b", "tags": NSSet(object: author)])]
        }
    }

    @Test(
        "is refused where a number does not fit",
        arguments: [70000 as NSNumber, 1.5 as NSNumber, NSNumber(value: UInt64.max), NSNumber(value: Double.nan), NSNumber(value: 1e30)]
    )
    func numbers(_ number: NSNumber) { refused { [$0.node("Person", 1, ["age": number])] } }

    @Test("is taken where a number is the largest that fits")
    func largest() throws {
        let context = try open { [$0.node("Person", 1, ["age": Int(Int16.max)])] }
        #expect(try context.all(Person.self).first?.value(forKey: "age") as? Int == Int(Int16.max))
    }

    @Test("is nil where an optional is")
    func optionals() throws {
        let context = try open { [$0.node("Person", 1, ["name": (nil as String?) as Any, "age": Optional(7) as Any])] }
        let person = try #require(try context.all(Person.self).first)
        #expect(person.name == nil && person.age == 7)
    }

    @Test("is as it was after a save that failed, though the class changed it in place")
    func mutable() throws {
        let context = try open { store in
            let chapter = store.node("Chapter", 1, ["heading": "c"])
            let book = store.node("Book", 2, ["title": "b", "chapters": NSMutableOrderedSet(object: chapter)])
            chapter.setValue(book, forKey: "book")
            return [chapter, book]
        }
        let book: Book = try #require(try context.all(Book.self).first)
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? GivenStore)
        let node = try #require(store.cacheNode(for: book.objectID))
        book.title = "changed"
        GivenStore.isFailing = true
        #expect(throws: GivenStore.Refused.self) { try context.save() }
        #expect((node.value(forKey: "chapters") as? NSOrderedSet)?.count == 1)
    }

    @Test("a document keeps the decimal of the largest magnitude", arguments: [NSBinaryStoreType, NSXMLStoreType, NSSQLiteStoreType])
    func decimals(_ type: String) throws {
        func open() throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(
                managedObjectModel: NSManagedObjectModel(NSEntityDescription("E", attribute("number", .decimal)))
            )
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("Decimals"))
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        let context = try open()
        for number in [Decimal.greatestFiniteMagnitude, -Decimal.greatestFiniteMagnitude, 10.11] {
            NSEntityDescription.insertNewObject(forEntityName: "E", into: context).setValue(number, forKey: "number")
        }
        try context.save()
        let coordinator = try #require(context.persistentStoreCoordinator)
        try coordinator.remove(coordinator.persistentStores[0])
        let found = try open().fetch(NSFetchRequest<NSManagedObject>(entityName: "E"))
        let numbers = found.compactMap { $0.value(forKey: "number") as? Decimal }
        #expect(numbers.count == 3 && !numbers.contains(where: \.isNaN))
        #expect(numbers.contains { $0 > Decimal(string: "1e160") ?? 0 })
    }

    @Test("metadata with a date at no time are refused, and the document stays as it was", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func metadata(_ type: String) throws {
        func open() throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
            let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("Metadata"))
            return (coordinator, store)
        }
        let (coordinator, store) = try open()
        store.metadata["when"] = Date(timeIntervalSinceReferenceDate: .infinity)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        #expect(throws: CocoaError.self) { try context.save() }
        try coordinator.remove(store)
        #expect(try open().1.metadata["when"] == nil)
    }

    @Test("a directory is no document, which the error says", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func directory(_ type: String) throws {
        let url = folder.file("Directory")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        #expect {
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        } throws: { ($0 as? CocoaError)?.localizedDescription.contains(url.path) == true }
    }
}
