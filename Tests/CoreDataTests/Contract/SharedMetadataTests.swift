import Foundation
import TestSupport
import Testing

@testable import CoreData

/// A store that lets others do something while it writes its metadata.
private final class SlowStore: NSAtomicStore {
    static let storeType = "SlowMetadata"
    private(set) var written: String?
    var onSave: () -> Void = {}

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    override func save() throws {
        written = metadata["note"] as? String
        metadata["own"] = "set while it writes"
        onSave()
    }
}

@Suite("Metadata of a document that one thread sets while others use it")
struct SharedMetadataTests {
    // * One thread sets metadata that say nothing of the identifier, again and again, while another reads them.
    // => They have it whenever they are read; so has the document, which opens again.
    @Test("say which store it is, whenever they are read", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func severalThreads(_ type: String) throws {
        let (folder, model) = (try TemporaryFolder(), LibraryModel.make())
        let (url, coordinator) = (folder.file("Document"), NSPersistentStoreCoordinator(managedObjectModel: model))
        // Metadata are for any thread.
        nonisolated(unsafe) let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let incomplete = Lock(0)
        DispatchQueue.concurrentPerform(iterations: 2) { worker in
            for round in 0..<20_000 {
                if worker == 0 { coordinator.setMetadata(["round": round], for: store) }
                let metadata = coordinator.metadata(for: store)
                if metadata[NSStoreUUIDKey] as? String != store.identifier { incomplete.withLock { $0 += 1 } }
            }
        }
        #expect(incomplete.withLock { $0 } == 0)
        try Library.context(on: coordinator).save()
        let again = NSPersistentStoreCoordinator(managedObjectModel: model)
        #expect(try again.addPersistentStore(ofType: type, configurationName: nil, at: url).identifier == store.identifier)
    }

    // * Another thread sets metadata when those of before are on their way into the file.
    // => The next save writes them, though it has nothing else to write; then there is nothing left.
    @Test("are written by the next save where they come too late for this one")
    func tooLate() throws {
        NSPersistentStoreCoordinator.registerStoreClass(SlowStore.self, forStoreType: SlowStore.storeType)
        let (folder, coordinator) = (try TemporaryFolder(), NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make()))
        let added = try coordinator.addPersistentStore(ofType: SlowStore.storeType, configurationName: nil, at: folder.file("slow"))
        // Metadata are for any thread.
        nonisolated(unsafe) let store = try #require(added as? SlowStore)
        let context = Library.context(on: coordinator)
        coordinator.setMetadata(["note": "first"], for: store)
        store.onSave = {
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                coordinator.setMetadata(["note": "second"], for: store)
                done.signal()
            }
            done.wait()
        }
        try context.save()
        #expect(store.written == "first")
        store.onSave = {}
        try context.save()
        #expect(store.written == "second")
        #expect(!store.hasUnwrittenMetadata)
    }
}
