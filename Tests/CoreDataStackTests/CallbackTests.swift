import CoreDataStack
import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("Callbacks come exactly once, on the right queue:", .timeLimit(.minutes(20)))
struct CallbackTests {
    /// The forms of a save that call back.
    enum Form: CaseIterable { case saveContext, saveContextToStore }

    @Test("of saves that succeed, and of those with nothing to save", arguments: Form.allCases, StackKind.allCases)
    func success(_ form: Form, _ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        for context in [bench.stack.newChildContext(), bench.main, bench.root] {
            await context.perform { _ = context.insertNote("n") }
            #expect(await answers(form, context, bench) == ["success"])
            #expect(await answers(form, context, bench) == ["success"])
        }
        #expect(try bench.stored().count == 1)
    }

    @Test("of saves that fail in this layer, or in one above", arguments: Form.allCases, StackKind.allCases)
    func failures(_ form: Form, _ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let worker = bench.stack.newChildContext()
        for broken in [bench.root, bench.main, worker] {
            _ = await broken.perform { broken.insertNote(nil) }
            await worker.perform { _ = worker.insertNote("good") }
            #expect(await answers(form, worker, bench) == ["1570"])
            await broken.perform { for note in broken.insertedObjects where (note as? Note)?.text == nil { broken.delete(note) } }
        }
        try await bench.sqliteStore.readOnly {
            await worker.perform { _ = worker.insertNote("good") }
            #expect(await answers(form, worker, bench) == ["513"])
        }
        #expect(await answers(.saveContextToStore, worker, bench) == ["success"])
        #expect(try bench.stored() == ["good": 0])
    }

    @Test("of saves during a reset, and of contexts from before it", arguments: Form.allCases)
    func reset(_ form: Form) async throws {
        let bench = try await Bench(.file, options: [NSPersistentStoreTimeoutOption: 1000.0])
        let (main, worker, late) = (bench.main, bench.stack.newChildContext(), bench.stack.newChildContext())
        // A save that cannot end keeps the reset from going on.
        let lock = try ForeignLock(bench.url)
        try await worker.perform {
            worker.insertNote("old")
            try worker.save()
        }
        let begun = Task { try await bench.stack.resetStore() }
        await bench.untilClosed()
        for context in [main, late] {
            await context.perform { _ = context.insertNote("refused") }
            #expect(await answers(form, context, bench, settles: false) == ["storeWasReset"])
        }
        try lock.release()
        try await begun.value
        await late.perform { _ = late.insertNote("late") }
        for context in [worker, late] { #expect(await answers(form, context, bench) == ["storeWasReset"]) }
        await main.perform { _ = main.insertNote("new") }
        #expect(await answers(form, main, bench) == ["success"])
        #expect(try bench.stored() == ["new": 0])
    }

    @Test("of a context that nobody holds any more", arguments: Form.allCases)
    func released(_ form: Form) async throws {
        let bench = try await Bench(.memory)
        let answers = Answers()
        var worker: NSManagedObjectContext? = bench.stack.newChildContext()
        await worker?.perform { [worker] in _ = worker?.insertNote("kept") }
        if let worker { answers.start(form, worker) }
        worker = nil
        await answers.first()
        await bench.settle()
        #expect(answers.all == ["success"])
        #expect(try bench.stored() == ["kept": 0])
    }

    @Test("none is needed: then errors come to saveErrors", arguments: Form.allCases)
    func without(_ form: Form) async throws {
        let bench = try await Bench(.memory)
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        let worker = bench.stack.newChildContext()
        for context in [worker, bench.main, bench.root] {
            await context.perform { _ = context.insertNote(nil) }
            start(form, context)
            await cocoaError(1570) { if let error = await errors.next() { throw error } }
            await context.perform { context.rollback() }
        }
    }

    @Test(
        "of making stacks, coordinators and batch contexts, and of resets",
        arguments: [nil, DispatchQueue.main, DispatchQueue(label: "own")]
    )
    func others(_ queue: DispatchQueue?) async throws {
        let bench = try await Bench(.file)
        let model = NoteModel.make()
        let (good, bad) = (bench.folder.file("x/Good.sqlite"), bench.url.appendingPathComponent("below a file/Bad.sqlite"))
        for url in [good, bad] {
            let answers = Answers(queue)
            CoreDataStack.constructSQLiteStack(model: model, at: url, on: queue) { answers.add($0) }
            await answers.first()
            #expect(answers.all == [url == good ? "success" : "unableToCreateStore"])
        }
        for url in [good, bad] {
            let answers = Answers()
            NSPersistentStoreCoordinator.setupSQLiteBackedCoordinator(model, storeFileURL: url) { answers.add($0) }
            await answers.first()
            #expect(answers.all == [url == good ? "success" : "134080"])
        }
        for isThere in [true, false] {
            for doing in 0..<2 {
                let answers = Answers(queue)
                if doing == 0 {
                    bench.stack.newBatchOperationContext(on: queue) { answers.add($0) }
                } else {
                    bench.stack.resetStore(on: queue) { answers.add($0) }
                }
                await answers.first()
                await bench.settle()
                #expect(answers.all == [isThere ? "success" : "storeNotFound"])
            }
            if isThere { try bench.root.persistentStoreCoordinator?.remove(try bench.sqliteStore) }
        }
    }
}

extension CallbackTests {
    /// What a save says, once all queues have had time to say it again.
    private func answers(_ form: Form, _ context: NSManagedObjectContext, _ bench: Bench, settles: Bool = true) async -> [String] {
        let answers = Answers()
        answers.start(form, context)
        await answers.first()
        if settles { await bench.settle() }
        await context.perform(schedule: .enqueued) {}
        return answers.all
    }

    /// NB: in an async function the awaited forms would be meant.
    private func start(_ form: Form, _ context: NSManagedObjectContext) {
        switch form {
        case .saveContext: context.saveContext()
        case .saveContextToStore: context.saveContextToStore()
        }
    }

    /// Returns when a reset has begun: it refuses a save that would do nothing.
}

extension Bench {
    /// Waits until the stack lets no save begin.
    func untilClosed() async {
        let probe = stack.newChildContext()
        while await probe.perform({ (try? probe.save()) != nil }) { await Task.yield() }
    }
}

/// Answers as texts, in the order in which they come.
private final class Answers: @unchecked Sendable {
    // The lock orders every access.
    private let lock = NSLock()
    private var texts: [String] = []
    private let queue: DispatchQueue?
    private let (stream, continuation) = AsyncStream<Void>.makeStream()

    /// - Parameter queue: where they must come.
    init(_ queue: DispatchQueue? = nil) { self.queue = queue }

    var all: [String] { lock.withLock { texts } }

    func first() async { for await _ in stream { return } }

    func start(_ form: CallbackTests.Form, _ context: NSManagedObjectContext) {
        let completion: CoreDataStack.SaveCompletion = { [contextQueue = context.queue] result in
            #expect(contextQueue.isCurrent)
            self.note(result)
        }
        switch form {
        case .saveContext: context.saveContext(completion)
        case .saveContextToStore: context.saveContextToStore(completion)
        }
    }

    func add(_ result: Any) {
        if let queue { dispatchPrecondition(condition: .onQueue(queue)) } else { dispatchPrecondition(condition: .notOnQueue(.main)) }
        note(result)
    }

    private func note(_ result: Any) {
        let text =
            switch result {
            case CoreDataStack.SuccessResult.failure(let error), CoreDataStack.SetupResult.failure(let error),
                CoreDataStack.BatchContextResult.failure(let error), CoreDataStack.CoordinatorResult.failure(let error):
                Self.name(of: error)
            default: "success"
            }
        lock.withLock { texts.append(text) }
        continuation.yield()
    }

    private static func name(of error: any Error) -> String {
        if let error = error as? CocoaError { return "\(error.errorCode)" }
        return "\(error)".prefix { $0 != "(" }.description
    }
}

extension SQLiteStore {
    /// Runs `body` while the database cannot be written.
    func readOnly(_ body: () async throws -> Void) async throws {
        try pool.write { try $0.execute("PRAGMA query_only = 1") }
        try await body()
        try pool.write { try $0.execute("PRAGMA query_only = 0") }
    }
}
