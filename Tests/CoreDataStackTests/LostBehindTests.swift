import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("What a save changes though its row is gone leaves the context that gives the save back", .timeLimit(.minutes(20)))
struct LostBehindTests {
    // * A worker changes a note that another has deleted, and that is gone from the store; it puts it into a new folder of main's, and saves into
    //   main. Main rolls back.
    // => The save goes back to the worker. The note is in no list of main's, and main has nothing unsaved.
    @Test("as main's rollback does")
    func rolledBack() async throws {
        let (bench, list, worker, held) = try await benchWithoutTheDeleted()
        let (main, root) = (bench.main, bench.root)
        try await main.perform {
            let folder = Folder(context: main)
            folder.name = "new"
            try worker.performAndWait {
                let note = try #require(held.objects.first)
                note.text = "changed"
                note.folder = try worker.fetch(NSFetchRequest<Folder>(entityName: "Folder")).first
                #expect(note.folder != nil)
                try worker.save()
            }
            #expect(main.updatedObjects.compactMap { $0 as? Note }.map(\.text) == ["changed"])
            main.rollback()
            #expect(!main.hasChanges)
        }
        await bench.settle()
        try await expectNothing(of: bench, list, in: [main, root])
    }

    // * A worker changes such a note, and saves. Its change gets as far as root, which knows that there is nothing to write it to.
    @Test("as root does where nothing else is saved", arguments: [NSMergePolicy.error, .mergeByPropertyStoreTrump])
    func refused(policy: NSMergePolicy) async throws {
        let (bench, list, worker, held) = try await benchWithoutTheDeleted()
        bench.root.mergePolicy = policy
        try await worker.perform {
            try #require(held.objects.first).text = "changed"
            try worker.save()
        }
        await bench.settle()
        try await expectNothing(of: bench, list, in: [bench.main, bench.root])
    }

    // * As before, and main changes the note while root is about to refuse it. Main rolls back.
    @Test("also where the context above has changed it meanwhile, as soon as it gives that up")
    func changedAbove() async throws {
        let (bench, list, worker, held) = try await benchWithoutTheDeleted()
        let main = bench.main
        await bench.root.perform { bench.root.mergePolicy = NSMergePolicy.error }
        try await bench.whileRootWrites {
            try await worker.perform {
                try #require(held.objects.first).text = "changed"
                try worker.save()
            }
        } then: {
            try await main.perform { try #require(list.objects.first).number = 1 }
        }
        await main.perform {
            #expect(main.updatedObjects.count == 1)
            main.rollback()
        }
        try await expectNothing(of: bench, list, in: [main, bench.root])
    }

    // * Two workers delete a folder. One saves that, and the delete of the note that is in it; the other's save changes the note, too.
    // => The second save goes back. Main has no folder to show, and none to delete.
    @Test("also where the save deletes what others have deleted")
    func deletedTwice() async throws {
        let model = NoteModel.make()
        model.entitiesByName["Folder"]?.relationshipsByName["notes"]?.deleteRule = .nullifyDeleteRule
        let bench = try await Bench(.file, model: model)
        let (main, root) = (bench.main, bench.root)
        let (first, second) = (bench.stack.newChildContext(), bench.stack.newChildContext())
        root.mergePolicy = NSMergePolicy.error
        let list = try await main.perform {
            let folder = Folder(context: main)
            folder.name = "doomed"
            main.insertNote("n").folder = folder
            try main.saveContextToStoreAndWait()
            return try FetchedList<Folder>(main, by: "name")
        }
        for context in [first, second] {
            try await context.perform {
                let folder = try context.fetch(NSFetchRequest<Folder>(entityName: "Folder")).first
                context.delete(try #require(folder))
            }
        }
        try await first.perform { first.delete(try #require(try first.fetch(NSFetchRequest<Note>(entityName: "Note")).first)) }
        try await first.saveToStore()
        await cocoaError(133020) { try await second.saveToStore() }
        await bench.settle()
        for context in [main, root] { await context.perform { #expect(!context.hasChanges && context.registeredObjects.isEmpty) } }
        await main.perform { #expect(list.texts.isEmpty) }
        await second.perform { #expect(second.deletedObjects.count == 1) }
    }

    /// A list of main's that shows no note, as the only one was deleted; a worker has not heard of that.
    private func benchWithoutTheDeleted() async throws -> (Bench, FetchedList<Note>, NSManagedObjectContext, FetchedList<Note>) {
        let bench = try await Bench(.file)
        let (main, worker, remover) = (bench.main, bench.stack.newChildContext(), bench.stack.newChildContext())
        let list = try await main.perform {
            Note(context: main).text = "doomed"
            try main.saveContextToStoreAndWait()
            return try FetchedList<Note>(main, by: "text")
        }
        let held = try await worker.perform { try FetchedList<Note>(worker, by: "text") }
        await worker.perform { #expect(held.texts == ["doomed"]) }
        try await remover.perform { remover.delete(try #require(try remover.fetch(NSFetchRequest<Note>(entityName: "Note")).first)) }
        try await remover.saveToStore()
        await bench.settle()
        await main.perform { #expect(list.texts.isEmpty) }
        return (bench, list, worker, held)
    }

    private func expectNothing(of bench: Bench, _ list: FetchedList<Note>, in contexts: [NSManagedObjectContext]) async throws {
        await bench.main.perform(schedule: .enqueued) { #expect(list.texts.isEmpty && list.areOfContext) }
        for context in contexts {
            try await context.perform {
                #expect(!context.hasChanges && context.registeredObjects.allSatisfy { !($0 is Note) })
                let notes = try context.fetch(NSFetchRequest<Note>(entityName: "Note"))
                #expect(notes.isEmpty)
            }
        }
        #expect(try bench.stored().isEmpty)
    }
}
