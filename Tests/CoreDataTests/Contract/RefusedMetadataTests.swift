import Foundation
import TestSupport
import Testing

@testable import CoreData

/// An incremental store that refuses to save, where it is told to.
private final class RefusingStore: NSIncrementalStore {
    static let storeType = "RefusingUntilTold"
    override var type: String { Self.storeType }
    var refuses = true

    struct Refused: Error {}

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if refuses { throw Refused() }
        return [Any]()
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }
}

@Suite("Metadata that are set before a save that another store refuses")
struct RefusedMetadataTests {
    // * An application notes how far it has come, and changes objects: in the document, and in a store that refuses.
    // => The document has neither until there is a save that all take.
    @Test("are written with its changes, or not at all", arguments: [NSXMLStoreType, NSBinaryStoreType, NSSQLiteStoreType])
    func refused(_ type: String) throws {
        NSPersistentStoreCoordinator.registerStoreClass(RefusingStore.self, forStoreType: RefusingStore.storeType)
        let (folder, coordinator) = (try TemporaryFolder(), NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make()))
        let url = folder.file("Document")
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let added = try coordinator.addPersistentStore(ofType: RefusingStore.storeType, configurationName: nil, at: folder.file("b"))
        let other = try #require(added as? RefusingStore)
        func written() throws -> String? {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)["progress"] as? String
        }

        let context = Library.context(on: coordinator)
        store.metadata["progress"] = "first"
        try context.save()
        for store in [store, other] { context.assign(Tag(context: context), to: store) }
        store.metadata["progress"] = "second"
        #expect(throws: RefusingStore.Refused.self) { try context.save() }
        #expect(try written() == "first")
        #expect(store.metadata["progress"] as? String == "second")

        other.refuses = false
        try context.save()
        #expect(try written() == "second")
    }
}
