import Foundation
import Testing

@testable import CoreData

/// A store over a service that says itself what versions its books have.
private final class VersionedStore: NSIncrementalStore {
    static let storeType = "Versioned"
    override var type: String { Self.storeType }

    var titles: [String: String?] = ["a": "A"]
    var version: UInt64 = 1000
    /// Called before a fetch is answered.
    var onFetch: () -> Void = {}
    /// Whether the nodes say nothing of authors, so that the class is asked for them.
    var asksForAuthors = false

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    /// By how much a save raises the version.
    var step: UInt64 = 0

    /// Looks at no result type.
    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let request = request as? NSSaveChangesRequest {
            for case let book as Book in request.updatedObjects ?? [] { titles["\(referenceObject(for: book.objectID))"] = book.title }
            for book in request.deletedObjects ?? [] { titles["\(referenceObject(for: book.objectID))"] = nil }
            version += step
            return []
        }
        guard let entity = (request as? NSFetchRequest<any NSFetchRequestResult>)?.entity else {
            return try super.execute(request, with: context)
        }
        onFetch()
        return titles.keys.sorted().map { newObjectID(for: entity, referenceObject: $0) }
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        var values = ["title": titles["\(referenceObject(for: objectID))"] as Any, "author": (nil as NSManagedObjectID?) as Any]
        if asksForAuthors { values["author"] = nil }
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: version)
    }

    /// Its books have no ends.
    override func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        (nil as NSManagedObjectID?) as Any
    }
}

@Suite("What a service says of its objects")
struct NodeVersionTests {
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    private let store: VersionedStore

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(VersionedStore.self, forStoreType: VersionedStore.storeType)
        let url = URL(string: "https://example.org/\(UUID().uuidString)")
        store = try #require(
            try coordinator.addPersistentStore(ofType: VersionedStore.storeType, configurationName: nil, at: url) as? VersionedStore
        )
    }

    private func book(_ context: NSManagedObjectContext) throws -> Book { try #require(try context.all(Book.self).first) }

    private func merge(_ book: Book, into context: NSManagedObjectContext) {
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: [book.objectID]], into: [context])
    }

    // * Two contexts read a book; the service gives it a much higher version, which the second one reads.
    // * The first one saves.
    // => What it saved is the newest, for everybody, and it can save once more.
    @Test("is older than what is saved later, however high its version is")
    func higher() throws {
        let (context, other) = (Library.context(on: coordinator), Library.context(on: coordinator))
        let (mine, theirs) = (try book(context), try book(other))
        #expect(mine.title == "A" && theirs.title == "A")
        store.version = 5000
        merge(theirs, into: other)
        #expect(theirs.title == "A")
        for title in ["B", "C"] {
            mine.title = title
            try context.save()
            other.refresh(theirs, mergeChanges: false)
            let third = Library.context(on: coordinator)
            #expect(try [theirs.title, book(third).title] == [title, title])
        }
    }

    private func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = parent
        return child
    }

    // * Two children of a context, which keeps nothing, have a book, and save it in turns through all layers; then one of them deletes it.
    @Test("sets no children of one context against each other, whatever versions it has", arguments: [0, 1, 7] as [UInt64])
    func turns(step: UInt64) throws {
        store.step = step
        let parent = Library.context(on: coordinator)
        let children = [child(of: parent), child(of: parent)]
        let books = try children.map(book)
        #expect(books.map(\.title) == ["A", "A"])
        for title in ["B", "C", "D"] {
            for (context, book) in zip(children, books) {
                book.title = "\(title) \(step)"
                try context.save()
                try parent.save()
            }
        }
        #expect(store.titles == ["a": "D \(step)"])
        children[0].delete(books[0])
        try children[0].save()
        try parent.save()
        #expect(store.titles.isEmpty)
    }

    // * A child has a book that others change, who are gone when it deletes the book.
    @Test("keeps what others have saved from those who have not seen it, whatever versions it has", arguments: [0, 1, 7] as [UInt64])
    func unseen(step: UInt64) throws {
        store.step = step
        let parent = Library.context(on: coordinator)
        let child = child(of: parent)
        let mine = try book(child)
        #expect(mine.title == "A")
        try autoreleasepool {
            let other = Library.context(on: coordinator)
            try book(other).title = "B"
            try other.save()
        }
        child.delete(mine)
        try child.save()
        let error = #expect(throws: CocoaError.self) { try parent.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(store.titles == ["a": "B"])
    }

    /// The saver's title, with a mark; nothing is left to the framework.
    private final class MarkingPolicy: NSMergePolicy, @unchecked Sendable {
        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            for case let book as Book in list.map(\.sourceObject) { book.title = "\(book.title ?? "")!" }
        }
    }

    @Test("is written over by a policy of the program's own, also where its version has not changed")
    func ownPolicy() throws {
        let (context, other) = (Library.context(on: coordinator), Library.context(on: coordinator))
        context.mergePolicy = MarkingPolicy(merge: .errorMergePolicyType)
        let (mine, theirs) = (try book(context), try book(other))
        #expect(mine.title == "A" && theirs.title == "A")
        store.titles = ["a": "B"]
        merge(theirs, into: other)
        #expect(theirs.title == "B")
        mine.title = "C"
        try context.save()
        #expect(store.titles == ["a": "C!"])
    }

    @Test("is nil where an optional in the values is, or in the answer for an end", arguments: [false, true])
    func optionals(_ asks: Bool) throws {
        store.asksForAuthors = asks
        store.titles = ["a": Optional<String>.none, "b": "B"]
        let context = Library.context(on: coordinator)
        let books = try context.all(Book.self)
        let titles: [String?] = books.map(\.title)
        #expect(titles == [nil, "B"] && books.allSatisfy { $0.author == nil && $0.tags.isEmpty })
        #expect(books.allSatisfy { !$0.isFault })
    }

    @Test("is told in few words where it is no answer")
    func summary() throws {
        store.titles = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("\($0)", "T") })
        let context = Library.context(on: coordinator)
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        let asks: [() throws -> Void] = [
            { _ = try context.fetch(request) }, { _ = try context.count(for: NSFetchRequest<Book>(entityName: "Book")) },
        ]
        for ask in asks {
            #expect {
                try ask()
            } throws: { error in
                let text = error.localizedDescription
                return text.hasPrefix("VersionedStore.execute(_:with:) has returned 1000 values") && text.count < 300
            }
        }
    }

    @Test("comes to nothing where the store is removed meanwhile")
    func removed() throws {
        let context = Library.context(on: coordinator)
        store.onFetch = { [coordinator, store] in try? coordinator.remove(store) }
        let found = (try? context.all(Book.self)) ?? []
        #expect(coordinator.persistentStores.isEmpty && found.allSatisfy { $0.title == nil })
    }
}
