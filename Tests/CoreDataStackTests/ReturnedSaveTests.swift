import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("A save of which a store refuses the data goes back to the context that saved it:", .timeLimit(.minutes(20)))
struct ReturnedSaveTests {
    // * One worker has saved a text that must be unique. Another saves it too; a third saves another.
    // => The second has its note unsaved once more, with the reason; main and root have nothing of it.
    // => The third's is in the store; so is the second's, once it is another.
    @Test("a duplicate, and every later save of others arrives", arguments: StackKind.allCases)
    func duplicate(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let (second, third) = (bench.stack.newChildContext(), bench.stack.newChildContext())
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        let note = try await second.perform {
            let note = second.insertNote("same", 2)
            try second.save()
            #expect(!second.hasChanges)
            return Kept(note, [])
        }
        let error = try #require(await errors.next() as? CocoaError)
        #expect(error.errorCode == 133021)
        #expect(error.userInfo[CoreDataStack.contextErrorKey] as? NSManagedObjectContext === second)
        await second.perform {
            #expect(second.insertedObjects == [note.first])
            #expect(error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [note.first])
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            #expect(
                conflicts?.map(\.conflictingObjects) == [[note.first]] && conflicts?.first?.databaseObject?.managedObjectContext === second
            )
            #expect(conflicts?.first?.constraint == ["text"] && conflicts?.first?.constraintValues["text"] as? String == "same")
            #expect(note.first.text == "same" && note.first.number == 2)
        }
        try await bench.expectClean(["same": 1])
        try await third.perform {
            third.insertNote("other", 3)
            try third.save()
        }
        await bench.settle()
        #expect(try bench.stored() == ["same": 1, "other": 3])
        await second.perform { note.first.text = "another" }
        try await second.saveToStore()
        try await bench.expectClean(["same": 1, "other": 3, "another": 2])
        await second.perform { #expect(!second.hasChanges && !note.first.objectID.isTemporaryID) }
    }

    @Test("with the answer, in every form that waits", arguments: SaveForm.allCases, StackKind.allCases)
    func forms(_ form: SaveForm, _ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let worker = bench.stack.newChildContext()
        let note = await worker.perform { Kept(worker.insertNote("same", 2), []) }
        for _ in 0..<2 {
            let error = await cocoaError(133021) { try await form.save(worker) }
            await worker.perform {
                #expect(worker.insertedObjects == [note.first])
                #expect(error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [note.first])
            }
            try await bench.expectClean(["same": 1])
        }
        await worker.perform { note.first.text = "another" }
        try await form.save(worker)
        try await bench.expectClean(["same": 1, "another": 2])
    }

    // * A worker changes, deletes, relates and inserts, and one insertion is a duplicate. It has changed more by the time this comes back.
    @Test("with all its changes, beneath those made since", arguments: StackKind.allCases)
    func whole(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let main = bench.main
        await main.perform {
            let folder = Folder(context: main)
            folder.name = "home"
            for text in ["a", "b", "c"] { main.insertNote(text).folder = folder }
        }
        try await main.saveToStore()
        let worker = bench.stack.newChildContext()
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        try await worker.perform {
            let (a, b, c) = (try #require(try worker.note("a")), try #require(try worker.note("b")), try #require(try worker.note("c")))
            let home = try #require(a.folder)
            #expect(home.notes.count == 3)
            a.number = 5
            worker.delete(b)
            c.folder = nil
            worker.insertNote("same", 2).folder = home
            try worker.save()
            (a.text, a.number) = ("a later", 6)
            c.number = 7
        }
        await cocoaError(133021) { if let error = await errors.next() { throw error } }
        try await bench.expectClean(["same": 1, "a": 0, "b": 0, "c": 0])
        let members = try await main.perform { try main.note("c")?.folder?.notes.count }
        #expect(members == 3)
        try await worker.perform {
            #expect(worker.insertedObjects.count == 1 && worker.deletedObjects.count == 1)
            let (a, c) = (try #require(try worker.note("a later")), try #require(try worker.note("c")))
            #expect(a.number == 6 && c.number == 7 && c.folder == nil)
            #expect(Set(try #require(a.folder).notes.compactMap(\.text)) == ["a later", "same"])
            for case let note as Note in worker.insertedObjects { note.text = "mended" }
        }
        try await worker.saveToStore()
        try await bench.expectClean(["same": 1, "a later": 6, "c": 7, "mended": 2])
        let names = try bench.read { context in try context.fetch(NSFetchRequest<Folder>())[0].notes.compactMap(\.text).sorted() }
        #expect(names == ["a later", "mended"])
    }

    @Test("to a new context where that one is gone, which the error has", arguments: StackKind.allCases)
    func orphan(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        do {
            let worker = bench.stack.newChildContext()
            try await worker.perform {
                worker.insertNote("same", 2)
                try worker.save()
            }
        }
        let error = try #require(await errors.next() as? CocoaError)
        let context = try #require(error.userInfo[CoreDataStack.contextErrorKey] as? NSManagedObjectContext)
        await context.perform { for note in context.insertedObjects { (note as? Note)?.text = "mended" } }
        try await context.saveToStore()
        try await bench.expectClean(["same": 1, "mended": 2])
    }

    // * Root cannot write for a while: what six workers save waits. Two of them have saved a duplicate, one has built on what one of these saved.
    @Test("and not the saves that were written with it, but for those that build on it")
    func company() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let workers = (0..<6).map { _ in bench.stack.newChildContext() }
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        try await bench.whileRootWrites(true) {
            for (number, worker) in workers.enumerated() where number != 4 {
                try await worker.perform {
                    let note = worker.insertNote(number == 1 ? "same" : number == 3 ? "0" : "\(number)", Int64(number))
                    if number == 1 {
                        note.folder = Folder(context: worker)
                        note.folder?.name = "of the duplicate"
                    }
                    try worker.save()
                }
            }
            let dependent = workers[4]
            try await dependent.perform {
                dependent.insertNote("4", 4).folder = try dependent.fetch(NSFetchRequest<Folder>()).first { $0.name == "of the duplicate" }
                try dependent.save()
            }
        }
        for _ in 0..<3 { await cocoaError(133021) { if let error = await errors.next() { throw error } } }
        try await bench.expectClean(["same": 1, "0": 0, "2": 2, "5": 5])
        for (number, worker) in workers.enumerated() {
            await worker.perform { #expect(worker.hasChanges == [1, 3, 4].contains(number), "\(number)") }
        }
    }

    @Test("and a save that comes to nothing beside it is over")
    func nothing() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let (duplicate, first, second) = (bench.stack.newChildContext(), bench.stack.newChildContext(), bench.stack.newChildContext())
        try await bench.main.perform { [main = bench.main] in
            main.insertNote("a")
            try main.save()
        }
        try await bench.stack.flush()
        for worker in [first, second] { try await worker.perform { worker.delete(try #require(try worker.note("a"))) } }
        try await bench.whileRootWrites(true) {
            await duplicate.perform { _ = duplicate.insertNote("same", 2) }
            for worker in [duplicate, first, second] { try await worker.perform { try worker.save() } }
        }
        try await bench.stack.flush(ignoring: 133021)
        try await bench.expectClean(["same": 1])
        await duplicate.perform { #expect(duplicate.hasChanges) }
    }

    @Test("and what an observer changes in the layer meanwhile is not lost")
    func observers() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let (root, worker) = (bench.root, bench.stack.newChildContext())
        await root.perform { _ = root.insertNote("root's") }
        await worker.perform { _ = worker.insertNote("same", 2) }
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: root, queue: nil) {
            [root] _ in
            if let count = try? root.texts().count, count < 5 { root.insertNote("observer's \(count)") }
        }
        await cocoaError(133021) { try await worker.saveToStore() }
        NotificationCenter.default.removeObserver(observer)
        let texts = try await bench.main.fetchedTexts()
        #expect(Set(texts.keys).isSuperset(of: ["same", "root's", "observer's 2"]))
        await worker.perform { #expect(worker.insertedObjects.count == 1) }
        try await bench.stack.flush()
        #expect(try bench.stored() == texts)
    }

    @Test("also main's own, whose other saves and those of workers go on", arguments: StackKind.allCases)
    func main(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let main = bench.main
        var errors = bench.stack.saveErrors.makeAsyncIterator()
        let note = try await main.perform {
            let note = main.insertNote("same", 2)
            try main.save()
            return Kept(note, [])
        }
        await cocoaError(133021) { if let error = await errors.next() { throw error } }
        await main.perform { #expect(main.insertedObjects == [note.first] && note.first.text == "same") }
        let worker = bench.stack.newChildContext()
        try await worker.perform {
            worker.insertNote("good")
            try worker.save()
        }
        await cocoaError(133021) { if let error = await errors.next() { throw error } }
        #expect(try bench.stored() == ["same": 1, "good": 0])
        await main.perform {
            #expect(main.insertedObjects == [note.first])
            note.first.text = "mended"
        }
        try await main.saveToStore()
        try await bench.expectClean(["same": 1, "good": 0, "mended": 2])
    }

    // * Main has an object that is not valid yet, and ones that are. Workers save something, a duplicate, and what refers to main's.
    // => Just the last waits for main.
    @Test("and drafts of main keep nobody's saves from the store", arguments: StackKind.allCases)
    func drafts(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let main = bench.main
        let draft = await main.perform {
            let folder = Folder(context: main)
            folder.name = "new"
            return Kept(main.insertNote(nil), [main.insertNote("valid")])
        }
        let (good, bad, building) = (bench.stack.newChildContext(), bench.stack.newChildContext(), bench.stack.newChildContext())
        try await good.perform {
            good.insertNote("good")
            try good.save()
        }
        try await building.perform {
            building.insertNote("in new").folder = try building.fetch(NSFetchRequest<Folder>()).first
            try building.save()
        }
        await bad.perform { _ = bad.insertNote("same", 2) }
        await cocoaError(133021) { try await bad.saveToStore() }
        await bench.settle()
        #expect(try bench.stored() == ["same": 1, "good": 0])
        await bad.perform { #expect(bad.insertedObjects.count == 1) }
        await main.perform {
            #expect(draft.first.isInserted && draft.first.text == nil)
            draft.first.text = "draft"
        }
        try await main.saveToStore()
        try await bench.expectClean(["same": 1, "good": 0, "in new": 0, "valid": 0, "draft": 0])
        let folder = try bench.read { context in try context.note("in new")?.folder?.name }
        #expect(folder == "new")
    }

    @Test("however many there are, and the others' arrive")
    func many() async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let workers = (0..<10).map { _ in bench.stack.newChildContext() }
        try await bench.whileRootWrites(true) {
            for round in 0..<30 {
                for (number, worker) in workers.enumerated() {
                    try await worker.perform {
                        worker.insertNote(number == 3 ? "same" : "\(number)/\(round)", 2)
                        try worker.save()
                    }
                }
            }
        }
        try await bench.stack.flush(ignoring: 133021)
        #expect(try bench.stored().count == 9 * 30 + 1)
        for (number, worker) in workers.enumerated() {
            await worker.perform { #expect(worker.insertedObjects.count == (number == 3 ? 30 : 0), "\(number)") }
        }
        for context in [bench.main, bench.root] { await context.perform { #expect(!context.hasChanges) } }
    }

    // * The store cannot be written. A worker and main have saved; the worker has changed something since.
    // => Nothing of what was saved is anywhere any more; what was not saved is, and can be saved.
    @Test("what the world refuses waits, until somebody throws it away", arguments: StackKind.allCases)
    func thrownAway(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let worker = bench.stack.newChildContext()
        try await bench.sqliteStore.readOnly {
            await worker.perform {
                worker.insertNote("from a worker").folder = Folder(context: worker)
            }
            await cocoaError(CocoaError.fileWriteNoPermission.rawValue) { try await worker.saveToStore() }
            try await bench.main.perform { [main = bench.main] in try #require(try main.note("same")).number = 5 }
            await cocoaError(CocoaError.fileWriteNoPermission.rawValue) { try await bench.main.saveToStore() }
            await worker.perform { _ = worker.insertNote("unsaved") }
            await bench.main.rollbackToStore()
        }
        #expect(try await bench.main.fetchedTexts() == ["same": 1])
        for context in [bench.main, bench.root] { await context.perform { #expect(!context.hasChanges) } }
        try await worker.saveToStore()
        try await bench.expectClean(["same": 1, "unsaved": 0])
    }
}

extension Bench {
    /// Notes of which no two may have the same text; one that says "same" is in the store.
    static func uniqueTexts(_ kind: StackKind) async throws -> Bench {
        let bench = try await Bench(kind, model: NoteModel.make(uniqueTexts: true))
        bench.root.mergePolicy = NSMergePolicy.error
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("same", 1) }
        try await bench.main.saveToStore()
        return bench
    }

    /// The store has these notes, main finds the same, and neither main nor root have anything unsaved.
    func expectClean(_ texts: [String: Int64], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(try stored() == texts, sourceLocation: sourceLocation)
        #expect(try await main.fetchedTexts() == texts, sourceLocation: sourceLocation)
        for context in [main, root] { await context.perform { #expect(!context.hasChanges, sourceLocation: sourceLocation) } }
    }
}

extension CoreDataStack {
    /// Flushes; an error of that code is expected.
    func flush(ignoring code: Int) async throws {
        do { try await flush() } catch let error as CocoaError where error.errorCode == code {}
    }
}
