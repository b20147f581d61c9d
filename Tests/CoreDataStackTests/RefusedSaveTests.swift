import CoreDataStack
import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

/// What `ReturnedSaveTests` do not: the forms of failure, one by one.
@Suite("What root refuses is reported to whoever waits, in every form; nothing is lost, and a later save succeeds:")
struct RefusedSaveTests {
    @Test("objects of root that are not valid, each named where there are several", arguments: StackKind.allCases)
    func validation(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let root = bench.root
        let bad = await root.perform { root.insertNote(nil).objectID }
        try await everyFormFails(with: 1570, bench, isWritten: true)
        let second = await root.perform { root.insertNote(nil).objectID }
        let error = await cocoaError(1560) { try await bench.main.saveToStore() }
        let details = (error?.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []).map { ($0 as NSError).code }
        #expect(details == [1570, 1570])
        await root.perform { for id in [bad, second] { root.delete(root.object(with: id)) } }
        try await everythingArrives(bench)
    }

    @Test("rows that others have changed, under the error policy", arguments: StackKind.allCases)
    func conflict(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        bench.root.mergePolicy = NSMergePolicy.error
        let note = try await makeConflict(bench)
        let error = await cocoaError(133020) { try await bench.main.saveToStore() }
        await bench.main.perform { [main = bench.main] in
            let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(conflicts?.map(\.sourceObject) == [note.first])
            #expect(main.updatedObjects == [note.first] && note.first.number == 7)
        }
        try await everyFormFails(with: 133020, bench, isWritten: true)
        #expect(try bench.stored()["theirs"] == 5)
        await bench.main.perform { [main = bench.main] in for note in main.updatedObjects { main.refresh(note, mergeChanges: true) } }
        try await everythingArrives(bench, beside: ["theirs": 7])
    }

    // * A save changes objects in two stores; the second one is removed from the coordinator while root saves.
    // => It throws. Its context has all of it as unsaved changes again, and saves it without the objects that have no store.
    @Test("objects of a store that was removed, with others that have theirs", arguments: StackKind.allCases)
    func removedStore(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let worker = bench.stack.newChildContext()
        let coordinator = try #require(bench.root.persistentStoreCoordinator)
        // Removed by the observer alone, in the save that is waited for.
        nonisolated(unsafe) let second = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        await worker.perform {
            _ = worker.insertNote("stays")
            worker.assign(worker.insertNote("goes"), to: second)
        }
        try await worker.saveToStore()
        try await worker.perform { for note in try worker.fetch(NSFetchRequest<Note>()) { note.number = 7 } }
        let name = Notification.Name.NSManagedObjectContextWillSave
        let observer = NotificationCenter.default.addObserver(forName: name, object: bench.root, queue: nil) { _ in
            // Root tries more than once.
            guard coordinator.persistentStores.contains(second) else { return }
            #expect(throws: Never.self) { try coordinator.remove(second) }
        }
        _ = await cocoaError(134070) { try await worker.saveToStore() }
        NotificationCenter.default.removeObserver(observer)
        await worker.perform {
            #expect(Set(worker.updatedObjects.map { ($0 as? Note)?.text }) == ["stays", "goes"])
            for note in worker.updatedObjects where note.objectID.persistentStore == nil { worker.refresh(note, mergeChanges: false) }
        }
        try await worker.saveToStore()
        #expect(try bench.stored()["stays"] == 7)
    }

    // * Main has changed the number of a note, somebody else its number and its text; root has read the note before.
    @Test(
        "or resolved by root's policy, and main sees what came of it",
        arguments: [(NSMergePolicy.mergeByPropertyStoreTrump, ["theirs": 5]), (.rollback, ["theirs": 5])]
            + [(.mergeByPropertyObjectTrump, ["theirs": 7]), (.overwrite, ["mine": 7])],
        StackKind.allCases
    )
    func policies(_ policy: (NSMergePolicy, [String: Int64]), _ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        bench.root.mergePolicy = policy.0
        let note = try await makeConflict(bench)
        try await bench.main.saveToStore()
        #expect(try bench.stored() == policy.1)
        await bench.settle()
        // What was read before is corrected too, not just what a new fetch finds.
        await bench.main.perform { [main = bench.main] in
            #expect([note.first.text: note.first.number] == policy.1 as [String?: Int64])
            #expect(!main.hasChanges)
        }
    }

    @Test("a second object with a unique value", arguments: StackKind.allCases)
    func uniqueness(_ kind: StackKind) async throws {
        let bench = try await Bench(kind, model: NoteModel.make(uniqueTexts: true))
        bench.root.mergePolicy = NSMergePolicy.error
        let other = try bench.separateContext()
        try await other.perform {
            other.insertNote("only one", 1)
            try other.save()
        }
        let main = bench.main
        let second = await main.perform { main.insertNote("only one", 2).objectID }
        try await everyFormFails(with: 133021, bench, isWritten: true)
        #expect(try bench.stored()["only one"] == 1)
        try await main.perform { try #require(main.existingObject(with: second) as? Note).text = "another" }
        try await everythingArrives(bench, beside: ["only one": 1, "another": 2])
    }

    @Test(
        "or merged into the row that has the unique values, under a policy that resolves",
        arguments: [
            (NSMergePolicy.mergeByPropertyStoreTrump, Int64(1)), (.rollback, 1), (.mergeByPropertyObjectTrump, 2), (.overwrite, 2),
        ],
        StackKind.allCases
    )
    func merging(_ policy: (NSMergePolicy, Int64), _ kind: StackKind) async throws {
        let bench = try await Bench(kind, model: NoteModel.make(uniqueTexts: true))
        bench.root.mergePolicy = policy.0
        let other = try bench.separateContext()
        try await other.perform {
            other.insertNote("only one", 1)
            try other.save()
        }
        let worker = bench.stack.newChildContext()
        try await worker.perform {
            worker.insertNote("only one", 2)
            worker.insertNote("another", 3)
            try worker.save()
        }
        try await worker.saveToStore()
        #expect(try bench.stored() == ["only one": policy.1, "another": 3])
        await bench.settle()
        for context in [bench.main, worker] {
            #expect(try await context.fetchedTexts() == ["only one": policy.1, "another": 3])
            await context.perform { #expect(!context.hasChanges) }
        }
    }

    // * A worker has read a note as one of a folder; others take it out of it; the worker reads the folder, which lacks it, and puts it in.
    // => Its save meets the conflict, and goes back to it; the next one arrives.
    @Test("a member of which a worker says what it has read, though others have changed it", arguments: StackKind.allCases)
    func outdatedMember(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        bench.root.mergePolicy = NSMergePolicy.error
        let (other, worker) = (try bench.separateContext(), bench.stack.newChildContext())
        let ids = try await other.perform {
            let (note, folder) = (other.insertNote("n"), Folder(context: other))
            note.folder = folder
            try other.save()
            return [note, folder].map { $0.objectID.uriRepresentation() }
        }
        let coordinator = try #require(bench.root.persistentStoreCoordinator)
        let own = try ids.map { try #require(coordinator.managedObjectID(forURIRepresentation: $0)) }
        try await worker.perform { try #require((worker.object(with: own[0]) as? Note)?.folder != nil) }
        try await other.perform {
            try #require(try other.note("n")).folder = nil
            try other.save()
        }
        try await worker.perform {
            let (note, folder) = (worker.object(with: own[0]), try #require(worker.object(with: own[1]) as? Folder))
            #expect(folder.notes.isEmpty)
            folder.notes = try [#require(note as? Note)]
        }
        await cocoaError(133020) { try await worker.saveToStore() }
        await worker.perform {
            worker.rollback()
            worker.insertNote("later")
        }
        try await worker.saveToStore()
        #expect(try bench.stored().keys.sorted() == ["later", "n"])
    }

    // * Two workers take a note out of its folder, and one is in the store first. The save of the other is refused for a duplicate.
    // => Nothing is put back to what the other had read: not in root, and not in the file.
    @Test("and of a change that others have saved, too, nothing is undone", arguments: StackKind.allCases)
    func sameChange(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let (root, main) = (bench.root, bench.main)
        let ids = try await main.perform {
            let (note, folder) = (main.insertNote("n"), Folder(context: main))
            note.folder = folder
            try main.obtainPermanentIDs(for: [note, folder])
            return [note.objectID, folder.objectID]
        }
        try await main.saveToStore()
        let known = try await root.perform { Kept(try #require(root.existingObject(with: ids[0]) as? Note), []) }
        let (first, second) = (bench.stack.newChildContext(), bench.stack.newChildContext())
        for worker in [second, first] {
            await worker.perform {
                worker.automaticallyMergesChangesFromParent = false
                (worker.object(with: ids[0]) as? Note)?.folder = nil
            }
        }
        try await first.saveToStore()
        await second.perform { _ = second.insertNote("same") }
        await cocoaError(133021) { try await second.saveToStore() }
        await root.perform { #expect(known.first.folder == nil && !root.hasChanges) }
        try await bench.stack.flush()
        let reader = try bench.separateContext()
        try await reader.perform {
            let note = try #require(try reader.note("n"))
            #expect(try note.folder == nil && reader.count(for: NSFetchRequest<Folder>(entityName: "Folder")) == 1)
        }
    }

    // * A worker has numbered a note, and main took that over; others have saved the same number since, which root and main know.
    // * Main's save is refused for a duplicate.
    // => The number stays what it is: that main changes nothing about it does not say that it was undone.
    @Test("and of a change of a worker that others have saved, too, main's save undoes nothing", arguments: StackKind.allCases)
    func sameChangeBelowMain(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let (root, main) = (bench.root, bench.main)
        await main.perform { _ = main.insertNote("n") }
        try await main.saveToStore()
        let kept = try await main.perform { Kept(try #require(try main.note("n")), []) }
        let read = try await root.perform { Kept(try #require(try root.note("n")), []) }
        let worker = NSManagedObjectContext(.privateQueue)
        worker.parent = main
        try await worker.perform {
            try #require(try worker.note("n")).number = 1
            try worker.save()
        }
        let other = try bench.separateContext()
        let saved = try await other.perform {
            let note = try #require(try other.note("n"))
            note.number = 1
            try other.save()
            return note.objectID.uriRepresentation()
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [saved]], into: [root, main])
        await root.perform { #expect(read.first.number == 1) }
        await main.perform {
            #expect(kept.first.number == 1)
            _ = main.insertNote("n", 5)
        }
        await cocoaError(133021) { try await main.saveToStore() }
        await root.perform { #expect(read.first.number == 1) }
        await main.perform {
            #expect(kept.first.number == 1)
            for note in main.insertedObjects { main.delete(note) }
        }
        try await main.saveToStore()
        #expect(try bench.stored() == ["n": 1, "same": 1])
    }

    // * Main saves a duplicate, which goes on to the store by itself; before it has come back, main saves something else to the store.
    // => That save does not say that all is well. What is refused is main's once more; the rest is, too, where it was saved together with that,
    // and else in the store.
    @Test("what was saved before, and comes back while its context saves to the store", arguments: StackKind.allCases)
    func earlierSave(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let main = bench.main
        let unsaved = await main.perform {
            let error = #expect(throws: CocoaError.self) {
                main.insertNote("same")
                try main.save()
                main.insertNote("other")
                try main.saveContextToStoreAndWait()
            }
            #expect(error?.code == .managedObjectConstraintMerge)
            return Set(main.insertedObjects.compactMap { ($0 as? Note)?.text })
        }
        #expect(unsaved.contains("same"))
        #expect(try bench.stored() == (unsaved.contains("other") ? ["same": 1] : ["same": 1, "other": 0]))
    }

    @Test("a file that nobody may write any more", arguments: StackKind.allCases)
    func readOnly(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        try await bench.sqliteStore.readOnly {
            try await everyFormFails(with: CocoaError.fileWriteNoPermission.rawValue, bench)
        }
        try await everythingArrives(bench)
    }

    @Test("a store that was opened read-only")
    func openedReadOnly() async throws {
        let bench = try await Bench(.file)
        try await bench.main.saveToStore()
        let reader = try await CoreDataStack.constructSQLiteStack(
            model: NoteModel.make(),
            at: bench.url,
            persistentStoreOptions: [NSReadOnlyPersistentStoreOption: true]
        )
        for form in SaveForm.allCases {
            let worker = reader.newChildContext()
            await worker.perform { _ = worker.insertNote("no") }
            await cocoaError(134030, "\(form)") { try await form.save(worker) }
        }
        #expect(try await reader.mainQueueContext.fetchedTexts() == ["no": 0])
    }

    @Test("a file that may not grow")
    func full() async throws {
        let bench = try await Bench(.file, options: [NSSQLitePragmasOption: ["max_page_count": "40"]])
        let main = bench.main
        let big = await main.perform { main.insertNote(String(repeating: "x", count: 1_000_000)).objectID }
        try await everyFormFails(with: CocoaError.fileWriteOutOfSpace.rawValue, bench)
        try await main.perform { try #require(main.existingObject(with: big) as? Note).text = "short" }
        try await everythingArrives(bench, beside: ["short": 0])
    }

    @Test("a file whose device fails at the commit", arguments: StackKind.allCases)
    func device(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let connection = try bench.sqliteStore.pool.write { $0 }
        let observe = connection.onStatement
        connection.onStatement = { sql in
            if sql == "COMMIT" { throw SQLiteError(extendedCode: 10, message: "injected", sql: sql) }
        }
        try await everyFormFails(with: 134070, bench)
        connection.onStatement = observe
        try await everythingArrives(bench)
    }
}

extension RefusedSaveTests {
    /// Saves a new note in each form from a worker, and each fails; and a save that nobody waits for.
    ///
    /// - Parameter isWritten: whether the note gets into the store nevertheless, because it is not the reason.
    private func everyFormFails(
        with code: Int,
        _ bench: Bench,
        isWritten: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try bench.stored()
        let worker = bench.stack.newChildContext()
        for form in SaveForm.allCases {
            await worker.perform { _ = worker.insertNote("\(form)") }
            await cocoaError(code, "\(form)", sourceLocation: sourceLocation) { try await form.save(worker) }
        }
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        try await worker.perform {
            worker.insertNote("save")
            try worker.save()
        }
        await cocoaError(code, "save", sourceLocation: sourceLocation) { if let error = await errors.next() { throw error } }
        await bench.settle()
        let written = isWritten ? Dictionary(uniqueKeysWithValues: Self.texts.map { ($0, Int64(0)) }) : [:]
        #expect(try bench.stored() == before.merging(written) { $1 }, sourceLocation: sourceLocation)
        if !isWritten { await bench.root.perform { [root = bench.root] in #expect(root.hasChanges, sourceLocation: sourceLocation) } }
    }

    private static let texts = SaveForm.allCases.map { "\($0)" } + ["save"]

    /// Whatever was saved before in vain is in the store after one more save.
    private func everythingArrives(
        _ bench: Bench,
        beside others: [String: Int64] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await bench.main.saveToStore()
        let expected = others.merging(Self.texts.map { ($0, 0) }) { $1 }
        #expect(try bench.stored() == expected, sourceLocation: sourceLocation)
        #expect(try await bench.main.fetchedTexts() == expected, sourceLocation: sourceLocation)
        for context in [bench.main, bench.root] { await context.perform { #expect(!context.hasChanges, sourceLocation: sourceLocation) } }
    }

    /// Main has changed a note to 7, which somebody else has changed to "theirs" and 5; root has read it before.
    ///
    /// - Returns: main's note.
    private func makeConflict(_ bench: Bench) async throws -> Kept {
        let (root, main) = (bench.root, bench.main)
        await main.perform { _ = main.insertNote("mine", 1) }
        try await main.saveToStore()
        let note = try await main.perform { Kept(try #require(try main.note("mine")), []) }
        let read = try await root.perform { Kept(try #require(try root.note("mine")), []) }
        try await root.perform { try #require(read.first.number == 1) }
        let other = try bench.separateContext()
        try await other.perform {
            let note = try #require(try other.note("mine"))
            (note.text, note.number) = ("theirs", 5)
            try other.save()
        }
        await main.perform { note.first.number = 7 }
        return note
    }
}

extension Bench {
    var sqliteStore: SQLiteStore {
        get throws { try #require(root.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore) }
    }
}
