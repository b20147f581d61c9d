import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("What a refused save has related", .timeLimit(.minutes(20)))
struct ReturnedRelationTests {
    // * A worker moves a note from one folder into another, and makes it that folder's favourite; that is stored. A second, which has read the note
    //   before, moves it into a third folder in the same way, and inserts a duplicate.
    // => The second save goes back. Main and root have the note in the second folder again, at both ends, and the third is empty.
    @Test("is related as others have saved it before, in the contexts above", arguments: [false, true], [false, true])
    func movedMeanwhile(hasOwn: Bool, isNew: Bool) async throws {
        let bench = try await Bench(.file, model: try NoteModel.withFavourites(ordersNotes: true))
        let (main, root) = (bench.main, bench.root)
        let (early, late) = (bench.stack.newChildContext(), bench.stack.newChildContext())
        root.mergePolicy = NSMergePolicy.error
        try await main.perform {
            for name in isNew ? ["first"] : ["first", "second"] { Folder(context: main).name = name }
            main.insertNote("same")
            try main.move(main.insertNote("moved"), into: "first")
            try main.saveContextToStoreAndWait()
        }
        let lists = try await main.perform { (try FetchedList<Folder>(main, by: "name"), try FetchedList<Note>(main, by: "text")) }
        for context in [main, late] { try await expect(["first: moved moved"] + (isNew ? [] : ["second: -"]), in: context) }
        try await early.perform {
            if isNew { Folder(context: early).name = "second" }
            try early.move(try early.note(saying: "moved"), into: "second")
        }
        try await early.saveToStore()
        await bench.settle()
        try await late.perform {
            let note = try late.note(saying: "moved")
            Folder(context: late).name = "third"
            try late.move(note, into: "third")
            note.text = "same"
        }
        if hasOwn { await main.perform { _ = main.insertNote("own") } }
        await cocoaError(133021) { try await late.saveToStore() }
        await bench.settle()
        for context in [main, root, try bench.separateContext(options: [NSReadOnlyPersistentStoreOption: true])] {
            try await expect(["first: -", "second: moved moved"], in: context)
            await context.perform { #expect(!context.hasChanges) }
        }
        let texts = ["moved"] + (hasOwn ? ["own"] : []) + ["same"]
        await main.perform { #expect(lists.0.texts == ["first", "second"] && lists.1.texts == texts) }
    }

    private func expect(_ folders: [String], in context: NSManagedObjectContext) async throws {
        let found = try await context.perform { try context.favourites() }
        #expect(found == folders)
    }
}
