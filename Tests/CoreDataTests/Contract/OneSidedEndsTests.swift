import Foundation
import Testing

@testable import CoreData

/// An atomic store with a book and two tags, of which one end only says that they belong together.
private final class OneSidedStore: NSAtomicStore {
    static let storeType = "OneSided"
    override var type: String { Self.storeType }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    private func node(_ entity: String, _ reference: String, _ key: String) -> NSAtomicStoreCacheNode {
        let entity = persistentStoreCoordinator!.managedObjectModel.entitiesByName[entity]!
        let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: reference))
        node.setValue(reference, forKey: key)
        return node
    }

    override func load() throws {
        let (book, tags) = (node("Book", "book", "title"), ["a", "b"].map { node("Tag", $0, "label") })
        if options?["end"] as? String == "book" { book.setValue(NSSet(array: tags), forKey: "tags") }
        if options?["end"] as? String == "tags" { for tag in tags { tag.setValue(NSSet(object: book), forKey: "books") } }
        // What the other end names too is one link.
        if options?["end"] as? String == "both" {
            book.setValue(NSSet(object: tags[0]), forKey: "tags")
            for tag in tags { tag.setValue(NSSet(object: book), forKey: "books") }
        }
        addCacheNodes(Set(tags + [book]))
    }
}

@Suite("A many-to-many relationship of an atomic store")
struct OneSidedEndsTests {
    @Test("leads both ways, whichever end the nodes name", arguments: ["book", "tags", "both"])
    func ends(_ end: String) throws {
        NSPersistentStoreCoordinator.registerStoreClass(OneSidedStore.self, forStoreType: OneSidedStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let store = try coordinator.addPersistentStore(
            ofType: OneSidedStore.storeType,
            configurationName: nil,
            at: URL(fileURLWithPath: "/\(UUID().uuidString)"),
            options: ["end": end]
        )
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let book = try #require(try context.all(Book.self).first)
        #expect(Set(book.tags.compactMap(\.label)) == ["a", "b"])
        #expect(try context.all(Tag.self).map(\.books) == [[book], [book]])

        // A save writes them at both ends.
        for tag in book.tags { tag.label = "new" }
        book.pages = 1
        try context.save()
        let nodes = try #require(store as? NSAtomicStore).cacheNodes()
        #expect(nodes.compactMap { ($0.value(forKey: "books") ?? $0.value(forKey: "tags")) as? NSSet }.map(\.count).sorted() == [1, 1, 2])
    }
}
