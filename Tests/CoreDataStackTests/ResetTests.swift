import CoreData
import CoreDataStack
import Foundation
import SQLiteDriver
import Testing

@Suite("A reset of the stack")
struct ResetTests {
    @Test("leaves an empty stack that works: same root, same main, no objects", arguments: StackKind.allCases)
    func reset(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (root, main) = (bench.root, bench.main)
        let worker = bench.stack.newChildContext()
        await worker.perform { for number in 0..<100 { worker.insertNote("secret \(number)") } }
        try await worker.saveToStore()
        let old = try await main.perform { try #require(try main.note("secret 1")).objectID }
        try await bench.stack.resetStore()
        #expect(bench.root === root && bench.main === main)
        #expect(try bench.stored().isEmpty)
        #expect(try await main.fetchedTexts().isEmpty)
        await main.perform {
            #expect(main.registeredObjects.isEmpty)
            #expect(throws: CocoaError.self) { try main.existingObject(with: old) }
            main.insertNote("fresh")
        }
        try await main.saveToStore()
        #expect(try bench.stored() == ["fresh": 0])
        await main.perform { _ = #expect(throws: CocoaError.self) { try main.existingObject(with: old) } }
    }

    @Test("leaves nothing of the old rows in the files")
    func nothingLeft() async throws {
        let bench = try await Bench(.file)
        await bench.main.perform { [main = bench.main] in
            for number in 0..<500 { main.insertNote("top secret \(number)") }
        }
        try await bench.main.saveToStore()
        try await bench.stack.resetStore()
        for file in try FileManager.default.contentsOfDirectory(atPath: bench.url.deletingLastPathComponent().path) {
            let data = try Data(contentsOf: bench.url.deletingLastPathComponent().appendingPathComponent(file))
            #expect(data.range(of: Data("top secret".utf8)) == nil, "\(file)")
        }
    }

    @Test("makes every fetch and save of older workers and batch contexts throw storeWasReset", arguments: StackKind.allCases)
    func oldContexts(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let worker = bench.stack.newChildContext()
        let batch = try await bench.stack.newBatchOperationContext()
        await worker.perform { _ = worker.insertNote("unsaved") }
        try await bench.stack.resetStore()
        for context in [worker, batch] {
            await context.perform {
                #expect(throws: CoreDataStack.Error.storeWasReset) { try context.texts() }
                context.insertNote("late")
                #expect(throws: CoreDataStack.Error.storeWasReset) { try context.save() }
            }
            await #expect(throws: CoreDataStack.Error.storeWasReset) { try await context.saveToStore() }
        }
        #expect(try bench.stored().isEmpty)
        let fresh = bench.stack.newChildContext()
        await fresh.perform { _ = fresh.insertNote("new") }
        try await fresh.saveToStore()
        #expect(try bench.stored() == ["new": 0])
    }

    @Test("while eight workers save leaves either none or only what came after", arguments: StackKind.allCases)
    func whileSaving(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let batch = try await bench.stack.newBatchOperationContext()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                let worker = bench.stack.newChildContext()
                group.addTask {
                    for round in 0..<50 {
                        do {
                            try await worker.perform(schedule: .enqueued) {
                                worker.insertNote("\(number)/\(round)")
                                try worker.save()
                            }
                        } catch CoreDataStack.Error.storeWasReset {
                            return
                        }
                    }
                }
            }
            group.addTask {
                _ = try? await batch.perform {
                    for round in 0..<200 {
                        batch.insertNote("batch \(round)")
                        try batch.save()
                    }
                }
            }
            group.addTask { try await bench.stack.resetStore() }
            try await group.waitForAll()
        }
        try await bench.stack.resetStore()
        #expect(try bench.stored().isEmpty)
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("after") }
        try await bench.main.saveToStore()
        #expect(try bench.stored() == ["after": 0])
    }

    @Test("calls back on the queue that was asked for, failures too")
    func callbackQueue() async throws {
        let bench = try await Bench(.file)
        let queue = DispatchQueue(label: "asked for")
        let result: CoreDataStack.ResetResult = await withCheckedContinuation { continuation in
            bench.stack.resetStore(on: queue) { result in
                dispatchPrecondition(condition: .onQueue(queue))
                continuation.resume(returning: result)
            }
        }
        if case .failure(let error) = result { throw error }
        let coordinator = try #require(bench.root.persistentStoreCoordinator)
        try coordinator.remove(try #require(coordinator.persistentStores.first))
        let failure: CoreDataStack.ResetResult = await withCheckedContinuation { continuation in
            bench.stack.resetStore(on: .main) { result in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(returning: result)
            }
        }
        guard case .failure(CoreDataStack.Error.storeNotFound(at: bench.url)) = failure else {
            Issue.record("\(failure)")
            return
        }
    }

    @Test("that fails leaves every row, and a stack that works")
    func failing() async throws {
        let bench = try await Bench(.file)
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("kept") }
        try await bench.main.saveToStore()
        await #expect(throws: CocoaError.self) {
            try await bench.stack.resetStore(with: [NSSQLitePragmasOption: ["journal_mode": 3]])
        }
        #expect(try bench.stored() == ["kept": 0])
        #expect(try await bench.main.fetchedTexts() == ["kept": 0])
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("more") }
        try await bench.main.saveToStore()
        #expect(try bench.stored().count == 2)
    }

    // * A process is killed when it has made its note, and has not written yet which store is to be emptied. Others go on saving.
    @Test("that was interrupted before it began takes nothing")
    func interruptedBeforeBeginning() async throws {
        let bench = try await noted("")
        let again = try await Bench(opening: bench)
        #expect(try await again.main.fetchedTexts() == ["there": 0])
        #expect(!FileManager.default.fileExists(atPath: bench.url.appendingPathExtension("reset").path))
    }

    private func noted(_ note: String) async throws -> Bench {
        let bench = try await Bench(.file)
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("there") }
        try await bench.main.saveToStore()
        try Data(note.utf8).write(to: bench.url.appendingPathExtension("reset"))
        return bench
    }

    @Test("that was interrupted is finished where the store is the one that it was of")
    func interruptedBeforeCommit() async throws {
        let bench = try await noted("")
        let identifier = try #require(bench.root.persistentStoreCoordinator?.persistentStores.first?.identifier)
        let note = bench.url.appendingPathExtension("reset")
        try Data(identifier.utf8).write(to: note)
        let again = try await Bench(opening: bench)
        #expect(try await again.main.fetchedTexts().isEmpty)
        #expect(again.root.persistentStoreCoordinator?.persistentStores.first?.identifier != identifier)
        #expect(!FileManager.default.fileExists(atPath: note.path))
    }

    // * A process is killed in a reset, when the store is empty, and another one, already. Others save into it. Somebody opens it.
    @Test("that was interrupted after the store was emptied takes nothing that was saved since")
    func interruptedAfterCommit() async throws {
        let bench = try await noted(UUID().uuidString)
        let again = try await Bench(opening: bench)
        #expect(try await again.main.fetchedTexts() == ["there": 0])
        #expect(!FileManager.default.fileExists(atPath: bench.url.appendingPathExtension("reset").path))
    }

    @Test("that is under way is not finished by others who open the store", arguments: [false, true])
    func underWay(isNamed: Bool) async throws {
        let bench = try await noted("")
        let note = bench.url.appendingPathExtension("reset")
        let identifier = try #require(bench.root.persistentStoreCoordinator?.persistentStores.first?.identifier)
        if isNamed { try Data(identifier.utf8).write(to: note) }
        let descriptor = open(note.path, O_RDWR)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX) == 0)
        let again = try await Bench(opening: bench)
        #expect(try await again.main.fetchedTexts() == ["there": 0])
        #expect(FileManager.default.fileExists(atPath: note.path))
    }

    @Test("leaves the file the journal that it has, and so does a batch context")
    func journal() async throws {
        let bench = try await Bench(.file, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
        func mode() throws -> [[SQLiteValue]] { try Connection(path: bench.url.path, mode: .readOnly).rows("PRAGMA journal_mode") }
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            batch.insertNote("a")
            try batch.save()
        }
        #expect(try mode() == [[.text("delete")]])
        try await bench.stack.resetStore()
        #expect(try mode() == [[.text("delete")]])
    }
}
