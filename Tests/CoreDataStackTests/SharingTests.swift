import CoreData
import CoreDataStack
import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import StackProgram

@Suite("Processes that share a store", .timeLimit(.minutes(10)))
struct SharingTests {
    // * Two processes have a stack each on one file, and make many changes at the same time.
    // => Each has all groups in memory as they are in the file, and was told of each of the other's once.
    @Test("have the same objects at the end, and were told of each change of the other, once")
    func twoProcesses() throws {
        let changes = ProcessInfo.processInfo.environment["COREDATA_SHARED_CHANGES"].flatMap { Int($0) } ?? 60
        let folder = try TemporaryFolder()
        let processes = try ["app", "extension"].map { name in
            let process = try OtherProcess(program: "StackProgram", ["share", folder.store.path, name, "\(changes)"])
            #expect(process.line() == "ready")
            return process
        }
        for process in processes { try process.tell("go") }
        let expected = "\(changes) groups, sum \(2 * changes), told \(changes / 2) times of \(changes / 2)"
        for process in processes { #expect(process.line() == expected) }
        for process in processes { try process.tell("end") }
        for process in processes { #expect(process.status() == 0) }
        let connection = try Connection(path: folder.store.path, mode: .readOnly)
        defer { connection.close() }
        #expect(
            try connection.rows("SELECT count(*), sum(ZNUMBER) FROM ZGROUP") == [[.integer(Int64(changes)), .integer(Int64(2 * changes))]]
        )
        #expect(try connection.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16002") == [[.integer(Int64(2 * changes))]])
    }

    private func options(_ name: String) -> [AnyHashable: Any] {
        NSPersistentStoreCoordinator.stockSQLiteStoreOptions.merging([CoreDataStackSharingNameOption: name]) { $1 }
    }

    @Test("show in main what others save, and go on with it after a reset; batch contexts track their changes as well")
    func stacks() async throws {
        let folder = try TemporaryFolder()
        let model = GroupModel.make()
        let (app, other) = (
            try await CoreDataStack.constructSQLiteStack(model: model, at: folder.store, persistentStoreOptions: options("app")),
            try await CoreDataStack.constructSQLiteStack(model: model, at: folder.store, persistentStoreOptions: options("other"))
        )
        let main = app.mainQueueContext
        await main.perform { main.retainsRegisteredObjects = true }
        var merges = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidMergeChangesObjectIDs, object: main)
            .makeAsyncIterator()
        let worker = other.newChildContext()
        try await worker.perform { try GroupModel.insert(7, into: worker) }
        try await worker.saveToStore()
        _ = await merges.next()
        let numbers = await main.perform { main.registeredObjects.compactMap { $0.value(forKey: "number") as? Int } }
        #expect(numbers.contains(7))
        try await other.close()

        let batch = try await app.newBatchOperationContext()
        try await batch.perform {
            try GroupModel.insert(8, into: batch)
            try batch.save()
        }
        try await app.resetStore()
        try await main.perform { try GroupModel.insert(9, into: main) }
        try await main.saveToStore()
        try await app.executeBatch(NSBatchInsertRequest(entityName: "Group", objects: [["number": 10]]))
        let authors = try await main.perform {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try main.execute(request) as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryTransaction])?.map(\.author)
        }
        #expect(authors == ["app", "app"])
        try await app.close()
    }

    // * Root is asked for an object by an ID that another stack tells before it saves it.
    // => Once it has, main shows it.
    @Test("show what another has saved also where root was asked for it before it was there")
    func askedForEarly() async throws {
        let folder = try TemporaryFolder()
        let model = GroupModel.make()
        let (app, other) = (
            try await CoreDataStack.constructSQLiteStack(model: model, at: folder.store, persistentStoreOptions: options("app")),
            try await CoreDataStack.constructSQLiteStack(model: model, at: folder.store, persistentStoreOptions: options("other"))
        )
        let (root, main) = (app.privateQueueContext, app.mainQueueContext)
        let worker = try await other.newBatchOperationContext()
        let id = try await worker.perform {
            try GroupModel.insert(7, into: worker)
            try worker.obtainPermanentIDs(for: Array(worker.insertedObjects))
            return try #require(worker.insertedObjects.first { $0.entity.name == "Group" }).objectID
        }
        await root.perform {
            root.retainsRegisteredObjects = true
            #expect(root.object(with: id).value(forKey: "number") == nil)
        }
        var merges = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidMergeChangesObjectIDs, object: main)
            .makeAsyncIterator()
        try await worker.perform { try worker.save() }
        _ = await merges.next()
        let number = try await main.perform { try main.existingObject(with: id).value(forKey: "number") as? Int }
        #expect(number == 7)
        try await other.close()
        try await app.close()
    }

    private func tracked(_ bench: Bench) throws -> NSManagedObjectContext {
        try bench.separateContext(options: [NSPersistentHistoryTrackingKey: true])
    }

    @Test("show in main all of what is more than is read at once")
    func much() async throws {
        let bench = try await Bench(.file, options: options("app"))
        let main = bench.main
        // It hears from here on: what follows may be merged before anybody asks for the first.
        var merges = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidMergeChangesObjectIDs, object: main)
            .makeAsyncIterator()
        let other = try tracked(bench)
        try await other.perform {
            for count in [6000, 6000, 12_000, 1] {
                try other.execute(NSBatchInsertRequest(entityName: "Note", objects: (0..<count).map { ["text": "\($0)"] }))
            }
        }
        var told: Set<NSManagedObjectID> = []
        while told.count < 24_001, let merge = await merges.next() {
            told.formUnion(merge.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> ?? [])
        }
        try await bench.stack.close()
    }

    // * Others save; the stack is reset, and others save again; then the history goes before anybody can have read it.
    // => Main's results show what the others have saved each time: what is new, what has changed, and nothing that is gone.
    @Test("show it after a reset as well, and where what was to be merged has been deleted", .timeLimit(.minutes(20)))
    func resetAndOvertaken() async throws {
        let bench = try await Bench(.file, options: options("app"))
        let request = NSFetchRequest<Note>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
        var results = bench.main.results(of: request).makeAsyncIterator()
        func waitFor(_ texts: [String]) async throws {
            while let snapshot = try await results.next() {
                let shown = await bench.main.perform { snapshot.ids.map { (bench.main.object(with: $0) as? Note)?.text ?? "" } }
                if shown == texts { return }
            }
        }
        let first = try tracked(bench)
        try await first.perform {
            first.insertNote("a")
            try first.save()
        }
        try await waitFor(["a"])
        try await bench.stack.resetStore()
        let second = try tracked(bench)
        try await second.perform {
            for text in ["b", "c"] { second.insertNote(text) }
            try second.save()
        }
        try await waitFor(["b", "c"])
        try Connection(path: bench.url.path, mode: .readWrite).execute(
            """
            CREATE TRIGGER forgetting AFTER UPDATE OF Z_MAX ON Z_PRIMARYKEY WHEN NEW.Z_ENT = 16002
            BEGIN DELETE FROM ACHANGE; DELETE FROM ATRANSACTION; END
            """
        )
        try await second.perform {
            try second.note("b")?.text = "B"
            second.delete(try #require(try second.note("c")))
            second.insertNote("d")
            try second.save()
        }
        try await waitFor(["B", "d"])
        try await bench.stack.close()
    }

    @Test("show it also where they may only read", .timeLimit(.minutes(20)))
    func readOnly() async throws {
        let bench = try await Bench(.file, options: options("app"))
        let readOnly = options("viewer").merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        let viewer = try await CoreDataStack.constructSQLiteStack(
            model: NoteModel.make(),
            at: bench.url,
            persistentStoreOptions: readOnly
        )
        var results = viewer.mainQueueContext.results(of: NSFetchRequest<Note>(entityName: "Note")).makeAsyncIterator()
        #expect(try await results.next()?.ids == [])
        try await bench.main.perform {
            bench.main.insertNote("a")
            try bench.main.save()
        }
        #expect(try await results.next()?.ids.count == 1)
        try await viewer.close()
        try await bench.stack.close()
    }

    @Test("keep no more of the history than somebody has yet to see, however short each of them runs")
    func history() async throws {
        let folder = try TemporaryFolder()
        let model = GroupModel.make()
        for name in ["app", "other", "app", "other"] {
            let stack = try await CoreDataStack.constructSQLiteStack(model: model, at: folder.store, persistentStoreOptions: options(name))
            let worker = stack.newChildContext()
            for number in 0..<3 {
                try await worker.perform { try GroupModel.insert(number, into: worker) }
                try await worker.saveToStore()
            }
            try await stack.close()
        }
        let connection = try Connection(path: folder.store.path, mode: .readOnly)
        defer { connection.close() }
        #expect(try connection.rows("SELECT min(Z_PK), max(Z_PK) FROM ATRANSACTION") == [[.integer(9), .integer(12)]])
    }

    // * Two stacks on one store; one is reset, as for a logout, and goes on.
    // => The other is as after a reset of its own: empty, told so, and then it shows what the first saves, and the first what it saves.
    @Test("follow a reset of another, and share what comes then")
    func resetByOther() async throws {
        let folder = try TemporaryFolder()
        let model = GroupModel.make()
        let app = try await CoreDataStack.constructSQLiteStack(model: model, at: folder.store, persistentStoreOptions: options("app"))
        let other = try await CoreDataStack.constructSQLiteStack(model: model, at: folder.store, persistentStoreOptions: options("other"))
        let main = other.mainQueueContext
        try await main.perform { try GroupModel.insert(1, into: main) }
        try await main.saveToStore()
        try await main.perform { try GroupModel.insert(2, into: main) }
        let worker = other.newChildContext()
        var errors = other.saveErrors.makeAsyncIterator()
        try await app.resetStore()
        #expect(await errors.next() as? CoreDataStack.Error == .storeWasReset)
        try await main.perform {
            #expect(main.registeredObjects.isEmpty && !main.hasChanges)
            let count = try main.count(for: GroupModel.groups())
            #expect(count == 0)
        }
        await worker.perform { _ = #expect(throws: CoreDataStack.Error.storeWasReset) { try worker.fetch(GroupModel.groups()) } }
        for (writer, reader) in [(app, other), (other, app)] {
            let (source, target) = (writer.mainQueueContext, reader.mainQueueContext)
            await target.perform { target.retainsRegisteredObjects = true }
            var merges = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidMergeChangesObjectIDs, object: target)
                .makeAsyncIterator()
            try await source.perform { try GroupModel.insert(writer === app ? 3 : 4, into: source) }
            try await source.saveToStore()
            _ = await merges.next()
        }
        for context in [app.mainQueueContext, main] {
            let numbers = try await context.perform {
                try context.fetch(GroupModel.groups()).compactMap { $0.value(forKey: "number") as? Int }
            }
            #expect(Set(numbers) == [3, 4])
        }
        try await other.close()
        try await app.close()
    }

    // * A process saves with a history, again and again. It is killed; another goes on with the file.
    // => Every save is there with its history, or neither: what the history says was deleted last is gone, all else is there, and the history
    //    since the kill before leads from the file as it was then to what it is now.
    @Test("that are killed leave each save with its history, or neither")
    func killed() throws {
        let kills = ProcessInfo.processInfo.environment["COREDATA_KILLS"].flatMap { Int($0) } ?? 10
        let folder = try TemporaryFolder()
        var random = SystemRandomNumberGenerator()
        for kill in 0..<kills {
            let older = try folder.copyStore()
            let process = try OtherProcess(program: "StackProgram", ["track", folder.store.path])
            for _ in 0..<Int.random(in: 1...4, using: &random) { try #require(process.line() != nil, "kill \(kill)") }
            for _ in 0..<Int.random(in: 0..<4000, using: &random) { sched_yield() }
            process.kill()
            _ = process.rest()
            _ = process.status()
            let (inspector, model) = (try StoreInspector(url: folder.store), GroupModel.make())
            #expect(try inspector.problems(with: model) == [], "kill \(kill)")
            if kill > 0 { #expect(try inspector.problems(since: StoreInspector(url: older), with: model) == [], "kill \(kill)") }
        }
    }
}
