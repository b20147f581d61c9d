import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("A new object that the store's takes the place of", .timeLimit(.minutes(20)))
struct ReplacedMeanwhileTests {
    // * A worker saves a note of which the store has the text already. While that is on its way, main changes the note that the worker has brought,
    //   and saves too.
    // => Main's change is for the stored note, in the store and in main.
    @Test(
        "has what the context between has changed of it, and saved, meanwhile",
        arguments: [NSMergePolicy.rollback, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump],
        [false, true]
    )
    func saved(policy: NSMergePolicy, isListed: Bool) async throws {
        let bench = try await Bench.uniqueTexts(.file)
        let (main, root) = (bench.main, bench.root)
        await root.perform { root.mergePolicy = policy }
        let list = try await main.perform { isListed ? try FetchedList<Note>(main, by: "text") : nil }
        try await whileDuplicateIsWritten(bench) { _, note in (note.text, note.number) = ("other", 3) }
        #expect(try bench.stored() == ["other": 3])
        let found = try await main.perform { try main.texts() }
        #expect(found == ["other": 3])
        for context in [main, root] { await context.perform { #expect(!context.hasChanges) } }
        if let list { await main.perform { #expect(list.texts == ["other"] && list.areOfContext) } }
    }

    // * As before; main puts the note into another folder than the stored one is in, as its favourite.
    @Test(
        "is where the context between has put it meanwhile",
        arguments: [NSMergePolicy.rollback, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump]
    )
    func moved(policy: NSMergePolicy) async throws {
        let bench = try await Bench(.file, model: try NoteModel.withFavourites())
        let (main, root) = (bench.main, bench.root)
        await root.perform { root.mergePolicy = policy }
        let lists = try await main.perform {
            for name in ["first", "second"] { Folder(context: main).name = name }
            try main.move(main.insertNote("same", 1), into: "first")
            try main.saveContextToStoreAndWait()
            return (try FetchedList<Note>(main, by: "text"), try FetchedList<Folder>(main, by: "name"))
        }
        try await whileDuplicateIsWritten(bench) { main, note in try main.move(note, into: "second") }
        for context in [try bench.separateContext(options: [NSReadOnlyPersistentStoreOption: true]), main, root] {
            let found = try await context.perform { try context.favourites() }
            #expect(found == ["first: -", "second: same same"], "\(context.name ?? "file"), \(policy.mergeType.rawValue)")
            await context.perform { #expect(!context.hasChanges) }
        }
        await main.perform { #expect(lists.0.texts == ["same"] && lists.1.areOfContext) }
    }

    /// Main changes the note that a worker has saved into it, and saves, while root is about to find out that the store has its text already.
    private func whileDuplicateIsWritten(
        _ bench: Bench,
        _ change: @escaping @Sendable (NSManagedObjectContext, Note) throws -> Void
    ) async throws {
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        try await bench.whileRootWrites {
            try await worker.perform {
                worker.insertNote("same", 2)
                try worker.save()
            }
        } then: {
            try await main.perform {
                try change(main, try #require(try main.fetch(NSFetchRequest<Note>(entityName: "Note")).first { $0.number == 2 }))
                try main.save()
            }
        }
    }
}
