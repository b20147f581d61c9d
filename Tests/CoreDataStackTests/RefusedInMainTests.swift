import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("Where main refuses a delete for the sake of what is related to the object", .timeLimit(.minutes(20)))
struct RefusedInMainTests {
    private func makeBench(_ change: (NSManagedObjectModel) throws -> Void = { _ in }) async throws -> Bench {
        let model = NoteModel.make()
        try change(model)
        model.entitiesByName["Folder"]?.relationshipsByName["notes"]?.deleteRule = .denyDeleteRule
        return try await Bench(.file, model: model)
    }

    // * A worker deletes a folder, renames another, and changes a note that main has inserted, which main puts into the folder meanwhile.
    // => The save goes back. A list of folders in main, which has heard of the delete and the new name, has what a fetch finds.
    @Test("a list in main hears that a worker's save has gone back")
    func list() async throws {
        let bench = try await makeBench()
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        try await main.perform {
            for name in ["a", "b", "c"] { Folder(context: main).name = name }
            try main.saveContextToStoreAndWait()
            main.insertNote("draft")
        }
        let list = try await main.perform { try FetchedList<Folder>(main, by: "name") }
        try await worker.perform {
            worker.delete(try #require(try worker.folder("a")))
            try worker.folder("b")?.name = "z"
            try worker.note("draft")?.number = 1
        }
        try await main.perform { try main.note("draft")?.folder = try main.folder("a") }
        await cocoaError(1600) { try await worker.saveToStore() }
        await bench.settle()
        await main.perform { #expect(list.texts == ["a", "b", "c"]) }
        try await worker.perform {
            #expect(worker.deletedObjects.count == 1)
            let renamed = try #require(try worker.folder("z"))
            #expect(renamed.hasChanges)
        }
    }

    // * A worker deletes a folder and its note. Main gives the note a reader meanwhile, and the folder another note, which is stored.
    // => The save goes back. Main has the note's reader again at both ends, and a list what a fetch finds.
    @Test(
        "what a refused delete has reached is related as before at both ends, also to whom its worker never knew",
        arguments: [false, true]
    )
    func undeletedMember(hasOwn: Bool) async throws {
        let bench = try await makeBench { model in
            let (readers, readings) = (NSRelationshipDescription(), NSRelationshipDescription())
            let (note, folder) = (try #require(model.entitiesByName["Note"]), try #require(model.entitiesByName["Folder"]))
            (readers.name, readers.destinationEntity, readers.inverseRelationship) = ("readers", folder, readings)
            (readings.name, readings.destinationEntity, readings.inverseRelationship) = ("readings", note, readers)
            note.properties.append(readers)
            folder.properties.append(readings)
        }
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        try await main.perform {
            let home = Folder(context: main)
            home.name = "home"
            for name in ["shelf", "other"] { Folder(context: main).name = name }
            main.insertNote("gone").folder = home
            try main.saveContextToStoreAndWait()
        }
        let list = try await main.perform { try FetchedList<Folder>(main, by: "name", where: "ANY readings.text == 'gone'") }
        try await worker.perform {
            worker.delete(try #require(try worker.note("gone")))
            worker.delete(try #require(try worker.folder("home")))
        }
        try await main.perform {
            let (note, shelf) = (try main.note("gone"), try #require(try main.folder("shelf")))
            note?.mutableSetValue(forKey: "readers").add(shelf)
            main.insertNote("late").folder = try main.folder("home")
            try main.saveContextToStoreAndWait()
            #expect(list.texts == ["shelf"])
            if hasOwn { main.delete(try #require(try main.folder("other"))) }
        }
        await cocoaError(1600) { try await worker.saveToStore() }
        await bench.settle()
        try await main.perform {
            let readings = try main.folder("shelf")?.value(forKey: "readings") as? Set<Note>
            #expect(readings?.map(\.text) == ["gone"])
            #expect((try main.note("gone")?.value(forKey: "readers") as? Set<Folder>)?.map(\.name) == ["shelf"])
            #expect(list.texts == ["shelf"])
        }
    }

    // * Main deletes a folder that has a note, and that a worker has renamed before. The worker's save is in the store, main's delete cannot be.
    // => Once main has given it up, the folder has the new name there, too, and so has a list.
    @Test("main's folder has what a worker has saved of it, once main gives its delete up")
    func rollback() async throws {
        let bench = try await makeBench()
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        // Used on main's queue only.
        nonisolated(unsafe) let folder = try await main.perform {
            let folder = Folder(context: main)
            folder.name = "old"
            try main.saveContextToStoreAndWait()
            return folder
        }
        try await worker.perform { worker.insertNote("note").folder = try worker.folder("old") }
        try await worker.saveToStore()
        let list = try await main.perform { try FetchedList<Folder>(main, by: "name") }
        try await worker.perform { try worker.folder("old")?.name = "new" }
        await main.perform { main.delete(folder) }
        await cocoaError(1600) { try await worker.saveToStore() }
        await bench.settle()
        let reader = try bench.separateContext(options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try reader.performAndWait { try reader.folder("new") } != nil)
        // NB: held since it was made, so that its row is main's own.
        await main.perform {
            #expect(folder.isDeleted)
            main.rollback()
            main.processPendingChanges()
            #expect(folder.name == "new" && list.texts == ["new"])
        }
    }
}

extension NSManagedObjectContext {
    fileprivate func folder(_ name: String) throws -> Folder? {
        try fetch(NSFetchRequest<Folder>(entityName: "Folder")).first { $0.name == name }
    }
}
