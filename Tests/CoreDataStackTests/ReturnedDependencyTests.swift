import CoreDataStack
import Foundation
import Testing

@testable import CoreData

/// A folder with a note of which the store refuses the text, saved by one worker; another relates a note to the folder meanwhile.
@Suite("A save that refers to what has gone back", .timeLimit(.minutes(20)))
struct ReturnedDependencyTests {
    // * The other one has found the folder in time, and saves when main and root have nothing of it any more.
    // => The save throws the reason. The note is unsaved, without a folder, and can be saved.
    @Test("is refused where that is known by then, whether it refers to it or changes just that", arguments: [false, true], [false, true])
    func late(isEdited: Bool, isRead: Bool) async throws {
        try await whenFolderHasGoneBack(isRead: isRead) { other, folder in
            let note = other.insertNote("of the other")
            if isEdited { folder.name = "edited" } else { note.folder = folder }
            #expect(cocoaErrorCode { try other.save() } == 133021)
        }
    }

    // * The other has found the folder in time, and fetches, in the same block, when main and root have nothing of it any more.
    // => The folder has left the context under the program's hands. Relating something to it, at either end, comes to nothing.
    @Test("loses what is related to it afterwards, in plain sight")
    func inOneBlock() async throws {
        try await whenFolderHasGoneBack { other, folder in
            _ = try other.fetch(NSFetchRequest<Note>(entityName: "Note"))
            #expect(folder.managedObjectContext == nil)
            let note = other.insertNote("of the other")
            note.folder = folder
            #expect(note.folder == nil)
            folder.notes = [note]
            folder.notes.insert(note)
            #expect(!folder.notes.contains(note) && note.folder == nil)
        }
    }

    /// Runs `body`, which leaves a note unsaved, in the very block in which another context has found the folder; then that note can be saved.
    private func whenFolderHasGoneBack(
        isRead: Bool = true,
        _ body: @escaping @Sendable (NSManagedObjectContext, Folder) throws -> Void
    ) async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let (author, other) = (bench.stack.newChildContext(), bench.stack.newChildContext())
        let (hasFound, isOver) = (AsyncStream<Void>.makeStream(), AsyncThrowingStream<Void, any Error>.makeStream())
        let isBack = DispatchSemaphore(value: 0)
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        try await bench.whileRootWrites(true) {
            try await author.saveDuplicateInFolder()
            Thread.detachNewThread {
                let result = Result {
                    try other.performAndWait {
                        defer { hasFound.continuation.finish() }
                        let request = NSFetchRequest<Folder>(entityName: "Folder")
                        request.predicate = NSPredicate(format: "name == %@", "of the duplicate")
                        let folder = try #require(try other.fetch(request).first)
                        if isRead { #expect(folder.name == "of the duplicate") }
                        #expect(folder.isFault != isRead)
                        hasFound.continuation.finish()
                        isBack.wait()
                        try body(other, folder)
                    }
                }
                isOver.continuation.finish(throwing: result.failure)
            }
            for await _ in hasFound.stream {}
        }
        await cocoaError(133021) { if let error = await errors.next() { throw error } }
        isBack.signal()
        for try await _ in isOver.stream {}
        await bench.settle()
        try await other.expectLonely("of the other")
        try await bench.expectClean(["same": 1])
        try await other.saveToStore()
        try await bench.expectClean(["same": 1, "of the other": 0])
    }

    // * The other has saved into main, which begins to save into root, when root gives the folder back.
    // => The other's save goes back as well.
    @Test("goes back from a layer that was about to save it")
    func onTheWay() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let (main, author, other) = (bench.main, bench.stack.newChildContext(), bench.stack.newChildContext())
        let isHeld = Lock(false)
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextWillSave, object: main, queue: nil) { _ in
            guard
                isHeld.withLock({ isHeld in
                    defer { isHeld = false }; return isHeld
                })
            else { return }
            while main.children.withLock({ $0.saves.returned.isEmpty }) { sched_yield() }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        try await bench.whileRootWrites(true) {
            try await author.saveDuplicateInFolder()
            await main.perform { isHeld.withLock { $0 = true } }
            try await other.perform {
                let folder = try #require(try other.fetch(NSFetchRequest<Folder>()).first { $0.name == "of the duplicate" })
                other.insertNote("of the other").folder = folder
                try other.save()
            }
        }
        for _ in 0..<2 { await cocoaError(133021) { if let error = await errors.next() { throw error } } }
        await bench.settle()
        try await other.expectLonely("of the other")
        try await bench.expectClean(["same": 1])
        try await other.saveToStore()
        try await bench.expectClean(["same": 1, "of the other": 0])
    }

    // * The author goes on with what he has saved, and saves that too, before the first save is refused.
    // => All of it is unsaved again, and can be saved once it is mended.
    @Test("comes back with it, as one", arguments: ["changed", "related", "both"])
    func goneOn(_ how: String) async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let worker = bench.stack.newChildContext()
        try await bench.whileRootWrites(true) {
            try await worker.perform {
                let note = worker.insertNote("same", 2)
                try worker.save()
                if how != "related" { note.number = 9 }
                if how != "changed" {
                    note.folder = Folder(context: worker)
                    note.folder?.name = "later"
                }
                try worker.save()
            }
        }
        try await bench.stack.flush(ignoring: 133021)
        try await bench.expectClean(["same": 1])
        await worker.perform {
            let notes = worker.insertedObjects.compactMap { $0 as? Note }
            #expect(notes.map(\.text) == ["same"] && notes.first?.number == (how == "related" ? 2 : 9))
            #expect(notes.first?.folder?.name == (how == "changed" ? nil : "later"))
            notes.first?.text = "mended"
        }
        try await worker.saveToStore()
        try await bench.expectClean(["same": 1, "mended": how == "related" ? 2 : 9])
        let folder = try bench.read { context in try context.note("mended")?.folder?.name }
        #expect(folder == (how == "changed" ? nil : "later"))
    }

    // * The author changes what he has saved, and saves that, while root finds out that it cannot be saved.
    // => All of it is unsaved again, and can be saved once it is mended.
    @Test("comes back with it, though root is about to give it back when it is asked")
    func askedMeanwhile() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let (root, worker, other) = (bench.root, bench.stack.newChildContext(), bench.stack.newChildContext())
        // From then on it is looked for what has gone back.
        try await other.saveDuplicateInFolder()
        try await bench.stack.flush(ignoring: 133021)
        let (attempts, isOver) = (Lock(0), DispatchSemaphore(value: 0))
        await worker.perform { _ = worker.insertNote("same", 2) }
        // All at once is the first attempt; in the second, which is about this save alone, nobody is let in.
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextWillSave, object: root, queue: nil) { _ in
            guard root.insertedObjects.contains(where: { ($0 as? Note)?.text == "same" }) else { return }
            let isSecond = attempts.withLock { attempts in
                attempts += 1
                return attempts == 2
            }
            guard isSecond else { return }
            worker.perform {
                #expect(cocoaErrorCode { try worker.save() } == 133021)
                isOver.signal()
            }
            // Until main waits for root, unless it has heard of what has gone back before.
            for _ in 0..<100_000 where WaitGraph.mutex.withLock({ root.queue.entries.isEmpty }) { sched_yield() }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await bench.whileRootWrites(true) {
            try await worker.perform {
                let note = worker.insertedObjects.first as? Note
                try worker.save()
                worker.insertNote("good")
                try worker.save()
                note?.number = 9
            }
        }
        try await bench.stack.flush(ignoring: 133021)
        // Where main has brought the saves one by one, there was one attempt for each.
        if attempts.withLock({ $0 > 1 }) { try await onNewThread { isOver.wait() } }
        try await bench.stack.flush(ignoring: 133021)
        try await bench.expectClean(["same": 1, "good": 0])
        await worker.perform {
            let notes = worker.insertedObjects.compactMap { $0 as? Note }
            #expect(notes.map(\.text) == ["same"] && notes.first?.number == 9 && worker.deletedObjects.isEmpty)
            notes.first?.text = "mended"
        }
        try await worker.saveToStore()
        try await bench.expectClean(["same": 1, "good": 0, "mended": 9])
    }

    // * The author goes on with an object that was there before, and deletes another one that he has just saved, before that save is refused.
    // => What he saved last is in the store, and stays. Only the rest of the refused save is unsaved again.
    @Test("leaves alone what was saved since")
    func overtaken() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let worker = bench.stack.newChildContext()
        await worker.perform { _ = worker.insertNote("there before", 1) }
        try await worker.saveToStore()
        try await bench.whileRootWrites(true) {
            try await worker.perform {
                let (old, new) = (try #require(try worker.note("there before")), worker.insertNote("for a moment"))
                worker.insertNote("same", 2)
                old.number = 2
                try worker.save()
                old.number = 3
                worker.delete(new)
                try worker.save()
            }
        }
        try await bench.stack.flush(ignoring: 133021)
        try await bench.expectClean(["same": 1, "there before": 3])
        try await worker.perform {
            let texts = try worker.texts()
            #expect(texts == ["same": 2, "there before": 3])
            #expect(worker.insertedObjects.count == 1 && worker.updatedObjects.isEmpty && worker.deletedObjects.isEmpty)
            for case let note as Note in worker.insertedObjects { note.text = "mended" }
        }
        try await worker.saveToStore()
        try await bench.expectClean(["same": 1, "there before": 3, "mended": 2])
    }

    // * Main changes an object, and a worker changes it again; that goes up with a save of main's. Both saves are refused.
    // => Each has its own change again, as nothing of the other's is in the store.
    @Test("does not count what came back to another context as saved since")
    func bothRefused() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        await worker.perform { _ = worker.insertNote("there before", 1) }
        try await worker.saveToStore()
        try await bench.whileRootWrites(true) {
            for (context, number) in [(main, Int64(2)), (worker, 3)] {
                try await context.perform {
                    try #require(try context.note("there before")).number = number
                    context.insertNote("same", number)
                    try context.save()
                }
            }
            try await main.perform { try main.save() }
        }
        try await bench.stack.flush(ignoring: 133021)
        for (context, number) in [(main, Int64(2)), (worker, 3)] {
            try await context.perform {
                let note = try context.note("there before")
                #expect(note?.number == number)
                #expect(context.insertedObjects.count == 1 && context.updatedObjects.count == 1)
            }
        }
    }

    // * Who observes a save saves the same context, in a form that waits for the store too.
    @Test("is told to whoever waits for it, though an observer saves again meanwhile")
    func observer() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let worker = bench.stack.newChildContext()
        let isFirst = Lock(true)
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: worker, queue: nil) { _ in
            guard
                isFirst.withLock({ isFirst in
                    defer { isFirst = false }; return isFirst
                })
            else { return }
            worker.insertNote("log")
            try? worker.saveContextToStoreAndWait()
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await onNewThread {
            worker.performAndWait {
                worker.insertNote("same", 2)
                #expect(cocoaErrorCode { try worker.saveContextToStoreAndWait() } == 133021)
                #expect(worker.insertedObjects.count == 1)
            }
        }
        try await bench.expectClean(["same": 1, "log": 0])
    }

    // * The author mends the text and saves again; another relates a note to the folder then.
    // => All of it is in the store.
    @Test("stays once that was saved again")
    func again() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let (author, other) = (bench.stack.newChildContext(), bench.stack.newChildContext())
        try await author.saveDuplicateInFolder()
        try await bench.stack.flush(ignoring: 133021)
        try await bench.whileRootWrites(true) {
            try await author.perform {
                for case let note as Note in author.insertedObjects { note.text = "mended" }
                try author.save()
            }
            try await other.perform {
                let folder = try #require(try other.fetch(NSFetchRequest<Folder>()).first { $0.name == "of the duplicate" })
                other.insertNote("of the other").folder = folder
                try other.save()
            }
        }
        try await bench.stack.flush()
        try await bench.expectClean(["same": 1, "mended": 2, "of the other": 0])
        let members = try bench.read { context in try context.note("of the other")?.folder?.notes.count }
        #expect(members == 2)
    }
}

extension NSManagedObjectContext {
    fileprivate func saveDuplicateInFolder() async throws {
        try await perform { [self] in
            let note = insertNote("same", 2)
            note.folder = Folder(context: self)
            note.folder?.name = "of the duplicate"
            try save()
        }
    }

    /// A new note is all that is unsaved, and it is in no folder.
    fileprivate func expectLonely(_ text: String) async throws {
        await perform { [self] in
            #expect(insertedObjects.compactMap { ($0 as? Note)?.text } == [text] && updatedObjects.isEmpty && deletedObjects.isEmpty)
            #expect(insertedObjects.allSatisfy { ($0 as? Note)?.folder == nil })
        }
    }
}

private func cocoaErrorCode(_ body: () throws -> Void) -> Int? {
    do { try body() } catch { return (error as? CocoaError)?.errorCode }
    return nil
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
