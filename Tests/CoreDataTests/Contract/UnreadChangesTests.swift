import Foundation
import TestSupport
import Testing

@testable import CoreData

/// A service with one book, which cannot be reached now and then.
private final class FlakyStore: NSIncrementalStore {
    static let storeType = "Flaky"
    override var type: String { Self.storeType }
    struct Unreachable: Error {}
    var isReachable = true
    var book: [String: Any] = ["title": "T", "pages": 7, "author": NSNull()]

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let save = request as? NSSaveChangesRequest else {
            return [newObjectID(for: persistentStoreCoordinator!.managedObjectModel.entitiesByName["Book"]!, referenceObject: 1)]
        }
        for object in save.updatedObjects ?? [] {
            book["title"] = object.value(forKey: "title")
            book["pages"] = object.value(forKey: "pages")
        }
        return [Any]()
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        guard isReachable else { throw Unreachable() }
        return NSIncrementalStoreNode(objectID: objectID, withValues: book, version: 1)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { [NSManagedObjectID]() }
}

@Suite("A store that cannot be reached for a while")
struct UnreadChangesTests {
    // * The values of a book do not come when its title is set; later they do.
    // => What is saved has the pages that the book had. As long as they do not come, nothing is saved.
    @Test("is not written over with what was not read of an object")
    func unread() throws {
        NSPersistentStoreCoordinator.registerStoreClass(FlakyStore.self, forStoreType: FlakyStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let added = try coordinator.addPersistentStore(ofType: FlakyStore.storeType, configurationName: nil, at: nil)
        let store = try #require(added as? FlakyStore)
        let context = Library.context(on: coordinator)
        let book = try #require(try context.fetch(NSFetchRequest<Book>(entityName: "Book")).first)

        store.isReachable = false
        book.title = "changed"
        #expect(throws: FlakyStore.Unreachable.self) { try context.save() }
        store.isReachable = true
        try context.save()

        #expect(store.book["title"] as? String == "changed" && store.book["pages"] as? Int == 7)
        #expect(book.pages == 7)
        book.title = "once more"
        try context.save()
        #expect(store.book["pages"] as? Int == 7)
    }
}
