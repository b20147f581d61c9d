import Foundation
import Testing

@testable import CoreData

/// An incremental store with one author in it, which looks at the reference object of an ID only.
private final class AuthorStore: NSIncrementalStore {
    static let storeType = "OneAuthor"
    override var type: String { Self.storeType }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    var author: NSManagedObjectID {
        newObjectID(for: persistentStoreCoordinator!.managedObjectModel.entitiesByName["Author"]!, referenceObject: "a")
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        request is NSSaveChangesRequest ? [] : [author]
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        let values: [String: Any] = ["name": "Ann", "desk": NSNull(), "boss": NSNull()]
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: 1)
    }
}

@Suite("An ID of the wrong entity, which a store's class has values for")
struct OtherEntityTests {
    @Test("leaves the object itself as it is, for reading and for saving")
    func wrongEntity() throws {
        NSPersistentStoreCoordinator.registerStoreClass(AuthorStore.self, forStoreType: AuthorStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let store = try coordinator.addPersistentStore(
            ofType: AuthorStore.storeType,
            configurationName: nil,
            at: URL(fileURLWithPath: "/\(UUID().uuidString)")
        )
        let uri = try #require(store as? AuthorStore).author.uriRepresentation().absoluteString
        let (strange, context) = (home(coordinator), home(coordinator))
        let wrong = try #require(URL(string: uri.replacingOccurrences(of: "/Author/", with: "/Person/")))
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: wrong))
        let person = try strange.existingObject(with: id)

        let author = try #require(try context.all(Author.self).first)
        #expect(author.name == "Ann" && !author.isDeleted)
        author.penName = "Nan"
        try context.save()
        let other = home(coordinator)
        #expect(try other.all(Author.self).map(\.penName) == ["Nan"])
        withExtendedLifetime((person, other)) {}
    }

    private func home(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}
