import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("While a save that root has refused is on its way back,")
struct SaveOnItsWayBackTests {
    // * Two saves of main's wait in root, a duplicate and a worker's. While root writes the second, it has refused the first already.
    // => Whoever saves main to the store then is told of the first: main does not know of it yet.
    @Test("its context does not say of the next one that all is in the store", arguments: StackKind.allCases)
    func refusedAlready(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let (main, root, worker) = (bench.main, bench.root, bench.stack.newChildContext())
        let (answers, continuation) = AsyncStream<CoreDataStack.SaveResult>.makeStream()
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: root, queue: nil) { _ in
            main.saveContextToStore {
                continuation.yield($0)
                continuation.finish()
            }
            // Main has had its turn.
            main.performAndWait {}
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await root.perform {
            try main.performAndWait {
                main.insertNote("same")
                try main.save()
            }
            try worker.performAndWait {
                worker.insertNote("other")
                try worker.save()
            }
            try main.performAndWait { try main.save() }
        }
        let answer = try #require(await answers.first { _ in true })
        guard case .failure(let error) = answer else {
            Issue.record("a save that was refused counts as saved")
            return
        }
        #expect((error as NSError).code == NSManagedObjectConstraintMergeError)
        await main.perform { #expect(main.insertedObjects.map { ($0 as? Note)?.text } == ["same"]) }
        #expect(try bench.stored() == ["same": 1, "other": 0])
    }

    // * Root has refused it, and still writes what others have saved: nobody has it above, nor has it been sent back.
    @Test("a fault of its context's has the values that were saved, also before it was sent back", arguments: [false, true])
    func faultBeforehand(isFoundByID: Bool) async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let (main, root, worker) = (bench.main, bench.root, bench.stack.newChildContext())
        let read = Lock<[String?]>([])
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: root, queue: nil) { _ in
            worker.performAndWait {
                let notes = worker.registeredObjects.map { isFoundByID ? try? worker.existingObject(with: $0.objectID) : $0 }
                let texts = notes.map { ($0 as? Note)?.text }
                read.withLock { $0 = texts }
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await root.perform {
            try worker.performAndWait {
                worker.retainsRegisteredObjects = true
                worker.insertNote("same")
                try worker.save()
                try main.performAndWait { try main.save() }
                worker.insertNote("other")
                try worker.save()
                worker.refreshAllObjects()
            }
            try main.performAndWait { try main.save() }
        }
        try await bench.stack.flush(ignoring: 133021)
        #expect(read.withLock { Set($0) } == ["same", "other"])
        #expect(try bench.stored() == ["same": 1, "other": 0])
    }

    // * Main's queue is occupied when another worker hears of it, which has changes of its own.
    // => That one does not wait for main: with hundreds of workers, as many threads would, and nobody would be left to serve the main queue.
    @Test("contexts that have nothing to do with it do not wait for their parent")
    func unconcerned() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let (main, author, worker) = (bench.main, bench.stack.newChildContext(), bench.stack.newChildContext())
        let (isOver, hasWaited) = (DispatchSemaphore(value: 0), Lock(false))
        try await onNewThread {
            try worker.performAndWait {
                worker.insertNote("other")
                try author.performAndWait {
                    author.insertNote("same")
                    try author.save()
                }
                while worker.children.withLock({ $0.saves.returned.isEmpty }) { sched_yield() }
                main.perform { if isOver.wait(timeout: .now() + 10) == .timedOut { hasWaited.withLock { $0 = true } } }
                worker.acceptReturnedSaves()
                isOver.signal()
            }
        }
        try await worker.saveToStore()
        #expect(!hasWaited.withLock { $0 })
        #expect(try bench.stored() == ["same": 1, "other": 0])
    }
}
