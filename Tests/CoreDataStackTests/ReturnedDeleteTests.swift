import CoreDataStack
import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Says where it is told of its delete.
private final class DoomedNote: Note {
    static let tellings = Mutex<[ObjectIdentifier: [String]]>([:])

    override func prepareForDeletion() {
        guard let context = managedObjectContext, let text else { return }
        Self.tellings.withLock { $0[ObjectIdentifier(context), default: []].append(text) }
    }

    static func all(in context: NSManagedObjectContext) throws -> [DoomedNote] { try context.fetch(NSFetchRequest<DoomedNote>()) }

    static func tellings(in context: NSManagedObjectContext) -> [String] { tellings.withLock { $0[ObjectIdentifier(context)] ?? [] } }
}

@Suite("An object whose delete is refused is told of it once:", .timeLimit(.minutes(20)))
struct ReturnedDeleteTests {
    // * A worker deletes a note, and inserts a duplicate; main has deleted another, which is saved with it.
    // => The worker's save goes back, main's is in the store, and `prepareForDeletion` was called once for each note in each context that has it.
    @Test("where it goes back, and where it is saved apart from others")
    func once() async throws {
        let model = NoteModel.make(uniqueTexts: true)
        model.entitiesByName["Note"]?.managedObjectClassName = NSStringFromClass(DoomedNote.self)
        let bench = try await Bench(.file, model: model)
        let (main, root, worker) = (bench.main, bench.stack.privateQueueContext, bench.stack.newChildContext())
        root.mergePolicy = NSMergePolicy.error
        try await main.perform {
            for text in ["same", "a", "b"] { DoomedNote(context: main).text = text }
            try main.saveContextToStoreAndWait()
        }
        try await main.perform { main.delete(try #require(try DoomedNote.all(in: main).first { $0.text == "b" })) }
        try await worker.perform {
            worker.delete(try #require(try DoomedNote.all(in: worker).first { $0.text == "a" }))
            DoomedNote(context: worker).text = "same"
        }
        await cocoaError(133021) { try await worker.saveToStore() }
        await bench.settle()
        await worker.perform { #expect(worker.deletedObjects.count == 1 && worker.insertedObjects.count == 1) }
        let reader = try bench.separateContext(options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try reader.performAndWait { try DoomedNote.all(in: reader).compactMap(\.text).sorted() } == ["a", "same"])
        #expect(DoomedNote.tellings(in: worker) == ["a"])
        #expect(DoomedNote.tellings(in: main).sorted() == ["a", "b"])
        #expect(DoomedNote.tellings(in: root).sorted() == ["a", "b"])
    }
}

@Suite("What a refused delete has reached in the contexts above", .timeLimit(.minutes(20)))
struct ReturnedDeleteReachTests {
    // * One worker puts a note into a folder; another, which has seen the folder empty, deletes it, and inserts a duplicate. Both saves are in main
    //   before it saves.
    // => The second save goes back. The note is in the folder, in the store too: its delete rule has not taken it away. Main and root have no changes.
    @Test("is there again, though another child has related it meanwhile", arguments: [NSDeleteRule.cascadeDeleteRule, .nullifyDeleteRule])
    func reached(rule: NSDeleteRule) async throws {
        let model = NoteModel.make(uniqueTexts: true)
        model.entitiesByName["Folder"]?.relationshipsByName["notes"]?.deleteRule = rule
        let bench = try await Bench(.file, model: model)
        let (main, root) = (bench.main, bench.stack.privateQueueContext)
        let (mover, remover) = (bench.stack.newChildContext(), bench.stack.newChildContext())
        root.mergePolicy = NSMergePolicy.error
        try await main.perform {
            for text in ["same", "moved"] { Note(context: main).text = text }
            Folder(context: main).name = "folder"
            try main.saveContextToStoreAndWait()
        }
        let list = try await main.perform { try FetchedList<Note>(main, by: "text") }
        try await main.perform {
            try mover.performAndWait {
                let note = try #require(try mover.fetch(NSFetchRequest<Note>(entityName: "Note")).first { $0.text == "moved" })
                note.folder = try mover.fetch(NSFetchRequest<Folder>(entityName: "Folder")).first
            }
            try remover.performAndWait {
                let folder = try #require(try remover.fetch(NSFetchRequest<Folder>(entityName: "Folder")).first)
                #expect(folder.notes.isEmpty)
                remover.delete(folder)
                Note(context: remover).text = "same"
            }
            try mover.performAndWait { try mover.save() }
            try remover.performAndWait { try remover.save() }
        }
        await cocoaError(133021) { try await bench.stack.flush() }
        try await expectNothingUnsaved(bench) { context, folders in
            #expect(folders.map { $0.notes.compactMap(\.text) } == [["moved"]])
            let notes = try context.fetch(NSFetchRequest<Note>(entityName: "Note")).filter { $0.text == "moved" }
            #expect(notes.map(\.folder?.name) == ["folder"])
        }
        await main.perform(schedule: .enqueued) { #expect(list.texts == ["moved", "same"] && list.areOfContext) }
    }

    // * A worker deletes a folder, which is stored. Another, which has read it before, moves a note into it, and has it own another: a note must
    //   have an owner.
    // => The save goes back. The notes are as they were, in all contexts, also in a list of main's, and no context has changes.
    @Test(
        "is no change of theirs where an object is related to one whose row is gone",
        arguments: [NSMergePolicy.mergeByPropertyStoreTrump, .rollback],
        [NSDeleteRule.cascadeDeleteRule, .nullifyDeleteRule]
    )
    func gone(policy: NSMergePolicy, rule: NSDeleteRule) async throws {
        let bench = try await Bench(.file, model: try modelWithOwners(rule))
        let (main, root) = (bench.main, bench.stack.privateQueueContext)
        let (mover, remover) = (bench.stack.newChildContext(), bench.stack.newChildContext())
        root.mergePolicy = policy
        let list = try await main.perform {
            let (home, doomed) = (Folder(context: main), Folder(context: main))
            (home.name, doomed.name) = ("home", "doomed")
            for text in ["moved", "owned"] {
                let note = Note(context: main)
                (note.text, note.folder) = (text, home)
                note.setValue(home, forKey: "owner")
            }
            try main.saveContextToStoreAndWait()
            return try FetchedList<Note>(main, by: "text")
        }
        func doomed(in context: NSManagedObjectContext) throws -> Folder {
            try #require(try context.fetch(NSFetchRequest<Folder>(entityName: "Folder")).first { $0.name == "doomed" })
        }
        try mover.performAndWait {
            let notes = try mover.fetch(NSFetchRequest<Note>(entityName: "Note"))
            let folder = try doomed(in: mover)
            notes.first { $0.text == "moved" }?.folder = folder
            notes.first { $0.text == "owned" }?.setValue(folder, forKey: "owner")
        }
        try remover.performAndWait { remover.delete(try doomed(in: remover)) }
        try await remover.saveToStore()
        try await mover.perform { try mover.save() }
        await cocoaError(1570) { try await bench.stack.flush() }
        try await expectNothingUnsaved(bench) { _, folders in
            #expect(folders.map(\.name) == ["home"] && folders.map { $0.notes.compactMap(\.text).sorted() } == [["moved", "owned"]])
            #expect((folders.first?.value(forKey: "owned") as? Set<Note>)?.count == 2)
        }
        await main.perform(schedule: .enqueued) { #expect(list.texts == ["moved", "owned"] && list.areOfContext) }
    }

    /// Once all saves have come to an end, main and root have no changes; `check` looks at the folders that they have, and the file.
    private func expectNothingUnsaved(
        _ bench: Bench,
        _ check: @escaping @Sendable (NSManagedObjectContext, [Folder]) throws -> Void
    ) async throws {
        await bench.settle()
        let layers = [bench.main, bench.stack.privateQueueContext]
        for context in layers { await context.perform { #expect(!context.hasChanges) } }
        for context in layers + [try bench.separateContext(options: [NSReadOnlyPersistentStoreOption: true])] {
            try await context.perform { try check(context, try context.fetch(NSFetchRequest<Folder>(entityName: "Folder"))) }
        }
    }

    private func modelWithOwners(_ rule: NSDeleteRule) throws -> NSManagedObjectModel {
        let model = NoteModel.make()
        let (folder, note) = (try #require(model.entitiesByName["Folder"]), try #require(model.entitiesByName["Note"]))
        folder.relationshipsByName["notes"]?.deleteRule = rule
        let (owned, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
        (owned.name, owned.destinationEntity, owned.inverseRelationship, owned.deleteRule) = ("owned", note, owner, .nullifyDeleteRule)
        (owner.name, owner.destinationEntity, owner.inverseRelationship, owner.maxCount) = ("owner", folder, owned, 1)
        owner.isOptional = false
        folder.properties.append(owned)
        note.properties.append(owner)
        return model
    }
}
