import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("While another process holds the file's write lock", .timeLimit(.minutes(20)))
struct ForeignLockTests {
    // * Root waits for the lock with a worker's save.
    // * Main fetches, reads objects and relationships that nobody has read, inserts, changes, deletes and saves, in the forms that do not wait.
    // => Main has answers to everything before the lock is released, and sees its own changes.
    // * The lock is released.
    // => Everything arrives.
    @Test("main fetches, faults, inserts and saves")
    func main() async throws {
        let (bench, folder) = try await benchWithNotes()
        let main = bench.main
        let lock = try ForeignLock(bench.url)
        try await saveInWorker(bench, "from a worker")
        await untilRootWrites(bench)

        try await main.perform {
            #expect(try main.count(for: NSFetchRequest<Note>()) == 101)
            let home = try #require(main.object(with: folder) as? Folder)
            #expect(home.isFault && home.name == "home" && home.notes.count == 100)
            let note = try #require(home.notes.first { $0.objectID.uriRepresentation().lastPathComponent == "p50" })
            note.text = "changed"
            main.delete(try #require(try main.note("9")))
            main.insertNote("inserted")
            try main.save()
            #expect(!main.hasChanges)
            let fromWorker = try #require(try main.note("from a worker"))
            main.refresh(fromWorker, mergeChanges: false)
            #expect(fromWorker.isFault && fromWorker.text == "from a worker")
            main.insertNote("inserted later")
            try main.saveContextAndWait()
            #expect(try main.count(for: NSFetchRequest<Note>()) == 102)
        }
        #expect(bench.root.queue.isLent, "Root has its answer already: main was not asked while the lock was held.")
        #expect(try bench.stored().count == 100)

        try lock.release()
        await bench.settle()
        let stored = try bench.stored()
        #expect(stored.count == 102 && stored["9"] == nil)
        for text in ["from a worker", "changed", "inserted", "inserted later"] { #expect(stored[text] != nil, "\(text)") }
        await bench.root.perform { [root = bench.root] in #expect(!root.hasChanges) }
    }

    @Test("workers fetch and save into main, and whoever waits for the store is answered after the release", arguments: SaveForm.allCases)
    func workers(_ form: SaveForm) async throws {
        let (bench, _) = try await benchWithNotes()
        let lock = try ForeignLock(bench.url)
        try await saveInWorker(bench, "first")
        await untilRootWrites(bench)
        let worker = bench.stack.newChildContext()
        #expect(try await worker.fetchedTexts().count == 101)
        await worker.perform { _ = worker.insertNote("waiting") }
        let saved = Task { try await form.save(worker) }
        // What the worker hands over is in main before anybody waits for the file.
        while try await bench.main.fetchedTexts()["waiting"] == nil { await Task.yield() }
        #expect(bench.root.queue.isLent)
        #expect(try bench.stored().count == 100)
        try lock.release()
        try await saved.value
        #expect(try bench.stored().count == 102)
    }

    @Test(
        "longer than the store's timeout: the error is 134090, the changes wait in root, and a later save writes them",
        arguments: SaveForm.allCases
    )
    func timeout(_ form: SaveForm) async throws {
        let bench = try await Bench(.file, options: [NSPersistentStoreTimeoutOption: 0.05])
        let worker = bench.stack.newChildContext()
        let lock = try ForeignLock(bench.url)
        await worker.perform { _ = worker.insertNote("patient", 1) }
        await cocoaError(134090) { try await form.save(worker) }
        await worker.perform { #expect(!worker.hasChanges) }
        await bench.main.perform { [main = bench.main] in #expect(!main.hasChanges) }
        await bench.root.perform { [root = bench.root] in #expect(root.insertedObjects.count == 1) }
        #expect(try await worker.fetchedTexts() == ["patient": 1])
        #expect(try bench.stored().isEmpty)
        try lock.release()
        await worker.perform { _ = worker.insertNote("next", 2) }
        try await form.save(worker)
        #expect(try bench.stored() == ["patient": 1, "next": 2])
    }

    @Test("longer than the timeout: the error of a save that nobody waits for comes to saveErrors, once")
    func timeoutToStream() async throws {
        let bench = try await Bench(.file, options: [NSPersistentStoreTimeoutOption: 0.05])
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        let lock = try ForeignLock(bench.url)
        try await saveInWorker(bench, "patient")
        await cocoaError(134090) { if let error = await errors.next() { throw error } }
        try lock.release()
        try await bench.main.saveToStore()
        #expect(try bench.stored() == ["patient": 0])
        await bench.root.perform { [root = bench.root] in _ = root.insertNote(nil) }
        try await saveInWorker(bench, "refused")
        await cocoaError(1570, "the next error is another") { if let error = await errors.next() { throw error } }
    }

    @Test("a reset waits for it; where it takes too long, all rows are still there, and the stack works")
    func reset() async throws {
        let bench = try await Bench(.file, options: [NSPersistentStoreTimeoutOption: 0.05])
        try await saveInWorker(bench, "kept")
        await bench.settle()
        let lock = try ForeignLock(bench.url)
        await cocoaError(134090) { try await bench.stack.resetStore(with: [NSPersistentStoreTimeoutOption: 0.05]) }
        #expect(try bench.stored() == ["kept": 0])
        #expect(try await bench.main.fetchedTexts() == ["kept": 0])
        async let patient: Void = bench.stack.resetStore()
        try lock.release()
        try await patient
        #expect(try bench.stored().isEmpty)
    }
}

extension ForeignLockTests {
    /// A stack that has just been opened on a file of a hundred notes in one folder, none of which has been read.
    private func benchWithNotes() async throws -> (bench: Bench, folder: NSManagedObjectID) {
        let bench = try await Bench(.file)
        let main = bench.main
        await main.perform {
            let folder = Folder(context: main)
            folder.name = "home"
            for number in 0..<100 { main.insertNote("\(number)", Int64(number)).folder = folder }
        }
        try await main.saveToStore()
        let uri = try await main.perform { try #require(try main.fetch(NSFetchRequest<Folder>()).first).objectID.uriRepresentation() }
        let opened = try await Bench(opening: bench)
        let found = opened.root.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)
        return (opened, try #require(found))
    }

    private func saveInWorker(_ bench: Bench, _ text: String) async throws {
        let worker = bench.stack.newChildContext()
        try await worker.perform {
            worker.insertNote(text)
            try worker.save()
        }
    }

    /// Returns when root has everything ready and is waiting for the file.
    private func untilRootWrites(_ bench: Bench) async {
        while !bench.root.queue.isLent { await Task.yield() }
    }
}
