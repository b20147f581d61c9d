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

    private func written(_ library: Library) throws -> String? {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: library.kind.type, at: library.url)
        return metadata["k"] as? String
    }
}
