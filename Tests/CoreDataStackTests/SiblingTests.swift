import CoreDataStack
import Foundation
import Testing

@testable import CoreData

/// What two workers of one stack do to the same objects. `ChildSavingTests` and its neighbours test the same a layer at a time; here the
/// changes go all the way to the store by themselves, also while root is in the middle of a save, when they wait beside it.
@Suite("Workers that change the same objects", .timeLimit(.minutes(20)))
struct SiblingTests {
    @Test("keep each other's changes of other properties", arguments: situations)
    func otherProperties(_ kind: StackKind, rootWrites: Bool) async throws {
        let bench = try await benchWithFolder(kind)
        let workers = try await workers(bench)
        try await bench.whileRootWrites(rootWrites) {
            try await workers[0].change { $0.notes[0].number = 10 }
            try await workers[1].change { $0.notes[0].text = "text" }
            try await workers[2].change { $0.notes[0].folder = nil }
            try await workers[0].change { $0.notes[1].number = 11 }
        }
        #expect(try bench.read(Self.picture) == ["1 11 home", "2 0 home", "text 10 -"])
        let seen = try await bench.main.perform { [main = bench.main] in try Self.picture(main) }
        #expect(seen == ["1 11 home", "2 0 home", "text 10 -"])
    }

    @Test("overwrite each other's changes of one property: the later save wins", arguments: situations)
    func sameProperty(_ kind: StackKind, rootWrites: Bool) async throws {
        let bench = try await benchWithFolder(kind)
        let workers = try await workers(bench)
        try await bench.whileRootWrites(rootWrites) {
            for worker in workers { await worker.context.perform { worker.objects.notes[0].number = 99 } }
            for (number, worker) in workers.enumerated() {
                try await worker.change { (objects: Objects) in
                    objects.notes[0].number = Int64(number)
                    objects.notes[1].number = Int64(10 - number)
                }
            }
            try await workers[0].change { $0.notes[1].number = 5 }
        }
        #expect(try bench.read(Self.picture) == ["0 2 home", "1 5 home", "2 0 home"])
    }

    // * A worker has read objects. Another changes them, its changes are stored, and nobody keeps what they are now.
    // => What the first one changes, or deletes, is no conflict: it is just later.
    @Test("overwrite what is stored already, and known to nobody else any more", arguments: StackKind.allCases)
    func forgotten(_ kind: StackKind) async throws {
        let bench = try await benchWithFolder(kind)
        let late = try await workers(bench)[0]
        do {
            let early = try await workers(bench)[0]
            try await early.change { (objects: Objects) in for note in objects.notes { note.number = 1 } }
            await bench.settle()
        }
        try await late.change { $0.notes[0].number = 2 }
        try await late.change { late.context.delete($0.notes[1]) }
        await bench.settle()
        #expect(try bench.read(Self.picture) == ["0 2 home", "2 1 home"])
    }

    // * One worker deletes an object, another has changed it and saves before, after, and both.
    @Test("lose against a delete, whichever was saved first, and are not disturbed", arguments: situations)
    func deletes(_ kind: StackKind, rootWrites: Bool) async throws {
        let bench = try await benchWithFolder(kind)
        let workers = try await workers(bench)
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        try await bench.whileRootWrites(rootWrites) {
            try await workers[0].change { $0.notes[0].number = 1 }
            try await workers[1].change { (objects: Objects) in for note in objects.notes.prefix(2) { workers[1].context.delete(note) } }
            try await workers[0].change { $0.notes[0].number = 2 }
            try await workers[0].change { $0.notes[1].number = 2 }
            // Of two deletes there is one.
            try await workers[2].change { workers[2].context.delete($0.notes[1]) }
            try await workers[0].change { $0.notes[2].number = 3 }
        }
        let stored = try bench.read(Self.picture)
        #expect(stored == ["2 3 home"])
        for context in [bench.main, bench.root] { await context.perform { #expect(!context.hasChanges) } }
        // Nothing was reported: the next error is the one made here.
        await bench.root.perform { [root = bench.root] in _ = root.insertNote(nil) }
        try await workers[2].change { $0.notes[2].number = 4 }
        await cocoaError(1570) { if let error = await errors.next() { throw error } }
    }

    // * One worker deletes an object, which is stored. Another, which has read it, changes it; a list of main holds what comes by.
    // => The store's delete stands, and no context goes on with an object that has no row.
    @Test("lose against a stored delete in the lists of main, too", arguments: StackKind.allCases)
    func storedDelete(_ kind: StackKind) async throws {
        let bench = try await benchWithFolder(kind)
        let (main, workers) = (bench.main, try await workers(bench))
        let list = try await main.perform { try FetchedList<Note>(main, by: "text") }
        try await workers[0].change { workers[0].context.delete($0.notes[0]) }
        try await bench.stack.flush()
        try await workers[1].change { $0.notes[0].number = 1 }
        try await bench.stack.flush()
        #expect(try bench.read(Self.picture) == ["1 0 home", "2 0 home"])
        #expect(await main.perform(schedule: .enqueued) { list.texts } == ["1", "2"])
        await workers[1].context.perform(schedule: .enqueued) { #expect(workers[1].objects.notes[0].managedObjectContext == nil) }
    }

    // * As before, but the save goes back: the worker has its change again, and the error says why.
    // => The list does not show what is gone, though the change had come as far as to main.
    @Test("that go back against a stored delete leave the lists of main alone", arguments: StackKind.allCases)
    func refusedByDelete(_ kind: StackKind) async throws {
        let bench = try await benchWithFolder(kind)
        let (main, root, workers) = (bench.main, bench.stack.privateQueueContext, try await workers(bench))
        root.mergePolicy = NSMergePolicy.error
        let list = try await main.perform { try FetchedList<Note>(main, by: "text") }
        try await workers[0].change { workers[0].context.delete($0.notes[0]) }
        try await bench.stack.flush()
        await workers[1].context.perform { workers[1].objects.notes[0].number = 1 }
        await cocoaError(133020) { try await workers[1].context.saveToStore() }
        await bench.settle()
        #expect(await main.perform(schedule: .enqueued) { list.texts } == ["1", "2"])
        for context in [main, root] { await context.perform { #expect(!context.hasChanges) } }
        await workers[1].context.perform(schedule: .enqueued) {
            let note = workers[1].objects.notes[0]
            #expect(note.changedValues() as? [String: Int64] == ["number": 1] && !note.isDeleted)
        }
    }

    // * Main puts a note into a folder, unsaved. A worker deletes one of them: the other counts as changed, too. Main deletes the other, and that is
    //   stored before the worker saves.
    // => Both are gone from all contexts and lists. There is nothing to be written, by which a store would have found that out.
    @Test("leave alone what is gone and is as it was stored", arguments: StackKind.allCases, [Note.self, Folder.self])
    func touched(_ kind: StackKind, _ worked: NSManagedObject.Type) async throws {
        let model = NoteModel.make()
        model.entitiesByName["Folder"]?.relationshipsByName["notes"]?.deleteRule = .nullifyDeleteRule
        let bench = try await Bench(kind, model: model)
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        // Used on main's queue only.
        nonisolated(unsafe) let objects = try await main.perform {
            let (note, folder) = (main.insertNote("note"), Folder(context: main))
            folder.name = "folder"
            try main.saveContextToStoreAndWait()
            note.folder = folder
            return [note, folder]
        }
        let lists = try await main.perform { (try FetchedList<Note>(main, by: "text"), try FetchedList<Folder>(main, by: "name")) }
        try await worker.perform {
            let note = try #require(try worker.fetch(NSFetchRequest<Note>(entityName: "Note")).first)
            let folder = try #require(note.folder)
            #expect(folder.name == "folder" && folder.notes == [note])
            worker.delete(worked == Note.self ? note : folder)
            worker.processPendingChanges()
        }
        try await main.perform {
            main.delete(objects[worked == Note.self ? 1 : 0])
            try main.saveContextToStoreAndWait()
        }
        try await worker.saveToStore()
        await bench.settle()
        try await main.perform(schedule: .enqueued) {
            let found = try ["Note", "Folder"].flatMap { try main.fetch(NSFetchRequest<NSManagedObject>(entityName: $0)) }
            #expect(found.isEmpty && lists.0.texts.isEmpty && lists.1.texts.isEmpty && !main.hasChanges)
            #expect(main.registeredObjects.isEmpty)
        }
        await worker.perform(schedule: .enqueued) { #expect(!worker.hasChanges && worker.registeredObjects.isEmpty) }
    }

    // * One worker puts a note into a folder, which is stored; main keeps nothing of either but a list. Another, which has seen the folder without the
    //   note, deletes the folder, and the note with it, by the delete rule: only the store knows that it is in there.
    // => Main's list has no note, and no folder.
    @Test("take along what another has related to what they delete, out of lists, too", arguments: StackKind.allCases)
    func takenAlong(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let main = bench.main
        let (adder, remover) = (bench.stack.newChildContext(), bench.stack.newChildContext())
        try await main.perform {
            Folder(context: main).name = "folder"
            main.insertNote("note")
            try main.saveContextToStoreAndWait()
        }
        let lists = try await main.perform { (try FetchedList<Note>(main, by: "text"), try FetchedList<Folder>(main, by: "name")) }
        try await remover.perform {
            let folder = try #require(try remover.fetch(NSFetchRequest<Folder>(entityName: "Folder")).first)
            #expect(folder.notes.isEmpty)
            remover.delete(folder)
        }
        try await adder.perform {
            let note = try #require(try adder.fetch(NSFetchRequest<Note>(entityName: "Note")).first)
            note.folder = try adder.fetch(NSFetchRequest<Folder>(entityName: "Folder")).first
        }
        try await adder.saveToStore()
        await main.perform { main.refreshAllObjects() }
        try await remover.saveToStore()
        await bench.settle()
        #expect(try bench.stored().isEmpty)
        await main.perform(schedule: .enqueued) {
            #expect(lists.0.texts.isEmpty && lists.1.texts.isEmpty && !main.hasChanges && main.registeredObjects.isEmpty)
        }
    }

    // * Main deletes a folder, which is stored. A worker, which has read it before, changes it, and puts a new note into it. The policy lets the delete
    //   stand, and its rule takes the note along, which has never been stored.
    // => Main's list has no note, and the worker has none either.
    @Test("lose what they have put into what is gone, out of lists, too", arguments: [NSMergePolicy.mergeByPropertyStoreTrump, .rollback])
    func newInTheDeleted(policy: NSMergePolicy) async throws {
        let bench = try await Bench(.file)
        let (main, root, worker) = (bench.main, bench.root, bench.stack.newChildContext())
        await root.perform { root.mergePolicy = policy }
        try await main.perform {
            Folder(context: main).name = "folder"
            try main.saveContextToStoreAndWait()
        }
        let list = try await main.perform { try FetchedList<Note>(main, by: "text") }
        try await worker.perform {
            let folder = try #require(try worker.fetch(NSFetchRequest<Folder>(entityName: "Folder")).first)
            let note = worker.insertNote("new")
            (folder.name, note.folder) = ("changed", folder)
        }
        try await main.perform {
            for folder in try main.fetch(NSFetchRequest<Folder>(entityName: "Folder")) { main.delete(folder) }
            try main.saveContextToStoreAndWait()
        }
        try await worker.saveToStore()
        await bench.settle()
        #expect(try bench.stored().isEmpty)
        for context in [main, worker] {
            await context.perform(schedule: .enqueued) { #expect(!context.hasChanges && context.registeredObjects.isEmpty) }
        }
        await main.perform { #expect(list.texts.isEmpty) }
    }

    @Test("add to one relationship, and take away from it, without undoing what others did", arguments: situations)
    func members(_ kind: StackKind, rootWrites: Bool) async throws {
        let bench = try await benchWithFolder(kind)
        let workers = try await workers(bench)
        try await bench.whileRootWrites(rootWrites) {
            for (number, worker) in workers.enumerated() {
                try await worker.change { (objects: Objects) in worker.context.insertNote("new \(number)").folder = objects.folder }
            }
            try await workers[0].change { $0.folder.notes.remove($0.notes[0]) }
            try await workers[1].change { $0.notes[1].folder = nil }
        }
        let expected = ["0 0 -", "1 0 -", "2 0 home", "new 0 0 home", "new 1 0 home", "new 2 0 home"]
        #expect(try bench.read(Self.picture) == expected)
        let count = try await bench.main.perform { [main = bench.main] in try main.folder("home").notes.count }
        #expect(count == 4)
    }

    // * One worker turns the order round, one appends, one takes away; then one that has seen none of it appends.
    @Test("edit one order: all edits survive, the latest order counts, what is new comes behind", arguments: situations)
    func order(_ kind: StackKind, rootWrites: Bool) async throws {
        let bench = try await benchWithFolder(kind, ordersNotes: true)
        let workers = try await workers(bench)
        for worker in workers { await worker.context.perform { #expect(worker.objects.folder.orderedNotes.count == 3) } }
        try await bench.whileRootWrites(rootWrites) {
            try await workers[0].change { $0.folder.orderedNotes = $0.folder.orderedNotes.reversed() }
            try await workers[1].change { (objects: Objects) in workers[1].context.insertNote("new").folder = objects.folder }
            try await workers[2].change { (objects: Objects) in objects.folder.orderedNotes.removeAll { $0.text == "1" } }
            let late = bench.stack.newChildContext()
            let folder = workers[0].objects.folder.objectID
            try await late.perform {
                late.insertNote("late").folder = late.object(with: folder) as? Folder
                try late.save()
            }
        }
        let order: @Sendable (NSManagedObjectContext) throws -> [String] = { context in
            try context.folder("home").orderedNotes.map { $0.text ?? "" }
        }
        let stored = try bench.read(order)
        #expect(stored.sorted() == ["0", "2", "late", "new"] && stored.suffix(2) == ["new", "late"])
        for context in [bench.main, bench.stack.newChildContext()] {
            let seen = try await context.perform { try order(context) }
            #expect(seen == stored)
        }
    }

    // A database in memory cannot be read while it is written.
    private static let situations: [(StackKind, Bool)] = [(.file, false), (.memory, false), (.file, true)]
}

extension SiblingTests {
    /// A worker's objects, which are used on its queue.
    private final class Objects: @unchecked Sendable {
        let folder: Folder
        let notes: [Note]
        init(_ folder: Folder, _ notes: [Note]) { (self.folder, self.notes) = (folder, notes) }
    }

    private struct Worker: Sendable {
        let context: NSManagedObjectContext
        let objects: Objects

        /// Changes something and saves, and does not wait for the store.
        func change(_ body: @escaping @Sendable (Objects) -> Void) async throws {
            try await context.perform(schedule: .enqueued) {
                body(objects)
                try context.save()
                #expect(!context.hasChanges)
            }
        }
    }

    /// A stack with three notes in a folder.
    private func benchWithFolder(_ kind: StackKind, ordersNotes: Bool = false) async throws -> Bench {
        let bench = try await Bench(kind, model: NoteModel.make(ordersNotes: ordersNotes))
        let main = bench.main
        await main.perform {
            let folder = Folder(context: main)
            folder.name = "home"
            for number in 0..<3 { main.insertNote("\(number)").folder = folder }
        }
        try await main.saveToStore()
        return bench
    }

    /// Three workers who have read everything.
    private func workers(_ bench: Bench) async throws -> [Worker] {
        var workers: [Worker] = []
        for _ in 0..<3 {
            let context = bench.stack.newChildContext()
            let objects = try await context.perform {
                let request = NSFetchRequest<Note>()
                request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
                let notes = try context.fetch(request)
                for note in notes { #expect(note.folder?.name == "home") }
                return Objects(try #require(notes[0].folder), notes)
            }
            workers.append(Worker(context: context, objects: objects))
        }
        return workers
    }

    private static func picture(_ context: NSManagedObjectContext) throws -> [String] {
        try context.fetch(NSFetchRequest<Note>()).map { "\($0.text ?? "-") \($0.number) \($0.folder?.name ?? "-")" }.sorted()
    }
}

extension NSManagedObjectContext {
    fileprivate func folder(_ name: String) throws -> Folder {
        try #require(try fetch(NSFetchRequest<Folder>()).first { $0.name == name })
    }
}

extension Bench {
    /// What a second coordinator finds in the store.
    func read<Value>(_ body: (NSManagedObjectContext) throws -> Value) throws -> Value {
        let context = try separateContext()
        return try context.performAndWait { try body(context) }
    }

    /// Runs `body`, if asked to while root cannot end a save, and returns when all that was saved is in the store.
    func whileRootWrites(_ isAsked: Bool, _ body: () async throws -> Void) async throws {
        guard isAsked else {
            try await body()
            return await settle()
        }
        await root.perform { [root] in Folder(context: root).name = "of root" }
        try await whileRootWrites {
            main.saveContextToStore(nil)
        } then: {
            try await body()
        }
    }

    /// Runs `body` while root has begun to write what `begin` has it save, and waits for all of it.
    func whileRootWrites(_ begin: () async throws -> Void, then body: () async throws -> Void) async throws {
        let (isHeld, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let lock = try sqliteStore.lock
        Thread.detachNewThread {
            lock.write {
                isHeld.signal()
                isOver.wait()
            }
        }
        try await onNewThread { isHeld.wait() }
        defer { isOver.signal() }
        try await begin()
        while !root.queue.isLent { await Task.yield() }
        try await body()
        #expect(root.queue.isLent)
        isOver.signal()
        await settle()
    }
}
