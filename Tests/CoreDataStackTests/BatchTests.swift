import CoreData
import CoreDataStack
import Foundation
import Testing

@Suite("The batch-operation context")
struct BatchTests {
    @Test("writes past the stack, and what it saves reaches root and main", arguments: StackKind.allCases)
    func reachesMain(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (root, main) = (bench.root, bench.main)
        let ids = await main.perform { [main.insertNote("stays"), main.insertNote("changes"), main.insertNote("goes")].map(\.objectID) }
        try await main.saveToStore()
        let objects = await main.perform { Kept(main.insertNote("unsaved"), ids.compactMap { main.object(with: $0) as? Note }) }
        let batch = try await bench.stack.newBatchOperationContext()
        #expect(batch.persistentStoreCoordinator !== root.persistentStoreCoordinator && batch.parent == nil)
        try await batch.perform {
            try #require(try batch.note("changes")).number = 42
            batch.delete(try #require(try batch.note("goes")))
            for number in 0..<2500 { batch.insertNote("new \(number)", 1) }
            try batch.save()
        }
        // Behind the turns that bring it: the queues are first come, first served.
        await root.perform {}
        await main.perform {
            let notes = objects.notes
            #expect(notes[1].number == 42 && notes[2].isDeleted && notes[0].number == 0)
            #expect(main.insertedObjects.count == 1 && main.updatedObjects.isEmpty && main.deletedObjects == [notes[2]])
        }
        #expect(try await main.fetchedTexts().count == 2503)
    }

    @Test("brings what delete rules deleted into main, too", arguments: StackKind.allCases)
    func deleteRules(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (root, main) = (bench.root, bench.main)
        await main.perform {
            let folder = Folder(context: main)
            for number in 0..<3 { main.insertNote("\(number)").folder = folder }
        }
        try await main.saveToStore()
        let kept = try await main.perform {
            let notes = try main.fetch(NSFetchRequest<Note>())
            return Kept(notes[0], notes)
        }
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            batch.delete(try #require(try batch.fetch(NSFetchRequest<Folder>()).first))
            try batch.save()
        }
        await root.perform(schedule: .enqueued) {}
        try await main.perform(schedule: .enqueued) {
            #expect(kept.notes.count == 3 && kept.notes.allSatisfy(\.isDeleted))
            try main.save()
            #expect(kept.notes.allSatisfy { $0.managedObjectContext == nil })
            #expect(main.registeredObjects.isEmpty)
        }
    }

    // * Root is asked for an object by an ID that was told before it was saved.
    // => Once it is, root and main have it.
    @Test("brings a new object that root was asked for before it was there", arguments: StackKind.allCases)
    func askedForEarly(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (root, main) = (bench.root, bench.main)
        let batch = try await bench.stack.newBatchOperationContext()
        let id = try await batch.perform {
            let note = batch.insertNote("new")
            try batch.obtainPermanentIDs(for: [note])
            return note.objectID
        }
        let early = try await root.perform { Kept(try #require(root.object(with: id) as? Note), []) }
        await root.perform { #expect(early.first.text == nil) }
        try await batch.perform { try batch.save() }
        await root.perform(schedule: .enqueued) { #expect(early.first.text == "new") }
        #expect(try await main.fetchedTexts() == ["new": 0])
    }

    @Test("tells main's observers of new objects a thousand a turn")
    func turns() async throws {
        let bench = try await Bench(.file)
        let main = bench.main
        let (counts, continuation) = AsyncStream<Int>.makeStream()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange,
            object: main,
            queue: nil
        ) { note in continuation.yield((note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0) }
        defer { NotificationCenter.default.removeObserver(observer) }
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            for number in 0..<2500 { batch.insertNote("\(number)") }
            try batch.save()
        }
        var seen: [Int] = []
        for await count in counts {
            seen.append(count)
            if seen.reduce(0, +) == 2500 { break }
        }
        #expect(seen == [1000, 1000, 500])
    }

    @Test("can be asked not to tell the stack", arguments: StackKind.allCases)
    func silent(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let main = bench.main
        await main.perform { _ = main.insertNote("n", 1) }
        try await main.saveToStore()
        let note = try await main.perform { Kept(try #require(try main.note("n")), []) }
        await main.perform { #expect(note.first.number == 1) }
        let batch = try await bench.stack.newBatchOperationContext(mergesIntoStack: false)
        try await batch.perform {
            try #require(try batch.note("n")).number = 2
            try batch.save()
        }
        await bench.root.perform {}
        await main.perform { #expect(note.first.number == 1) }
    }

    @Test("lets its values win over what was saved meanwhile", arguments: StackKind.allCases)
    func policy(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let main = bench.main
        await main.perform { _ = main.insertNote("n", 1) }
        try await main.saveToStore()
        let batch = try await bench.stack.newBatchOperationContext()
        let theirs = try await batch.perform { Kept(try #require(try batch.note("n")), []) }
        await batch.perform { theirs.first.number = 3 }
        try await main.perform { try #require(try main.note("n")).number = 2 }
        try await main.saveToStore()
        try await batch.perform { try batch.save() }
        #expect(try bench.stored() == ["n": 3])
    }

    @Test("is refused while the store's file is away, and makes no other in its place")
    func fileAway() async throws {
        let bench = try await Bench(.file)
        await bench.main.perform { _ = bench.main.insertNote("only in the log", 1) }
        try await bench.main.saveToStore()
        let away = bench.url.appendingPathExtension("away")
        try FileManager.default.moveItem(at: bench.url, to: away)
        await cocoaError(4) { _ = try await bench.stack.newBatchOperationContext() }
        #expect(!FileManager.default.fileExists(atPath: bench.url.path))
        try FileManager.default.moveItem(at: away, to: bench.url)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            batch.insertNote("behind", 2)
            try batch.save()
        }
        #expect(try bench.stored() == ["only in the log": 1, "behind": 2])
    }

    @Test("is refused where another store is in the place of the stack's")
    func otherStore() async throws {
        let (bench, other) = (try await Bench(.file), try await Bench(.file))
        await other.main.perform { _ = other.main.insertNote("other's", 1) }
        try await other.main.saveToStore()
        try await other.stack.close()
        try FileManager.default.removeItem(at: bench.url)
        try FileManager.default.moveItem(at: other.url, to: bench.url)
        await cocoaError(4) { _ = try await bench.stack.newBatchOperationContext() }
    }

    @Test("calls back on the queue that was asked for, failures too")
    func callback() async throws {
        let bench = try await Bench(.memory)
        let result: CoreDataStack.BatchContextResult = await withCheckedContinuation { continuation in
            bench.stack.newBatchOperationContext(on: .main) { result in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(returning: result)
            }
        }
        guard case .success = result else { throw CoreDataStack.Error.inMemoryStoreMissing }
        let coordinator = try #require(bench.root.persistentStoreCoordinator)
        try coordinator.remove(try #require(coordinator.persistentStores.first))
        await #expect(throws: CoreDataStack.Error.inMemoryStoreMissing) { try await bench.stack.newBatchOperationContext() }
    }
}

/// Objects that a test keeps alive between blocks of their context, where alone it uses them.
final class Kept: @unchecked Sendable {
    let first: Note
    let notes: [Note]
    init(_ first: Note, _ notes: [Note]) { (self.first, self.notes) = (first, notes) }
}
