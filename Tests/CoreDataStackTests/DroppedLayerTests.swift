import CoreDataStack
import Foundation
import Testing

@testable import CoreData

/// How a context drops its unsaved changes.
enum Dropping: CaseIterable, Sendable {
    case rollback, reset

    func drop(_ context: NSManagedObjectContext) {
        switch self {
        case .rollback: context.rollback()
        case .reset: context.reset()
        }
    }
}

@Suite("What a worker has saved is not main's to drop,", .timeLimit(.minutes(20)))
struct DroppedLayerTests {
    // * Main has a draft, and has changed a note. A worker has changed the same one, deleted another and inserted one; it has saved that into main.
    // => Before that goes on, the user cancels in main: just main's own changes are lost.
    @Test("and gets into the store, in every form that waits", arguments: SaveForm.allCases, Dropping.allCases)
    func forms(_ form: SaveForm, _ dropping: Dropping) async throws {
        let bench = try await benchWithNotes(.file)
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        let draft = try await main.perform {
            try #require(try main.note("b")).number = 9
            return Kept(main.insertNote("draft"), [])
        }
        try await worker.perform {
            try #require(try worker.note("b")).text = "from the worker"
            worker.delete(try #require(try worker.note("a")))
            worker.insertNote("precious", 3).folder = Folder(context: worker)
        }
        try await main.dropping(dropping, after: worker) { try await form.save(worker) }
        #expect(try bench.stored() == ["from the worker": 2, "precious": 3])
        #expect(try await main.fetchedTexts() == ["from the worker": 2, "precious": 3])
        for context in [main, bench.root, worker] { await context.perform { #expect(!context.hasChanges) } }
        await main.perform { #expect(draft.first.managedObjectContext == nil) }
        #expect(try bench.read { try $0.note("precious")?.folder } != nil)
    }

    @Test("also where nobody waits", arguments: Dropping.allCases, StackKind.allCases)
    func unawaited(_ dropping: Dropping, _ kind: StackKind) async throws {
        let bench = try await benchWithNotes(kind)
        do {
            let worker = bench.stack.newChildContext()
            await worker.perform { _ = worker.insertNote("precious", 3) }
            try await bench.main.dropping(dropping, after: worker) { try await worker.perform { try worker.save() } }
        }
        try await bench.stack.flush()
        #expect(try bench.stored() == ["a": 1, "b": 2, "precious": 3])
    }

    @Test("and what main knows of it already stays", arguments: StackKind.allCases)
    func known(_ kind: StackKind) async throws {
        let bench = try await benchWithNotes(kind)
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        let id = await worker.perform { worker.insertNote("precious", 3).objectID }
        nonisolated(unsafe) var held: Note?
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: worker, queue: nil) { _ in
            main.performAndWait {
                held = try? main.note("precious")
                held?.number = 4
                main.rollback()
                #expect(held?.number == 3 && held?.isInserted == true && held?.managedObjectContext === main)
            }
        }
        try await worker.saveToStore()
        NotificationCenter.default.removeObserver(observer)
        await main.perform {
            #expect(held?.isInserted == false && held?.number == 3)
            held = nil
        }
        #expect(try bench.stored()["precious"] == 3)
        await worker.perform { #expect((worker.object(with: id) as? Note)?.number == 3) }
    }

    // * A worker's note is in a folder that just main has, unsaved; another worker's is not.
    @Test("unless it refers to what is dropped: then it goes back, and says so", arguments: Dropping.allCases, StackKind.allCases)
    func dependent(_ dropping: Dropping, _ kind: StackKind) async throws {
        let bench = try await benchWithNotes(kind)
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        await main.perform { Folder(context: main).name = "draft" }
        try await worker.perform { worker.insertNote("in a draft").folder = try worker.fetch(NSFetchRequest<Folder>()).first }
        await cocoaError(133020) { try await main.dropping(dropping, after: worker) { try await worker.saveToStore() } }
        try await worker.perform {
            let note = try #require(worker.insertedObjects.compactMap { $0 as? Note }.first)
            #expect(note.text == "in a draft")
            note.folder = nil
        }
        try await worker.saveToStore()
        #expect(try bench.stored() == ["a": 1, "b": 2, "in a draft": 0])
    }

    @Test("but for rollbackToStore(), of which whoever waits is told", arguments: SaveForm.allCases, StackKind.allCases)
    func thrownAway(_ form: SaveForm, _ kind: StackKind) async throws {
        let bench = try await benchWithNotes(kind)
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        await worker.perform { _ = worker.insertNote("precious", 3) }
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: worker, queue: nil) { _ in
            main.rollbackToStoreAndWait()
        }
        await cocoaError(CocoaError.userCancelled.rawValue) { try await form.save(worker) }
        NotificationCenter.default.removeObserver(observer)
        #expect(try bench.stored() == ["a": 1, "b": 2])
        // That was then: there is nothing to be told of now.
        try await form.save(worker)
    }

    @Test("nor a worker's, where a context below it has saved to the store", arguments: Dropping.allCases)
    func below(_ dropping: Dropping) async throws {
        let bench = try await benchWithNotes(.file)
        let worker = bench.stack.newChildContext()
        let editor = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        editor.parent = worker
        await worker.perform { _ = worker.insertNote("draft") }
        await editor.perform { _ = editor.insertNote("precious", 3) }
        try await worker.dropping(dropping, after: editor) { try await editor.saveToStore() }
        #expect(try bench.stored() == ["a": 1, "b": 2, "precious": 3])
    }

    @Test("but a plain child's save is, which nobody takes further", arguments: Dropping.allCases)
    func plain(_ dropping: Dropping) async throws {
        let bench = try await benchWithNotes(.file)
        let editor = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        editor.parent = bench.main
        try await editor.perform {
            editor.insertNote("cancelled")
            try editor.save()
        }
        await bench.main.perform { [main = bench.main] in
            #expect(main.insertedObjects.count == 1)
            dropping.drop(main)
            #expect(!main.hasChanges)
        }
        try await bench.stack.flush()
        #expect(try bench.stored() == ["a": 1, "b": 2])
    }

    @Test("nor what waits in root because the store cannot be written", arguments: Dropping.allCases)
    func waiting(_ dropping: Dropping) async throws {
        let bench = try await benchWithNotes(.file)
        let worker = bench.stack.newChildContext()
        await worker.perform { _ = worker.insertNote("precious", 3) }
        try await bench.sqliteStore.readOnly {
            await cocoaError(CocoaError.fileWriteNoPermission.rawValue) { try await worker.saveToStore() }
            for context in [bench.root, bench.main] { await context.perform { dropping.drop(context) } }
        }
        try await bench.stack.flush()
        #expect(try bench.stored() == ["a": 1, "b": 2, "precious": 3])
        await bench.root.perform { [root = bench.root] in #expect(!root.hasChanges) }
    }
}

extension DroppedLayerTests {
    private func benchWithNotes(_ kind: StackKind) async throws -> Bench {
        let bench = try await Bench(kind)
        await bench.main.perform { [main = bench.main] in
            main.insertNote("a", 1)
            main.insertNote("b", 2)
        }
        try await bench.main.saveToStore()
        return bench
    }
}

extension NSManagedObjectContext {
    /// Drops the unsaved changes as soon as a child has saved into the context.
    fileprivate func dropping(_ dropping: Dropping, after child: NSManagedObjectContext, _ body: () async throws -> Void) async throws {
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: child, queue: nil) { _ in
            self.performAndWait { dropping.drop(self) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await body()
    }
}
