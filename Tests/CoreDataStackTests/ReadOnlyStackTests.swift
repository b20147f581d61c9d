import CoreData
import CoreDataStack
import Foundation
import TestSupport
import Testing

@Suite("A stack that was opened read-only", .timeLimit(.minutes(5)))
struct ReadOnlyStackTests {
    let folder: TemporaryFolder
    let stack: CoreDataStack

    init() async throws {
        folder = try TemporaryFolder()
        let url = folder.store
        try CoreDataStack.withStack(model: NoteModel.make(), at: url) { stack in
            let main = stack.mainQueueContext
            try main.performAndWait {
                Note(context: main).text = "there"
                try main.save()
            }
        }
        let description = NSPersistentStoreDescription(url: url)
        description.isReadOnly = true
        stack = try await CoreDataStack.constructStack(model: NoteModel.make(), storeDescription: description)
    }

    private func texts(_ context: NSManagedObjectContext) async throws -> [String?] {
        try await context.perform { try context.fetch(NSFetchRequest<Note>(entityName: "Note")).map(\.text) }
    }

    @Test("reads in a context for batches, which writes no more than the others")
    func batch() async throws {
        let batch = try await stack.newBatchOperationContext()
        #expect(try await texts(batch) == ["there"])
        await cocoaError(134_030) {
            try await batch.perform {
                Note(context: batch).text = "written"
                try batch.save()
            }
        }
        #expect(try await texts(stack.newChildContext()) == ["there"])
    }

    // * The note of a reset cannot be made: a folder is in its place.
    @Test("says so to a reset, before anything is written beside the store")
    func reset() async throws {
        try FileManager.default.createDirectory(at: folder.store.appendingPathExtension("reset"), withIntermediateDirectories: false)
        await cocoaError(134_030) { try await stack.resetStore() }
        #expect(try await texts(stack.mainQueueContext) == ["there"])
    }
}
