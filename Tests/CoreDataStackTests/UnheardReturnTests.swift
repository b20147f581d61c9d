import CoreDataStack
import Foundation
import Testing

@testable import CoreData

/// A worker's note of which the store refuses the text has come back, and the worker has not heard of it.
@Suite("A save that has come back before its context heard of it", .timeLimit(.minutes(20)))
struct UnheardReturnTests {
    // * The author makes faults of all objects and changes the one that he has saved.
    // => It is the same object that is unsaved again, with the change.
    @Test("is there for an object that was a fault meanwhile, and was changed as such")
    func changedAsFault() async throws {
        try await whileOnItsWayBack(isFault: true, leaves: ["same": 1, "mended": 9]) { worker, note in
            note.number = 9
            #expect(worker.insertedObjects == [note] && note.text == "same" && note.number == 9)
            note.text = "mended"
            try worker.save()
        }
    }

    // * As before, but the author asks for the object, in one form or another.
    // => It is unsaved once more, and answers with what it was saved with. Nothing fails, and it is not taken for one that is gone.
    @Test("is there for who asks for it", arguments: Question.allCases, [false, true])
    func asked(_ question: Question, isFault: Bool) async throws {
        try await whileOnItsWayBack(isFault: isFault, leaves: ["same": 1, "mended": 2]) { worker, note in
            #expect(try question.isAnswered(with: note, in: worker))
            #expect(worker.hasChanges == (isFault || question.isForContext))
            #expect(note.number == 2 && !note.isDeleted)
            worker.acceptReturnedSaves()
            #expect(worker.insertedObjects == [note])
            note.text = "mended"
            try worker.save()
        }
    }

    enum Question: CaseIterable {
        case value, valueForKey, count, fetch, existingObject

        /// Whether the context is asked, which does not know what it has, rather than the object, which may have its values.
        var isForContext: Bool { [.count, .fetch, .existingObject].contains(self) }

        func isAnswered(with note: Note, in context: NSManagedObjectContext) throws -> Bool {
            let request = NSFetchRequest<Note>(entityName: "Note")
            request.predicate = NSPredicate(format: "number == 2")
            return switch self {
            case .value: note.text == "same"
            case .valueForKey: note.value(forKey: "text") as? String == "same"
            case .count: try context.count(for: request) == 1
            case .fetch: try context.fetch(request) == [note]
            case .existingObject: try context.existingObject(with: note.objectID) === note
            }
        }
    }

    // * As before, but the author deletes the object, and saves that.
    // => It is gone: what has come back of it does not bring it back.
    @Test("does not bring back what was deleted meanwhile", arguments: [false, true])
    func deletedMeanwhile(isFault: Bool) async throws {
        try await whileOnItsWayBack(isFault: isFault, leaves: ["same": 1]) { worker, note in
            worker.delete(note)
            try worker.save()
            worker.acceptReturnedSaves()
            #expect(!worker.hasChanges && worker.registeredObjects.isEmpty)
        }
    }

    /// Runs `body` where a worker's note has come back, of which the worker has not heard; then the store has `texts`, and nothing waits above.
    private func whileOnItsWayBack(
        isFault: Bool,
        leaves texts: [String: Int64],
        _ body: @escaping @Sendable (NSManagedObjectContext, Note) throws -> Void
    ) async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let worker = bench.stack.newChildContext()
        try await onNewThread {
            try worker.performAndWait {
                let note = try worker.noteOnItsWayBack()
                if isFault { worker.refreshAllObjects() }
                try body(worker, note)
            }
        }
        try await bench.stack.flush(ignoring: 133021)
        try await bench.expectClean(texts)
    }
}

extension NSManagedObjectContext {
    /// A note whose save has come back, of which this context has not heard; on the queue.
    fileprivate func noteOnItsWayBack() throws -> Note {
        let note = insertNote("same", 2)
        try save()
        while children.withLock({ $0.saves.returned.isEmpty }) { sched_yield() }
        return note
    }
}
