import Foundation
import Testing

@testable import CoreData

@Suite("Metadata that a program sets")
struct StoreMetadataEditTests {
    // * They are set once more while a save has written them and is about to commit.
    @Test("during a save are written by the next one", arguments: StoreKind.allCases)
    func duringSave(kind: StoreKind) throws {
        let library = try Library(kind)
        let (coordinator, store) = (library.coordinator, library.store)
        let set = { (text: String) in coordinator.setMetadata(coordinator.metadata(for: store).merging(["k": text]) { $1 }, for: store) }
        set("first")
        try coordinator.save(ChangeSet()) { set("second") }.publish()
        #expect(try written(library) == "first")
        try library.context.save()
        #expect(try written(library) == "second")
        #expect(store.changedMetadata == nil)
    }

    // * The metadata of a store that nobody has open are set, with an identifier, and with hashes of another model.
    // => It has them, and the identifier; it is of its model still, and opens.
    @Test("of a store that nobody has open replace what was noted there, and leave it of its model")
    func unopened() throws {
        let home = try StoreHome(.file)
        let (url, type) = (home.url(), NSSQLiteStoreType)
        try makeStore(at: url)
        let uuid = UUID().uuidString
        try NSPersistentStoreCoordinator.setMetadata(["old": 1], forPersistentStoreOfType: type, at: url)
        let values: [String: Any] = ["k": "v", NSStoreUUIDKey: uuid, NSStoreModelVersionHashesKey: ["Tag": Data([1])]]
        try NSPersistentStoreCoordinator.setMetadata(values, forPersistentStoreOfType: type, at: url)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        #expect(metadata["k"] as? String == "v" && metadata["old"] == nil && metadata[NSStoreUUIDKey] as? String == uuid)
        let stack = try Stack(url)
        #expect(stack.coordinator.persistentStores[0].identifier == uuid)
        try stack.close()
        cocoaError(134070) {
            try NSPersistentStoreCoordinator.setMetadata(["bad": stack], forPersistentStoreOfType: type, at: url)
        }
        cocoaError(260) {
            try NSPersistentStoreCoordinator.setMetadata([:], forPersistentStoreOfType: type, at: home.folder.file("nothing"))
        }
        withExtendedLifetime(home) {}
    }

    private func written(_ library: Library) throws -> String? {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: library.kind.type, at: library.url)
        return metadata["k"] as? String
    }
}
