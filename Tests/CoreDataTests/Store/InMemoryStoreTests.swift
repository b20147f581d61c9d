import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("The kinds of stores", .serialized)
struct StoreKindTests {
    @Test("that these tests, or those of the contract, run with are all that a coordinator takes")
    func completeness() throws {
        let declared = [NSPersistentStore.StoreType.sqlite, .binary, .inMemory].map(\.rawValue) + ["XML", ""]
        let taken = try declared.filter { type in
            let folder = try TemporaryFolder()
            let coordinator = Stack().coordinator
            return (try? coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.store, options: nil)) != nil
        }
        let known = StoreKind.allCases.map(\.type) + ContractKind.allCases.map(\.type)
        #expect(Set(taken) == Set(known).intersection(declared))
    }

    @Test("are said by the store and by its metadata", arguments: StoreKind.allCases)
    func type(kind: StoreKind) throws {
        let library = try Library(kind)
        #expect(library.store.type == kind.type)
        #expect(library.coordinator.metadata(for: library.store)[NSStoreTypeKey] as? String == kind.type)
        #expect(library.store.url == library.url)
    }

    @Test("evaluate predicates and orders that only Swift can, with limits and unsaved changes", arguments: StoreKind.allCases)
    func blocks(kind: StoreKind) throws {
        let library = try Library(kind)
        for number in 0..<20 { Tag(context: library.context).label = "\(number)" }
        try library.context.save()
        let context = library.newContext()
        Tag(context: context).label = "20"
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        let isEven: @Sendable (Any?, [String: Any]?) -> Bool = { object, _ in
            (object as? Tag)?.label.flatMap { Int($0) }.map { $0.isMultiple(of: 2) } ?? false
        }
        request.predicate = NSPredicate(block: isEven)
        request.sortDescriptors = [
            NSSortDescriptor(key: "label", ascending: false) { left, right in
                switch (Int(left as? String ?? "") ?? 0, Int(right as? String ?? "") ?? 0) {
                case let (left, right) where left < right: .orderedAscending
                case let (left, right) where left > right: .orderedDescending
                default: .orderedSame
                }
            }
        ]
        (request.fetchLimit, request.fetchOffset) = (3, 1)
        #expect(try context.fetch(request).map(\.label) == ["18", "16", "14"])
        (request.fetchLimit, request.fetchOffset) = (0, 0)
        #expect(try context.count(for: request) == 11)
    }

    private static var journals: [(StoreKind, [AnyHashable: Any]?)] {
        [
            (.memory, nil), (.file, nil), (.file, [NSSQLitePragmasOption: ["journal_mode": "DELETE"], NSPersistentStoreTimeoutOption: 0]),
        ]
    }

    @Test("let initialisers of the objects that a fetch makes fetch and save themselves, with and without a log", arguments: 0..<3)
    func nesting(number: Int) throws {
        let (kind, options) = Self.journals[number]
        let home = try StoreHome(kind)
        let model = NSManagedObjectModel()
        model.entities = [
            LibraryModel.entity("Curious", Curious.self, [LibraryModel.attribute("name", .stringAttributeType)]),
            LibraryModel.entity("Tag", Tag.self, [LibraryModel.attribute("label", .stringAttributeType)]),
        ]
        let coordinator = try Stack(home.url(), model, options: options).coordinator
        let context = Library.context(on: coordinator)
        for number in 0..<3 { Curious(context: context).setValue("\(number)", forKey: "name") }
        try context.save()
        Curious.other = Library.context(on: coordinator)
        defer { Curious.other = nil }
        let found = try Library.context(on: coordinator).all(Curious.self, "Curious", orderedBy: "name")
        #expect(found.map(\.count) == [0, 1, 2])
        #expect(try home.sql("SELECT COUNT(*) FROM ZTAG") == "3")
    }
}

@Suite("A store in memory")
struct InMemoryStoreTests {
    private func add(_ coordinator: NSPersistentStoreCoordinator, _ url: URL?, _ options: [AnyHashable: Any]? = nil) throws -> SQLiteStore {
        let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: url, options: options)
        return try #require(store as? SQLiteStore)
    }

    private func save(_ label: String, _ coordinator: NSPersistentStoreCoordinator) throws {
        let context = Library.context(on: coordinator)
        Tag(context: context).label = label
        try context.save()
    }

    private func labels(_ coordinator: NSPersistentStoreCoordinator) throws -> [String?] { try Library.context(on: coordinator).labels() }

    private static let elsewhere = [nil, "file:///dev/null", "file:///nowhere/Model.sqlite", "memory://x", "file:///x?vfs=memdb"]

    @Test("is new and empty without a URL or with any that is not of one, touches no file, and says where it is", arguments: elsewhere)
    func fresh(place: String?) throws {
        let url = place.flatMap { URL(string: $0) }
        let (first, second) = (Stack().coordinator, Stack().coordinator)
        let stores = [try add(first, url), try add(second, url)]
        try save("x", first)
        #expect(try labels(first) == ["x"])
        #expect(try labels(second).isEmpty)
        #expect(stores[0].url != stores[1].url && stores[0].url != url)
        #expect(first.persistentStore(for: try #require(stores[0].url)) === stores[0])
        #expect(url.map { !exists($0) || $0.path == "/dev/null" } ?? true)
        // => One coordinator may have several.
        #expect(try add(first, url).identifier != stores[0].identifier)
    }

    @Test("is one and the same for every coordinator that adds it at its URL, as saved changes and metadata show")
    func attaching() throws {
        let (first, second) = (Stack().coordinator, Stack().coordinator)
        let store = try add(first, nil)
        try save("first", first)
        let other = try add(second, store.url)
        #expect(other.identifier == store.identifier && other.url == store.url)
        try save("second", second)
        #expect(try labels(first) == ["first", "second"] && labels(second) == ["first", "second"])
        first.setMetadata(["k": "v"], for: store)
        try save("third", first)
        let url = try #require(store.url)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSInMemoryStoreType, at: url)
        #expect(metadata["k"] as? String == "v")
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
    }

    @Test("lasts until the last coordinator lets go of it; then its URL stands for an empty one", arguments: [true, false])
    func lifetime(isRemoved: Bool) throws {
        var first: NSPersistentStoreCoordinator? = Stack().coordinator
        let second = Stack().coordinator
        // A store that somebody still holds keeps nothing once it is removed.
        var store: SQLiteStore? = try add(try #require(first), nil)
        let url = try #require(store?.url)
        try save("x", try #require(first))
        let other = try add(second, url)
        if isRemoved { try first?.remove(try #require(store)) } else { (first, store) = (nil, nil) }
        #expect(try labels(second) == ["x"])
        try second.remove(other)
        cocoaError(260) { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSInMemoryStoreType, at: url) }
        let reader = try Connection(path: url.absoluteString, mode: .readWriteCreate, isURI: true)
        #expect(try reader.rows("SELECT * FROM sqlite_master").isEmpty)
        reader.close()
        let again = Stack().coordinator
        #expect(try add(again, url).url == url)
        #expect(try labels(again).isEmpty)
        withExtendedLifetime(store) {}
    }

    @Test("refuses another model with 134100, and stays what it was")
    func otherModel() throws {
        let first = Stack().coordinator
        let store = try add(first, nil)
        try save("x", first)
        let model = LibraryModel.make()
        model.entitiesByName["Tag"]?.properties.append(LibraryModel.attribute("color", .stringAttributeType))
        let error = cocoaError(134100) { try add(Stack(model).coordinator, store.url) }
        #expect((error?.userInfo["metadata"] as? [String: Any])?[NSStoreUUIDKey] as? String == store.identifier)
        try save("y", first)
        #expect(try labels(first) == ["x", "y"])
    }

    @Test("has a URL that is no place for a file, whatever is done with it")
    func wrongType() throws {
        let coordinator = Stack().coordinator
        let url = try #require(try add(coordinator, nil).url)
        let other = Stack().coordinator
        cocoaError(134010) { try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil) }
        cocoaError(134010) { try other.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType) }
        cocoaError(134010) { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url) }
        #expect(!exists(url))
        // => Nor does the type in memory destroy files.
        let folder = try TemporaryFolder()
        try makeStore(at: folder.store)
        try other.destroyPersistentStore(at: folder.store, ofType: NSInMemoryStoreType)
        #expect(exists(folder.store))
    }

    @Test("ignores options that are about files, senseless ones too")
    func options() throws {
        let coordinator = Stack().coordinator
        _ = try add(
            coordinator,
            nil,
            [
                NSSQLitePragmasOption: ["journal_mode": "WAL", "locking_mode": "EXCLUSIVE", "page_size": "x", "a b": "; DROP"],
                NSSQLiteManualVacuumOption: true, NSSQLiteAnalyzeOption: true, NSMigratePersistentStoresAutomaticallyOption: true,
                NSPersistentStoreTimeoutOption: 0,
            ]
        )
        try save("x", coordinator)
        #expect(try labels(coordinator) == ["x"])
    }

    @Test("can be added read-only: empty, or as others fill it")
    func readOnly() throws {
        let (reader, writer) = (Stack().coordinator, Stack().coordinator)
        let store = try add(reader, nil, [NSReadOnlyPersistentStoreOption: true])
        #expect(store.isReadOnly)
        #expect(try labels(reader).isEmpty)
        cocoaError(134030) { try save("mine", reader) }
        _ = try add(writer, store.url)
        try save("theirs", writer)
        #expect(try labels(reader) == ["theirs"])
    }

    @Test("that was destroyed and made anew with another model is read through the new schema only")
    func remade() throws {
        let (old, new) = (Stack().coordinator, NSPersistentStoreCoordinator(managedObjectModel: Self.otherModel()))
        let url = try #require(try add(old, nil).url)
        try save("x", old)
        try new.destroyPersistentStore(at: url, ofType: NSInMemoryStoreType)
        _ = try add(new, url)
        #expect(throws: CocoaError.self) { try labels(old) }
        #expect(throws: CocoaError.self) { try save("y", old) }
        let context = Library.context(on: new)
        context.performAndWait { NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context).setValue("n", forKey: "name") }
        try context.save()
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")) == 1)
    }

    private static func otherModel() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = [LibraryModel.entity("Thing", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])]
        return model
    }

    @Test("is what an SQLite store at the null device is too, a new one each time; the device stays what it is")
    func nullDevice() throws {
        let url = URL(fileURLWithPath: "/dev/null")
        let stacks = [try Stack(url), try Stack(url)]
        try save("x", stacks[0].coordinator)
        #expect(try labels(stacks[0].coordinator) == ["x"])
        #expect(try labels(stacks[1].coordinator).isEmpty)
        let store = stacks[0].coordinator.persistentStores[0]
        #expect(store.type == NSSQLiteStoreType && store.url == url && store.metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        let second = try stacks[0].add(url)
        #expect(second.identifier != store.identifier && stacks[0].coordinator.persistentStores.count == 2)
        cocoaError(260) { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url) }
        try stacks[1].coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        #expect(exists(url) && !exists(url, "-wal") && !exists(url, "-journal"))
    }
}

/// Asks and changes the store while it is being made by a fetch.
private final class Curious: NSManagedObject {
    // One test uses it, one case at a time, on one thread.
    nonisolated(unsafe) static var other: NSManagedObjectContext?
    private(set) var count = -1

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        guard let other = Self.other else { return }
        count = (try? other.count(for: NSFetchRequest<Tag>(entityName: "Tag"))) ?? -1
        _ = Tag(context: other)
        try? other.save()
    }
}
