import CoreDataStack
import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Says where it is told of its delete.
private final class DoomedNote: Note {
    static let tellings = Mutex<[ObjectIdentifier: [String]]>([:])

    override func prepareForDeletion() {
        guard let context = managedObjectContext, let text else { return }
        Self.tellings.withLock { $0[ObjectIdentifier(context), default: []].append(text) }
    }

    static func all(in context: NSManagedObjectContext) throws -> [DoomedNote] { try context.fetch(NSFetchRequest<DoomedNote>()) }

    static func tellings(in context: NSManagedObjectContext) -> [String] { tellings.withLock { $0[ObjectIdentifier(context)] ?? [] } }
}

@Suite("An object whose delete is refused is told of it once:", .timeLimit(.minutes(20)))
struct ReturnedDeleteTests {
    // * A worker deletes a note, and inserts a duplicate; main has deleted another, which is saved with it.
    // => The worker's save goes back, main's is in the store, and `prepareForDeletion` was called once for each note in each context that has it.
    @Test("where it goes back, and where it is saved apart from others")
    func once() async throws {
        let model = NoteModel.make(uniqueTexts: true)
        model.entitiesByName["Note"]?.managedObjectClassName = NSStringFromClass(DoomedNote.self)
        let bench = try await Bench(.file, model: model)
        let (main, root, worker) = (bench.main, bench.stack.privateQueueContext, bench.stack.newChildContext())
        root.mergePolicy = NSMergePolicy.error
        try await main.perform {
            for text in ["same", "a", "b"] { DoomedNote(context: main).text = text }
            try main.saveContextToStoreAndWait()
        }
        try await main.perform { main.delete(try #require(try DoomedNote.all(in: main).first { $0.text == "b" })) }
        try await worker.perform {
            worker.delete(try #require(try DoomedNote.all(in: worker).first { $0.text == "a" }))
            DoomedNote(context: worker).text = "same"
        }
        await cocoaError(133021) { try await worker.saveToStore() }
        await bench.settle()
        await worker.perform { #expect(worker.deletedObjects.count == 1 && worker.insertedObjects.count == 1) }
        let reader = try bench.separateContext(options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try reader.performAndWait { try DoomedNote.all(in: reader).compactMap(\.text).sorted() } == ["a", "same"])
        #expect(DoomedNote.tellings(in: worker) == ["a"])
        #expect(DoomedNote.tellings(in: main).sorted() == ["a", "b"])
        #expect(DoomedNote.tellings(in: root).sorted() == ["a", "b"])
    }
}
