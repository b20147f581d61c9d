import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("A reset of the stack among others who use it", .timeLimit(.minutes(20)))
struct ResetRaceTests {
    // * More tasks than there are cores try a refused save again and again, without a pause.
    // => The reset ends long before they have tried as often as they would.
    @Test("ends while tasks try again without a pause", arguments: [false, true])
    func impatientTasks(batches: Bool) async throws {
        let bench = try await Bench(.file)
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 2 {
                let worker = bench.stack.newChildContext()
                group.addTask { [stack = bench.stack] in
                    for _ in 0..<1_000_000 where !isOver.isSet {
                        do {
                            if batches {
                                try await stack.executeBatch(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Note")))
                            } else {
                                try await worker.saveToStore()
                            }
                        } catch CoreDataStack.Error.storeWasReset {}
                    }
                    return isOver.isSet
                }
            }
            for _ in 0..<10 { try await bench.stack.resetStore() }
            isOver.set()
            for try await hasSeenTheEnd in group { #expect(hasSeenTheEnd, "The reset has waited for the tasks.") }
        }
    }

    // * Eight workers save one note after the other, in all forms, and go on after an error. The store is reset in between.
    // => Each of them gets storeWasReset from some save on, and nothing but that; nothing of theirs is in the new store.
    @Test("leaves nothing of older workers in the new store, however long they go on trying", arguments: StackKind.allCases)
    func oldWorkers(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (started, continuation) = AsyncStream<Void>.makeStream()
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                let worker = bench.stack.newChildContext()
                group.addTask {
                    var wasRefused = false
                    var round = 0
                    while true {
                        let isLast = isOver.isSet
                        await worker.perform(schedule: .enqueued) { [round] in _ = worker.insertNote("\(number)/\(round)") }
                        do {
                            try await SaveForm.allCases[round % SaveForm.allCases.count].save(worker)
                            #expect(!wasRefused, "A save succeeded after one that was refused.")
                        } catch CoreDataStack.Error.storeWasReset {
                            wasRefused = true
                        }
                        if round == 0 { continuation.yield() }
                        if isLast { return wasRefused }
                        round += 1
                    }
                }
            }
            var count = 0
            for await _ in started {
                count += 1
                if count == 8 { break }
            }
            try await bench.stack.resetStore()
            #expect(try bench.stored().isEmpty)
            await bench.main.perform { [main = bench.main] in _ = main.insertNote("new") }
            try await bench.main.saveToStore()
            isOver.set()
            for try await wasRefused in group { #expect(wasRefused) }
        }
        await bench.settle()
        #expect(try bench.stored() == ["new": 0])
        #expect(try await bench.main.fetchedTexts() == ["new": 0])
    }

    // * A reset waits for root's queue. A worker that it has left behind makes another meanwhile, which may know what is gone.
    // => That one is left behind from its beginning, too: what it changes is refused, and in nobody's way.
    @Test("leaves contexts behind that were made during it", arguments: StackKind.allCases)
    func madeMeanwhile(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (isHeld, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        defer { isOver.signal() }
        let before = bench.stack.newChildContext()
        func hold(_ context: NSManagedObjectContext) {
            context.perform {
                isHeld.signal()
                isOver.wait()
            }
        }
        hold(bench.root)
        try await onNewThread { isHeld.wait() }
        async let reset: Void = bench.stack.resetStore()
        while before.parentLink?.isCut == false { await Task.yield() }
        let straggler = bench.stack.newChildContext()
        #expect(straggler.parentLink?.isCut == true)
        isOver.signal()
        try await reset
        await #expect(throws: CoreDataStack.Error.storeWasReset) { try await straggler.fetchedTexts() }
        await straggler.perform { _ = straggler.insertNote("straggler's") }
        await #expect(throws: CoreDataStack.Error.storeWasReset) { try await straggler.saveToStore() }
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("new") }
        try await bench.main.saveToStore()
        #expect(try bench.stored() == ["new": 0])
    }

    @Test("keeps nobody from saving because somebody changes what is gone", arguments: StackKind.allCases)
    func gone(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("old") }
        try await bench.main.saveToStore()
        // No reset knows of this one.
        let editor = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        editor.parent = bench.main
        let old = try await editor.perform { Kept(try #require(try editor.note("old")), []) }
        try await bench.stack.resetStore()
        await editor.perform {
            old.first.number = 7
            editor.insertNote("editor's")
        }
        await cocoaError(134070) { try await editor.saveToStore() }
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("new") }
        try await bench.main.saveToStore()
        #expect(try bench.stored() == ["new": 0])
        await editor.perform { #expect(editor.updatedObjects == [old.first] && editor.insertedObjects.count == 1) }
    }

    @Test("refuses a second one meanwhile; what is asked for after it is done again", arguments: StackKind.allCases)
    func twoAtOnce(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        for _ in 0..<20 {
            await bench.main.perform { [main = bench.main] in _ = main.insertNote("old") }
            try await bench.main.saveToStore()
            let results = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        do { try await bench.stack.resetStore() } catch CoreDataStack.Error.storeWasReset { return false } catch {
                            Issue.record("\(error)")
                        }
                        return true
                    }
                }
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(results.contains(true))
            #expect(try bench.stored().isEmpty)
            #expect(try await bench.main.fetchedTexts().isEmpty)
        }
    }

    @Test("refuses what an open batch context has not saved, in every form", arguments: StackKind.allCases)
    func openBatch(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let main = bench.main
        await main.perform { _ = main.insertNote("old") }
        try await main.saveToStore()
        let batch = try await bench.stack.newBatchOperationContext()
        let old = try await batch.perform {
            batch.insertNote("unsaved")
            return Kept(try #require(try batch.note("old")), [])
        }
        try await bench.stack.resetStore()
        await batch.perform {
            // It can still look at what it has.
            #expect(old.first.text == "old" || old.first.text == nil)
            old.first.number = 1
            #expect(batch.insertedObjects.count == 1)
            #expect(throws: CoreDataStack.Error.storeWasReset) { try batch.save() }
            #expect(throws: CoreDataStack.Error.storeWasReset) { try batch.count(for: NSFetchRequest<Note>()) }
        }
        for form in SaveForm.allCases {
            await #expect(throws: CoreDataStack.Error.storeWasReset, "\(form)") { try await form.save(batch) }
        }
        #expect(try bench.stored().isEmpty)
        let next = try await bench.stack.newBatchOperationContext()
        try await next.perform {
            next.insertNote("next")
            try next.save()
        }
        await bench.settle()
        #expect(try await main.fetchedTexts() == ["next": 0])
    }

    @Test("leaves objects of older workers without harm: they can be read, changed, deleted and released", arguments: StackKind.allCases)
    func oldObjects(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let main = bench.main
        await main.perform {
            let folder = Folder(context: main)
            for number in 0..<10 { main.insertNote("\(number)").folder = folder }
        }
        try await main.saveToStore()
        let worker = bench.stack.newChildContext()
        let fetch: @Sendable (NSManagedObjectContext) throws -> Kept = { context in
            let notes = try context.fetch(NSFetchRequest<Note>())
            return Kept(notes[0], notes)
        }
        let mine = try await main.perform { try fetch(main) }
        var kept: Kept? = try await worker.perform { try fetch(worker) }
        try await bench.stack.resetStore()
        await main.perform { #expect(mine.notes.allSatisfy { $0.managedObjectContext == nil }) }
        await worker.perform { [kept] in
            for note in kept?.notes ?? [] {
                _ = (note.text, note.folder?.name, note.folder?.notes.count, note.description)
                note.text = "changed"
            }
            if let note = kept?.first { worker.delete(note) }
        }
        await #expect(throws: CoreDataStack.Error.storeWasReset) { try await worker.saveToStore() }
        kept = nil
        try await main.saveToStore()
        #expect(try bench.stored().isEmpty)
    }

    // * Root and main fetch and count, again and again, while the store is reset.
    // => Each time they find the old rows, or none, and never an error.
    @Test("leaves root and main what they can read at any moment", arguments: StackKind.allCases)
    func readers(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let main = bench.main
        for _ in 0..<30 {
            await main.perform { for number in 0..<20 { _ = main.insertNote("\(number)") } }
            try await main.saveToStore()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await bench.stack.resetStore() }
                for context in [main, bench.root] {
                    group.addTask {
                        for _ in 0..<20 {
                            let counts = try await context.perform {
                                let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Note")
                                dictionaries.resultType = .dictionaryResultType
                                return try [
                                    context.fetch(NSFetchRequest<Note>()).count, context.count(for: NSFetchRequest<Note>()),
                                    context.fetch(dictionaries).count,
                                ]
                            }
                            #expect(counts.allSatisfy { $0 == 0 || $0 == 20 })
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    // * The stack is let go of while a reset is under way, and its contexts are used.
    @Test("goes on though the stack is let go of meanwhile", arguments: StackKind.allCases)
    func released(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let url = bench.url.appendingPathExtension("own")
        var stack: CoreDataStack? =
            switch kind {
            case .file: try await CoreDataStack.constructSQLiteStack(model: NoteModel.make(), at: url)
            case .memory: try CoreDataStack.constructInMemoryStack(model: NoteModel.make())
            }
        weak let released = stack
        let worker = try #require(stack?.newChildContext())
        let main = try #require(worker.parent)
        await main.perform { _ = main.insertNote("old") }
        try await main.saveToStore()
        let result: CoreDataStack.ResetResult = await withCheckedContinuation { continuation in
            stack?.resetStore { continuation.resume(returning: $0) }
            stack = nil
        }
        if case .failure(let error) = result { throw error }
        while released != nil { await Task.yield() }
        await #expect(throws: CoreDataStack.Error.storeWasReset) { try await worker.fetchedTexts() }
        await main.perform { _ = main.insertNote("new") }
        try await main.saveToStore()
        #expect(try await main.fetchedTexts() == ["new": 0])
    }
}

/// Set once, by whoever says that it is enough.
private final class Flag: @unchecked Sendable {
    // The lock orders every access.
    private let lock = NSLock()
    private var value = false
    var isSet: Bool { lock.withLock { value } }
    func set() { lock.withLock { value = true } }
}
