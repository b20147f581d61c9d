import CoreData
import CoreDataStack
import Foundation
import TestSupport
import Testing

private final class NoteContainer: NSPersistentContainer, @unchecked Sendable {
    // Without a state of its own.
}

private struct Refusal: Error {}

@Suite("A container from a configurator")
struct ConfiguratorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("is of the type that is expected, on a file whose folders are made")
    func file() async throws {
        let configurator = SQLitePersistentStoreDescriptionConfigurator(
            directory: folder.file("not there"),
            name: "Zettel 📝"
        )
        let container: NoteContainer = try .makePersistentContainer(named: "Z", for: NoteModel.make(), configurator: configurator)
        #expect(container.name == "Z" && container.persistentStoreCoordinator.persistentStores.isEmpty)
        try await container.loadPersistentStores()
        let url = folder.file("not there/Zettel 📝/Zettel 📝.sqlite")
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.url) == [url])
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    @Test("has the name and the models of a bundle")
    func bundle() async throws {
        let files = try ModelFiles("Notes")
        let place = try TemporaryStore()
        let container: NSPersistentContainer = try .makePersistentContainer(forModelsInBundle: files.bundle, configurator: place)
        #expect(container.name == files.folder.deletingPathExtension().lastPathComponent)
        #expect(container.managedObjectModel.entities.count == 2)
        try await container.loadPersistentStores()
        try await container.performBackgroundTask { context in
            context.insertNote("note")
            try context.save()
        }
        #expect(try await container.performForegroundTask { try $0.texts() } == ["note": 0])
    }

    @Test("for a bundle without a usable model is an error that names the bundle")
    func missingModel() throws {
        let (empty, damaged) = (try ModelFiles(nil), try ModelFiles("Notes"))
        try Data("no model".utf8).write(to: damaged.folder.appendingPathComponent("Broken.mom"))
        for files in [empty, damaged] {
            let bundle = try files.bundle
            let error = #expect(throws: MissingModelInBundleError.self) {
                let _: NoteContainer = try .makePersistentContainer(
                    forModelsInBundle: bundle,
                    configurator: InMemoryPersistentStoreDescriptionConfigurator()
                )
            }
            #expect(error?.bundle == bundle)
            #expect(error?.localizedDescription.contains(files.folder.deletingPathExtension().lastPathComponent) == true)
        }
    }

    @Test("is not made where a configurator refuses, or a folder cannot be made")
    func refusing() throws {
        struct Refusing: PersistentStoreDescriptionConfigurator {
            func configure(_ description: NSPersistentStoreDescription) throws { throw Refusal() }
        }
        #expect(throws: Refusal.self) {
            let _: NoteContainer = try .makePersistentContainer(named: "N", for: NoteModel.make(), configurator: Refusing())
        }
        let file = try folder.write("a file", to: "file")
        #expect(throws: CocoaError.self) {
            let _: NoteContainer = try .makePersistentContainer(
                named: "N",
                for: NoteModel.make(),
                configurator: SQLitePersistentStoreDescriptionConfigurator(directory: file, name: "N")
            )
        }
        #expect(try Data(contentsOf: file) == Data("a file".utf8))
    }

    @Test("is described by several configurators, one after the other")
    func composite() throws {
        struct Slow: PersistentStoreDescriptionConfigurator {
            func configure(_ description: NSPersistentStoreDescription) { description.timeout *= 2 }
        }
        let place = try TemporaryStore()
        let composite = CompositePersistentStoreDescriptionConfigurator(
            place,
            Slow(),
            CompositePersistentStoreDescriptionConfigurator([Slow()])
        )
        let container: NSPersistentContainer = try .makePersistentContainer(named: "N", for: NoteModel.make(), configurator: composite)
        let description = try #require(container.persistentStoreDescriptions.first)
        #expect(description.timeout == 120 && description.url == place.url && description.type == NSSQLiteStoreType)
    }

    @Test("in a temporary place has a file to itself, which goes with the place")
    func temporary() async throws {
        var places = try [TemporaryStore(), TemporaryStore(name: "Zweiter ü")]
        for place in places {
            let container: NSPersistentContainer = try .makePersistentContainer(named: "N", for: NoteModel.make(), configurator: place)
            try await container.loadPersistentStores()
            #expect(FileManager.default.fileExists(atPath: place.url.path))
            #expect(try await container.performBackgroundTask { try $0.texts() } == [:])
            // The task may end a moment later than its answer comes: it does not hold the place.
            let path = place.url.path
            try await container.performBackgroundTask { context in
                context.insertNote(path)
                try context.save()
            }
        }
        let directories = places.map(\.directory.path)
        #expect(Set(directories).count == 2)
        places = []
        #expect(directories.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
    }
}

@Suite("Two contexts side by side")
struct TwoContextTests {
    /// A loaded container in a place of its own, which is to be held.
    private func make() async throws -> (TwoContextStack, TemporaryStore) {
        let place = try TemporaryStore()
        let container: NSPersistentContainer = try .makePersistentContainer(named: "N", for: NoteModel.make(), configurator: place)
        try await container.loadPersistentStores()
        return (TwoContextStack(container), place)
    }

    @Test("take over what the other saves, both ways")
    func merging() async throws {
        let (stack, place) = try await make()
        defer { withExtendedLifetime(place) {} }
        let (main, background) = (stack.mainQueueContext, stack.backgroundContext)
        let pairs = [(main, background), (background, main)]
        for (index, (saver, other)) in pairs.enumerated() {
            let id = try await saver.perform {
                let note = saver.insertNote("old \(index)")
                try saver.save()
                return note.objectID
            }
            // A note that the other context has read, and holds.
            let read = try await other.perform {
                other.retainsRegisteredObjects = true
                return (try other.existingObject(with: id) as? Note)?.text
            }
            #expect(read == "old \(index)")
            try await saver.perform {
                (saver.object(with: id) as? Note)?.text = "new \(index)"
                try saver.save()
            }
            await other.perform(schedule: .enqueued) {}
            #expect(await other.perform { (other.registeredObject(for: id) as? Note)?.text } == "new \(index)")
        }
    }

    // * Both change the same note, and save one after the other without waiting.
    @Test("let the later save win, property by property")
    func conflict() async throws {
        let (stack, place) = try await make()
        defer { withExtendedLifetime(place) {} }
        let (main, background) = (stack.mainQueueContext, stack.backgroundContext)
        let id = try await main.perform {
            let note = main.insertNote("first", 1)
            try main.save()
            return note.objectID
        }
        await background.perform { (background.object(with: id) as? Note)?.text = "background" }
        try await main.perform {
            (main.object(with: id) as? Note)?.text = "main"
            (main.object(with: id) as? Note)?.number = 2
            try main.save()
        }
        try await background.perform { try background.save() }
        #expect(try await stack.container.performBackgroundTask { try $0.texts() } == ["background": 2])
    }
}

@Suite("A foreground task")
struct ForegroundTaskTests {
    @Test("runs on the main queue, with the main context, and gives back what it throws")
    func tasks() async throws {
        let place = try TemporaryStore()
        let container: NSPersistentContainer = try .makePersistentContainer(named: "N", for: NoteModel.make(), configurator: place)
        try await container.loadPersistentStores()
        let isRight = await withCheckedContinuation { continuation in
            let block: @Sendable (NSManagedObjectContext) -> Void = { context in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(returning: context === container.viewContext)
            }
            container.performForegroundTask(block)
        }
        #expect(isRight)
        let name = await container.performForegroundTask { context in
            MainActor.preconditionIsolated()
            return context.insertNote("unsaved").text
        }
        #expect(name == "unsaved")
        await #expect(throws: Refusal.self) { try await container.performForegroundTask { _ in throw Refusal() } }
    }
}
