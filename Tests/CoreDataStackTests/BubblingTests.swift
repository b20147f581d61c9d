import CoreData
import CoreDataStack
import Foundation
import Testing

@Suite("Saves of a stack")
struct BubblingTests {
    @Test("of a worker bubble through main and root into the store", arguments: StackKind.allCases)
    func worker(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let worker = bench.stack.newChildContext()
        try await bench.saving(of: bench.root) {
            try await worker.perform {
                worker.insertNote("hello", 7)
                try worker.save()
            }
        }
        #expect(try bench.stored() == ["hello": 7])
        #expect(try await bench.main.fetchedTexts() == ["hello": 7])
        await bench.main.perform { [main = bench.main] in #expect(!main.hasChanges) }
    }

    @Test("go on though the stack itself is gone", arguments: StackKind.allCases)
    func outlives(_ kind: StackKind) async throws {
        var stack: CoreDataStack? = try CoreDataStack.constructInMemoryStack(model: NoteModel.make())
        let worker = try #require(stack?.newChildContext())
        stack = nil
        let root = try #require(worker.parent?.parent)
        let (saves, continuation) = AsyncStream<Void>.makeStream()
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: root, queue: nil) { _ in
            continuation.yield()
        }
        try await worker.perform {
            worker.insertNote("orphan")
            try worker.save()
        }
        for await _ in saves { break }
        NotificationCenter.default.removeObserver(observer)
        #expect(try await root.fetchedTexts() == ["orphan": 0])
    }

    @Test("that wait for the store end when it has the changes", arguments: StackKind.allCases)
    func toStore(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let worker = bench.stack.newChildContext()
        try await worker.perform {
            worker.insertNote("a")
            try worker.saveContextToStoreAndWait()
        }
        #expect(try bench.stored() == ["a": 0])
        await worker.perform { _ = worker.insertNote("b") }
        try await worker.saveToStore()
        #expect(try bench.stored() == ["a": 0, "b": 0])
        await worker.perform { _ = worker.insertNote("c") }
        try await worker.saveContext()
        #expect(try bench.stored().count == 3)
        await worker.perform { _ = worker.insertNote("d") }
        let first = await withCheckedContinuation { continuation in worker.saveContext { continuation.resume(returning: $0) } }
        guard case .success = first else { throw NoSuccess() }
        #expect(try bench.stored().count == 4)
        await worker.perform { _ = worker.insertNote("e") }
        let second = await withCheckedContinuation { continuation in worker.saveContextToStore { continuation.resume(returning: $0) } }
        guard case .success = second else { throw NoSuccess() }
        #expect(try bench.stored().count == 5)
    }

    @Test("to the store walk every layer, also where one has no changes", arguments: StackKind.allCases)
    func walks(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        await bench.root.perform { [root = bench.root] in _ = root.insertNote("in root") }
        try await bench.stack.newChildContext().saveToStore()
        #expect(try bench.stored() == ["in root": 0])
    }

    @Test("report what fails in main or root to whoever waits for the store, whose own changes are there", arguments: StackKind.allCases)
    func errorsToCaller(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let worker = bench.stack.newChildContext()
        for broken in [bench.main, bench.root] {
            // A note without its mandatory text makes this layer fail, and none below.
            let bad = await broken.perform { broken.insertNote(nil).objectID }
            await worker.perform { _ = worker.insertNote("good") }
            await #expect { try await worker.saveToStore() } throws: { ($0 as? CocoaError)?.code == .init(rawValue: 1570) }
            let result = await withCheckedContinuation { continuation in
                worker.saveContextToStore { continuation.resume(returning: $0) }
            }
            guard case .failure = result else { throw NoSuccess() }
            #expect(try bench.stored() == ["good": 0])
            await broken.perform { broken.delete(broken.object(with: bad)) }
            try await worker.saveToStore()
        }
        #expect(try bench.stored() == ["good": 0])
    }

    @Test("that nobody waits for report what fails above to saveErrors, and keep only that from the store", arguments: StackKind.allCases)
    func errorsToStream(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        await bench.root.perform { [root = bench.root] in _ = root.insertNote(nil) }
        let worker = bench.stack.newChildContext()
        try await worker.perform {
            worker.insertNote("good")
            try worker.saveContextAndWait()
            #expect(!worker.hasChanges)
        }
        let error = await errors.next()
        #expect((error as? CocoaError)?.code == .init(rawValue: 1570))
        #expect(try bench.stored() == ["good": 0])
        await bench.root.perform { [root = bench.root] in #expect(root.insertedObjects.count == 1) }
    }

    @Test("complete on the context's own queue")
    func completionQueue() async throws {
        let bench = try await Bench(.memory)
        let worker = bench.stack.newChildContext()
        await worker.perform { _ = worker.insertNote("a") }
        await withCheckedContinuation { continuation in
            worker.saveContext { _ in
                // A debug build stops here when it is another queue.
                #expect(!worker.hasChanges)
                continuation.resume()
            }
        }
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("b") }
        await withCheckedContinuation { continuation in
            bench.main.saveContextToStore { _ in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume()
            }
        }
    }

    @Test("of eight workers at once all arrive", arguments: StackKind.allCases)
    func many(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                let worker = bench.stack.newChildContext()
                group.addTask {
                    for round in 0..<20 {
                        try await worker.perform(schedule: .enqueued) {
                            worker.insertNote("\(number)/\(round)", Int64(number))
                            try worker.save()
                        }
                    }
                    try await worker.saveToStore()
                }
            }
            try await group.waitForAll()
        }
        try await bench.main.saveToStore()
        #expect(try bench.stored().count == 160)
    }

    private struct NoSuccess: Error {}
}
