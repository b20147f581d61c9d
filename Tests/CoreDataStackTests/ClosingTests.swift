import CoreDataStack
import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("The end of a stack:", .timeLimit(.minutes(20)))
struct ClosingTests {
    @Test("what was saved is in the store when a flush returns", arguments: StackKind.allCases, [false, true])
    func flushes(_ kind: StackKind, waits: Bool) async throws {
        let bench = try await Bench(kind)
        for number in 0..<20 {
            let context = number % 2 == 0 ? bench.main : bench.stack.newChildContext()
            try await context.perform {
                context.insertNote("\(number)")
                try context.save()
            }
            try await flush(bench, waits)
            #expect(try bench.stored().count == number + 1)
        }
    }

    @Test("a flush says what the world refuses, and the next one writes it", arguments: StackKind.allCases, [false, true])
    func refused(_ kind: StackKind, waits: Bool) async throws {
        let bench = try await Bench(kind)
        try await bench.sqliteStore.readOnly {
            try await bench.main.perform { [main = bench.main] in
                main.insertNote("late")
                try main.save()
            }
            await cocoaError(CocoaError.fileWriteNoPermission.rawValue) { try await flush(bench, waits) }
            await cocoaError(CocoaError.fileWriteNoPermission.rawValue) { try await bench.stack.close() }
            // Still open.
            #expect(try await bench.main.fetchedTexts() == ["late": 0])
        }
        try await flush(bench, waits)
        #expect(try bench.stored() == ["late": 0])
    }

    @Test("a flush says once what data made impossible, where nobody has listened", arguments: StackKind.allCases, [false, true])
    func impossible(_ kind: StackKind, waits: Bool) async throws {
        let bench = try await Bench(kind, model: NoteModel.make(uniqueTexts: true))
        bench.root.mergePolicy = NSMergePolicy.error
        for number in 0..<2 {
            let worker = bench.stack.newChildContext()
            try await worker.perform {
                worker.insertNote("same", Int64(number))
                try worker.save()
            }
        }
        await cocoaError(133021) { try await flush(bench, waits) }
        try await flush(bench, waits)
        #expect(try bench.stored() == ["same": 0])
    }

    @Test("a closed stack has written everything, and its contexts say that it is closed", arguments: StackKind.allCases, [false, true])
    func closes(_ kind: StackKind, waits: Bool) async throws {
        let bench = try await Bench(kind)
        let reader = try bench.separateContext()
        let workers = (0..<4).map { _ in bench.stack.newChildContext() }
        for (number, worker) in workers.enumerated() {
            try await worker.perform {
                worker.insertNote("\(number)")
                try worker.save()
            }
        }
        for _ in 0..<2 {
            if waits { try await onNewThread { [stack = bench.stack] in try stack.closeAndWait() } } else { try await bench.stack.close() }
        }
        #expect(try await reader.fetchedTexts().count == 4)
        for context in workers + [bench.main, bench.root] {
            await #expect(throws: CoreDataStack.Error.stackWasClosed) { try await context.fetchedTexts() }
            await context.perform { _ = context.insertNote("late") }
            await #expect(throws: CoreDataStack.Error.stackWasClosed) { try await context.saveToStore() }
        }
        await #expect(throws: CoreDataStack.Error.stackWasClosed) { try await bench.stack.resetStore() }
        await #expect(throws: CoreDataStack.Error.stackWasClosed) { try await bench.stack.newBatchOperationContext() }
    }

    @Test("a scope writes what was saved in it, also where it throws, and closes")
    func scope() async throws {
        let folder = try TemporaryFolder()
        @Sendable func insert(_ text: String, _ stack: CoreDataStack) throws {
            let main = stack.mainQueueContext
            try main.performAndWait {
                main.insertNote(text)
                try main.save()
            }
        }
        let left = try await CoreDataStack.withStack(model: NoteModel.make(), at: folder.store) { stack in
            try await onNewThread { try insert("awaited", stack) }
            return stack
        }
        await #expect(throws: CoreDataStack.Error.stackWasClosed) { try await left.mainQueueContext.fetchedTexts() }
        await #expect(throws: CancellationError.self) {
            try await CoreDataStack.withStack(model: NoteModel.make(), at: folder.store) { stack in
                try await onNewThread { try insert("awaited, thrown", stack) }
                throw CancellationError()
            }
        }
        try await onNewThread {
            try CoreDataStack.withStack(model: NoteModel.make(), at: folder.store) { try insert("waited for", $0) }
            #expect(throws: CancellationError.self) {
                try CoreDataStack.withStack(model: NoteModel.make(), at: folder.store) { stack in
                    try insert("waited for, thrown", stack)
                    throw CancellationError()
                }
            }
        }
        let texts = try await CoreDataStack.withStack(model: NoteModel.make(), at: folder.store) {
            try await $0.mainQueueContext.fetchedTexts()
        }
        #expect(Set(texts.keys) == ["awaited", "awaited, thrown", "waited for", "waited for, thrown"])
    }

    // * A program saves in a scope on its main thread and ends at once.
    // => Everything is in the file.
    @Test("a program that ends after a scope has saved everything", arguments: ["scope", "scope-throwing", "flush"])
    func program(_ way: String) throws {
        let folder = try TemporaryFolder()
        let process = try OtherProcess(program: "StackProgram", [way, folder.store.path])
        let lines = process.rest()
        #expect(process.status() == 0, "\(lines)")
        #expect(try groups(folder.store) == 20, "\(lines)")
    }

    // * A program saves without waiting and lets go of stack and contexts. It lives on.
    // => Everything gets into the file.
    @Test("saves under way end though nobody has the stack any more")
    func leftAlone() throws {
        let folder = try TemporaryFolder()
        let process = try OtherProcess(program: "StackProgram", ["leave", folder.store.path])
        try #require(process.line() == "gone")
        // The file gets them sooner or later; the suite's limit ends a wait in vain.
        while try groups(folder.store) < 20 {}
    }

    // * A worker has saved, and a flush has written it before main has had its turn.
    @Test("what main changes after a flush is not saved along with what the flush has written")
    func draft() async throws {
        let bench = try await Bench(.file)
        let worker = bench.stack.newChildContext()
        try await onNewThread { [main = bench.main, stack = bench.stack] in
            try main.performAndWait {
                try worker.performAndWait {
                    worker.insertNote("saved")
                    try worker.save()
                }
                try stack.flushAndWait()
                _ = main.insertNote("draft")
            }
        }
        await bench.settle()
        #expect(try bench.stored() == ["saved": 0])
        await bench.main.perform { [main = bench.main] in #expect(main.insertedObjects.count == 1) }
    }

    // * Another process keeps the store from being written.
    @Test("a second close waits for what the first is writing")
    func twice() async throws {
        let bench = try await Bench(.file, options: [NSPersistentStoreTimeoutOption: 1000.0])
        let lock = try ForeignLock(bench.url)
        try await bench.main.perform { [main = bench.main] in
            main.insertNote("late")
            try main.save()
        }
        let first = Task.detached { [stack = bench.stack] in try await stack.close() }
        await bench.untilClosed()
        let release = Task.detached { try lock.release() }
        try await bench.stack.close()
        let connection = try Connection(path: bench.url.path, mode: .readWrite)
        // The first may still be closing the file.
        connection.setBusyTimeout(seconds: 10)
        #expect(try connection.rows("SELECT ZTEXT FROM ZNOTE") == [[.text("late")]])
        try await release.value
        try await first.value
    }

    @Test("a close waits for a reset under way, and closes what that has left")
    func duringReset() async throws {
        let bench = try await Bench(.file, options: [NSPersistentStoreTimeoutOption: 1000.0])
        try await bench.main.perform { [main = bench.main] in
            main.insertNote("old")
            try main.save()
        }
        try await bench.stack.flush()
        let lock = try ForeignLock(bench.url)
        let reset = Task.detached { [stack = bench.stack] in try await stack.resetStore() }
        await bench.untilClosed()
        let release = Task.detached { try lock.release() }
        try await bench.stack.close()
        try await release.value
        try await reset.value
        await #expect(throws: CoreDataStack.Error.stackWasClosed) { try await bench.main.fetchedTexts() }
        #expect(try Connection(path: bench.url.path, mode: .readWrite).rows("SELECT ZTEXT FROM ZNOTE").isEmpty)
    }

    // * A worker waits for the store: its changes are in root, and root is busy before it can write them. The store is reset meanwhile.
    // => The reset waits for that save: nothing of it is in the new store.
    @Test("a reset does not pass a save between two layers", arguments: StackKind.allCases)
    func between(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("old") }
        try await bench.main.saveToStore()
        let worker = bench.stack.newChildContext()
        let (isHeld, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: bench.main, queue: nil) {
            [root = bench.root] _ in
            root.perform {
                isHeld.signal()
                isOver.wait()
            }
        }
        await worker.perform { _ = worker.insertNote("on the way") }
        let saved = Task.detached { try await worker.saveToStore() }
        try await onNewThread { isHeld.wait() }
        NotificationCenter.default.removeObserver(observer)
        let reset = Task.detached { [stack = bench.stack] in try await stack.resetStore() }
        try await onNewThread {
            // Until the reset has refused somebody, and some more, in which it may go wrong.
            let late = bench.stack.newChildContext()
            while (try? late.performAndWait { try late.save() }) != nil {}
            for _ in 0..<50 { if try bench.stored().isEmpty { break } }
            isOver.signal()
        }
        try await saved.value
        try await reset.value
        #expect(try bench.stored().isEmpty)
    }
}

extension ClosingTests {
    private func flush(_ bench: Bench, _ waits: Bool) async throws {
        if waits { try await onNewThread { [stack = bench.stack] in try stack.flushAndWait() } } else { try await bench.stack.flush() }
    }

    private func groups(_ store: URL) throws -> Int64 {
        let connection = try Connection(path: store.path, mode: .readWrite)
        try connection.execute("PRAGMA busy_timeout = 10000")
        guard case .integer(let count)? = try connection.rows("SELECT COUNT(*) FROM ZGROUP").first?.first else { return -1 }
        return count
    }
}
