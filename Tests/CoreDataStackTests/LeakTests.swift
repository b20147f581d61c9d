import CoreDataStack
import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Nothing of a stack outlives its use:", .timeLimit(.minutes(20)))
struct LeakTests {
    // * Every layer inserts, fetches, faults, changes, deletes and saves objects with relationships between them; a batch context too.
    // => With the last reference to stack and contexts everything is gone: stack, contexts, coordinators, stores, objects, rows.
    @Test("stack, contexts, coordinators, stores, objects and rows", arguments: StackKind.allCases, [false, true])
    func everything(_ kind: StackKind, resets: Bool) async throws {
        let place = try TemporaryFolder()
        let left = try await use(place, kind, resets: resets)
        try await untilGone(left)
    }

    @Test("a worker and its objects, though main lives and has followed it", arguments: StackKind.allCases)
    func worker(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let left = Leftovers()
        try await exercise(bench.stack.newChildContext(), left)
        await bench.settle()
        try await untilGone(left)
        #expect(try await bench.main.fetchedTexts().count == 9)
    }

    @Test("objects that nobody keeps, and their rows, in contexts that live", arguments: StackKind.allCases)
    func objects(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let left = Leftovers()
        await bench.main.perform { [main = bench.main] in for number in 0..<300 { main.insertNote("\(number)") } }
        try await bench.main.saveToStore()
        let worker = bench.stack.newChildContext()
        for context in [bench.root, bench.main, worker] {
            try await context.perform {
                let notes = try context.fetch(NSFetchRequest<Note>())
                for note in notes {
                    left.add(note)
                    #expect(note.number == 0)
                }
                notes[0].number = 1
                context.rollback()
            }
        }
        // The latest batches are kept for whoever asks again soon.
        try bench.sqliteStore.cache.forgetAll()
        try await untilGone(left)
        for context in [bench.root, bench.main, worker] { await context.perform { #expect(context.registeredObjects.isEmpty) } }
    }

    @Test("a context whose save form has been answered, failed ones too", arguments: SaveForm.allCases)
    func answered(_ form: SaveForm) async throws {
        let bench = try await Bench(.memory)
        let left = Leftovers()
        for text in ["good", nil] {
            let worker = bench.stack.newChildContext()
            left.add(worker)
            await worker.perform { left.add(worker.insertNote(text)) }
            if text == nil {
                await cocoaError(1570) { try await form.save(worker) }
            } else {
                try await form.save(worker)
            }
        }
        try await untilGone(left)
    }

    // * The last reference to a context's object goes on another thread, after the context.
    // => The object can be asked what it is until then, and its end does no harm.
    @Test("an object that outlives its context, released on any thread", arguments: StackKind.allCases)
    func outliving(_ kind: StackKind) async throws {
        let left = Leftovers()
        var kept: Kept?
        do {
            let bench = try await Bench(kind)
            let worker = bench.stack.newChildContext()
            left.add(worker)
            kept = try await worker.perform {
                let folder = Folder(context: worker)
                let notes = (0..<1000).map { worker.insertNote("\($0)") }
                for note in notes { note.folder = folder }
                try worker.save()
                return Kept(notes[0], notes)
            }
            try await bench.main.saveToStore()
        }
        try await untilGone(left)
        try #require(kept?.first.managedObjectContext == nil && kept?.first.objectID.entity.name == "Note")
        #expect(kept?.first.description.isEmpty == false)
        let parts = Parts(kept?.notes ?? [])
        for note in kept?.notes ?? [] { left.add(note) }
        kept = nil
        try await parts.releaseOnThreads()
        try await untilGone(left)
    }

    @Test("objects released on other threads while their context is used", arguments: StackKind.allCases)
    func releasedMeanwhile(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let main = bench.main
        await main.perform { for number in 0..<500 { main.insertNote("\(number)", Int64(number)) } }
        try await main.saveToStore()
        let worker = bench.stack.newChildContext()
        for _ in 0..<20 {
            let parts = try await worker.perform { Parts(try worker.fetch(NSFetchRequest<Note>())) }
            async let released: Void = parts.releaseOnThreads()
            let sum = try await worker.perform { try worker.texts().values.reduce(0, +) }
            #expect(sum == 499 * 500 / 2)
            try await released
        }
    }
}

extension LeakTests {
    private func use(_ place: TemporaryFolder, _ kind: StackKind, resets: Bool) async throws -> Leftovers {
        let left = Leftovers()
        let stack =
            switch kind {
            case .file: try await CoreDataStack.constructSQLiteStack(model: NoteModel.make(), at: place.store)
            case .memory: try CoreDataStack.constructInMemoryStack(model: NoteModel.make())
            }
        left.add(stack)
        let errors = stack.saveErrors
        for context in [stack.newChildContext(), stack.mainQueueContext, stack.privateQueueContext] { try await exercise(context, left) }
        try await exercise(stack.newBatchOperationContext(), left)
        let worker = stack.newChildContext()
        await worker.perform { left.add(worker.insertNote("never saved")) }
        left.add(worker)
        if resets { try await stack.resetStore() }
        withExtendedLifetime(errors) {}
        return left
    }

    /// Does a little of everything, and notes what was used.
    private func exercise(_ context: NSManagedObjectContext, _ left: Leftovers) async throws {
        left.add(context)
        if let coordinator = context.persistentStoreCoordinator, context.parent == nil {
            left.add(coordinator)
            for store in coordinator.persistentStores { left.add(store) }
        }
        try await context.perform {
            let folder = Folder(context: context)
            let notes = (0..<10).map { context.insertNote("\($0)") }
            for note in notes { note.folder = folder }
            for object in [folder] + notes { left.add(object) }
            try context.save()
        }
        try await context.saveToStore()
        try await context.perform {
            let notes = try context.fetch(NSFetchRequest<Note>())
            for note in notes {
                left.add(note)
                note.number += 1
                left.add(note.currentRow.owner)
            }
            let folder = try #require(notes[0].folder)
            left.add(folder)
            #expect(folder.notes.contains(notes[0]))
            context.delete(notes[0])
        }
        try await context.saveToStore()
    }

    /// Waits until everything is gone: the last blocks of queues hold contexts a moment longer than their answers say. It would never end,
    /// were it not for the limit.
    private func untilGone(_ left: Leftovers, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<100_000 {
            if left.names.isEmpty { return }
            await Task.yield()
        }
        Issue.record("left: \(Set(left.names).sorted())", sourceLocation: sourceLocation)
    }
}

/// Things that ought to be released.
private final class Leftovers: @unchecked Sendable {
    private struct Weak {
        weak var thing: AnyObject?
    }
    // The lock orders every access.
    private let lock = NSLock()
    private var things: [Weak] = []

    func add(_ thing: AnyObject) { lock.withLock { things.append(Weak(thing: thing)) } }

    /// The kinds of those that are still there.
    var names: [String] {
        lock.withLock {
            // What is asked here must not be the last reference under the lock.
            things.removeAll { $0.thing == nil }
            return things.compactMap { $0.thing.map { "\(type(of: $0))" } }
        }
    }
}

/// Objects that threads release, each of them a part: the last references are here.
private final class Parts: @unchecked Sendable {
    // The lock orders every access.
    private let lock = NSLock()
    private var parts: [[NSManagedObject]]

    init(_ objects: [NSManagedObject]) {
        parts = (0..<4).map { part in objects.enumerated().filter { $0.offset % 4 == part }.map(\.element) }
    }

    func releaseOnThreads() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await onNewThread { _ = self.lock.withLock { self.parts.popLast() } } } }
            try await group.waitForAll()
        }
    }
}
