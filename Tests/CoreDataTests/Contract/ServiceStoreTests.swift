import Foundation
import Testing

@testable import CoreData

/// A store as people write them over a service: the values of books by name, in the order that the descriptors give them.
private final class ServiceStore: NSIncrementalStore {
    static let storeType = "Service"
    override var type: String { Self.storeType }

    var books: [String: [String: Any]] = [:]
    /// Versions are of a sequence of the service's.
    private var sequence: UInt64 = 1000
    private(set) var askedFor: [String] = []
    /// Called when an end is asked for.
    var onEnd: (NSManagedObjectID, NSManagedObjectContext?) -> Void = { _, _ in }
    private(set) var requests: [NSFetchRequest<any NSFetchRequestResult>] = []

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let request = request as? NSSaveChangesRequest { return save(request) }
        guard let request = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = request.entity else {
            return try super.execute(request, with: context)
        }
        requests.append(request)
        var found = books.sorted { left, right in
            let orders = (request.sortDescriptors ?? []).map { $0.compare(NSDictionary(left.value), to: NSDictionary(right.value)) }
            return orders.first { $0 != .orderedSame } == .orderedAscending
        }
        found = Array(found.dropFirst(request.fetchOffset))
        if request.fetchLimit > 0 { found = Array(found.prefix(request.fetchLimit)) }
        if request.resultType == .countResultType { return found.count }
        return found.map { newObjectID(for: entity, referenceObject: $0.key) }
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        let name = "\(referenceObject(for: objectID))"
        askedFor.append(name)
        guard let values = books[name] else { throw CocoaError(.managedObjectReferentialIntegrity) }
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: sequence)
    }

    private func save(_ request: NSSaveChangesRequest) -> [Any] {
        for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
            sequence += 7
            books["\(referenceObject(for: object.objectID))"] = object.committedValues(forKeys: nil).filter {
                ["title", "pages"].contains($0.key)
            }
            .merging(object.changedValues()) { $1 }
        }
        return []
    }

    /// New books are known by their titles.
    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: $0.value(forKey: "title") ?? "") }
    }

    /// Its books have no ends.
    override func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        onEnd(objectID, context)
        return relationship.isToMany ? [NSManagedObjectID]() : NSNull()
    }
}

extension NSDictionary {
    fileprivate convenience init(_ values: [String: Any]) { self.init(dictionary: values) }
}

@Suite("A store over a service")
struct ServiceStoreTests {
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    private let store: ServiceStore

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, forStoreType: ServiceStore.storeType)
        let url = URL(string: "https://example.org/\(UUID().uuidString)")
        store = try #require(
            try coordinator.addPersistentStore(ofType: ServiceStore.storeType, configurationName: nil, at: url) as? ServiceStore
        )
        store.books = ["a": ["title": "A", "pages": 1], "b": ["title": "B", "pages": 3], "c": ["title": "C", "pages": 2]]
    }

    private func context() -> NSManagedObjectContext { Library.context(on: coordinator) }

    private func request(_ descriptor: NSSortDescriptor = NSSortDescriptor(key: "title", ascending: true)) -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [descriptor]
        return request
    }

    // * A class sends what `changedValues()` says, as many do; a new book has a default beside what was set.
    // => Everything that was set of the new book, and of one that is changed.
    @Test("is told by their changed values what new objects have, too")
    func newValues() throws {
        let context = context()
        let book = Book(context: context)
        (book.title, book.pages) = ("d", 4)
        try context.save()
        #expect(store.books["d"]?["title"] as? String == "d" && store.books["d"]?["pages"] as? Int == 4)
        book.pages = 5
        try context.save()
        #expect(store.books["d"]?["title"] as? String == "d" && store.books["d"]?["pages"] as? Int == 5)
    }

    // * Another thread removes the store while its class answers, which goes on with its coordinator's model, as classes do.
    // => It is there until the class has answered: most stop the program where it is nil.
    @Test("has its coordinator for as long as it answers, also when it is removed meanwhile")
    func removedWhileAnswering() throws {
        let context = context()
        let removal = DispatchGroup()
        // The other thread only hands it on.
        nonisolated(unsafe) let leaving = store
        var hadModel = false
        store.onEnd = { [coordinator] _, _ in
            DispatchQueue.global().async(group: removal) { try? coordinator.remove(leaving) }
            removal.wait()
            hadModel = leaving.persistentStoreCoordinator?.managedObjectModel != nil
        }
        let book = try #require(try context.fetch(request()).first)
        #expect(book.author == nil && hadModel)
        #expect(coordinator.persistentStores.isEmpty && store.persistentStoreCoordinator == nil)
    }

    @Test("is asked anew for what no context has any more")
    func asked() throws {
        let context = context()
        let id = try #require(try context.fetch(request()).first).objectID
        store.books["a"]?["title"] = "New"
        context.reset()
        #expect(try (context.existingObject(with: id) as? Book)?.title == "New")
        context.reset()
        store.books["a"]?["title"] = "Newer"
        #expect(try (self.context().existingObject(with: id) as? Book)?.title == "Newer")
        store.books["a"] = nil
        #expect { try self.context().existingObject(with: id) } throws: { ($0 as? CocoaError)?.code == .managedObjectReferentialIntegrity }
    }

    // * The end of a book depends on its title, which the class reads of the book, in the context that it is given or one of its own.
    @Test("may read an object whose ends it is asked for")
    func reading() throws {
        let own = context()
        var titles: [String?] = []
        store.onEnd = { id, context in
            for context in [context, own].compactMap({ $0 }) { titles.append((try? context.existingObject(with: id) as? Book)?.title) }
        }
        let context = context()
        let books = try context.fetch(request())
        #expect(books.map(\.title) == ["A", "B", "C"] && books.allSatisfy { $0.author == nil })
        #expect(titles == ["A", "A", "B", "B", "C", "C"])
    }

    @Test("needs no URL, and may be there twice then")
    func noURL() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let stores = try (0..<2).map { number in
            let added = try coordinator.addPersistentStore(ofType: ServiceStore.storeType, configurationName: nil, at: nil)
            let store = try #require(added as? ServiceStore)
            store.books = ["\(number)": ["title": "\(number)"]]
            return store
        }
        #expect(stores.allSatisfy { $0.url == nil })
        let context = Library.context(on: coordinator)
        #expect(try context.fetch(request()).map(\.title) == ["0", "1"])
        try coordinator.remove(stores[0])
        #expect(try context.fetch(request()).map(\.title) == ["1"])
    }

    @Test("is asked once for what a context has")
    func once() throws {
        let (context, other) = (context(), context())
        let book = try #require(try context.fetch(request()).first)
        #expect(book.title == "A")
        let count = store.askedFor.count
        context.refresh(book, mergeChanges: false)
        #expect(book.title == "A")
        #expect(try (other.existingObject(with: book.objectID) as? Book)?.title == "A")
        #expect(store.askedFor.count == count)
    }

    @Test("is saved by whoever has seen the values that are there, whatever the versions are")
    func versions() throws {
        let (context, other) = (context(), context())
        let book = try #require(try context.fetch(request()).first)
        for title in ["X", "Y"] {
            book.title = title
            try context.save()
            let read = try #require(try other.existingObject(with: book.objectID) as? Book)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: [book.objectID]], into: [other])
            #expect(read.title == title)
        }
        #expect(store.books["a"]?["title"] as? String == "Y")
    }

    @Test("can send a copy of its request on to a stack of its own, and is named where there are several")
    func copies() throws {
        _ = try context().fetch(request())
        let asked = try #require(store.requests.last)
        let behind = try Library(.memory)
        _ = try behind.savedBook()
        let copy = try #require(asked.copy() as? NSFetchRequest<any NSFetchRequestResult>)
        copy.entity = NSEntityDescription.entity(forEntityName: "Book", in: behind.context)
        #expect(try behind.context.fetch(copy).count == 1)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        _ = try context().fetch(request())
        #expect(store.requests.last?.affectedStores == [store])
    }

    @Test("is not asked for an order of the objects themselves: the framework sorts")
    func keyless() throws {
        let descriptor = NSSortDescriptor(keyPath: \Book.pages, ascending: false)
        try #require(descriptor.key == nil)
        let request = request(descriptor)
        #expect(try context().fetch(request).map(\.title) == ["B", "C", "A"])
        (request.fetchOffset, request.fetchLimit) = (1, 1)
        #expect(try context().fetch(request).map(\.title) == ["C"])
        #expect(try context().count(for: request) == 1)
        let context = context()
        let book = Book(context: context)
        (book.title, book.pages) = ("D", 4)
        (request.fetchOffset, request.fetchLimit, request.fetchBatchSize) = (0, 2, 1)
        #expect(try context.fetch(request).map(\.title) == ["D", "B"])
    }
}
