import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A container")
struct ContainerTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    @Test("has a main context on its coordinator, and new private ones beside it")
    func contexts() throws {
        let container = NSPersistentContainer.make(folder.store)
        #expect(container.loaded() == ["Store.sqlite": 0])
        let background = container.newBackgroundContext()
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(background.concurrencyType == .privateQueueConcurrencyType && background !== container.newBackgroundContext())
        for context in [container.viewContext, background] {
            #expect(context.persistentStoreCoordinator === container.persistentStoreCoordinator && context.parent == nil)
            #expect(!context.automaticallyMergesChangesFromParent)
        }
        #expect(container.managedObjectModel === container.persistentStoreCoordinator.managedObjectModel)
    }

    @Test("is told by its name where its store is")
    func defaultDescription() {
        let container = NSPersistentContainer(name: "Bücher 📚", managedObjectModel: ContainerModel.make())
        let urls = container.persistentStoreDescriptions.map(\.url)
        #expect(urls == [NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Bücher 📚.sqlite")])
        #expect(container.name == "Bücher 📚" && container.persistentStoreDescriptions[0].type == NSSQLiteStoreType)
        let directory: URL = NSPersistentContainer.defaultDirectoryURL
        #expect(directory == NSPersistentContainer.defaultDirectoryURL())
    }

    // * A subclass has its stores in a folder that is not there, below another.
    // => The folder is made when the store is loaded.
    @Test("of a subclass has its store in the subclass's folder, which is made")
    func subclassFolder() async throws {
        final class Elsewhere: NSPersistentContainer, @unchecked Sendable {
            // No state of its own.
            static let folder = Lock(URL(fileURLWithPath: "/"))
            override class func defaultDirectoryURL() -> URL { folder.withLock { $0 } }
        }
        Elsewhere.folder.withLock { $0 = folder.file("not/there yet/ü") }
        let container = Elsewhere(name: "Mine", managedObjectModel: ContainerModel.make())
        #expect(!FileManager.default.fileExists(atPath: folder.file("not").path))
        try await container.loadPersistentStores()
        #expect(FileManager.default.fileExists(atPath: folder.file("not/there yet/ü/Mine.sqlite").path))
    }

    @Test("whose stores were not loaded says so where something is saved")
    func unloaded() throws {
        let context = NSPersistentContainer.make(folder.store).newBackgroundContext()
        let error = context.performAndWait {
            context.insertNote("a")
            return cocoaError(134030) { try context.save() }
        }
        #expect(error?.localizedDescription == "The coordinator has no stores: nothing can be saved. Add one first.")
    }

    @Test("makes no folder of a place that it was told, and says that there is none")
    func customFolder() {
        var text = ""
        NSPersistentContainer.make(folder.file("not there/Store.sqlite")).loadPersistentStores { text = $1?.localizedDescription ?? "" }
        #expect(text.contains("there is no folder \(folder.path("not there")): make it first"), "\(text)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("not there").path))
    }

    @Test("says that there is a folder where its store should be")
    func folderAtPlace() throws {
        var text = ""
        try FileManager.default.createDirectory(at: folder.file("Store.sqlite"), withIntermediateDirectories: true)
        NSPersistentContainer.make(folder.file("Store.sqlite")).loadPersistentStores { text = $1?.localizedDescription ?? "" }
        #expect(text.contains("there is a folder at its place"), "\(text)")
    }

    @Test("finds the model of its name beside the executable")
    func modelByName() throws {
        let name = "Container \(UUID())"
        let place = try #require(Bundle.main.executableURL).deletingLastPathComponent().appendingPathComponent("\(name).xcdatamodel")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        try Data("<model>\(BundleFolder.entity("Note", "text"))</model>".utf8).write(to: place.appendingPathComponent("contents"))
        let container = NSPersistentContainer(name: name)
        #expect(container.managedObjectModel.entities.map(\.name) == ["Note"])
    }

    @Test("takes the model that generated sources have registered under its name, the very instance")
    func registeredModel() {
        let (name, model) = ("Registered \(UUID())", ContainerModel.make())
        NSManagedObjectModel.register(name) { model }
        let containers = [NSPersistentContainer(name: name), NSPersistentContainer(name: name)]
        for container in containers { #expect(container.managedObjectModel === model) }
    }

    // * There is no model of the name.
    // => No store is loaded, or even made; the error says what is missing and where it was looked for.
    @Test("without a model of its name says so when stores are loaded")
    func missingModel() async throws {
        let container = NSPersistentContainer(name: "No such model")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.store)]
        #expect(container.managedObjectModel.entities.isEmpty)
        for _ in 0..<2 { #expect(container.loaded() == ["Store.sqlite": CocoaError.Code.fileReadNoSuchFile.rawValue]) }
        let error = await #expect(throws: CocoaError.self) { try await container.loadPersistentStores() }
        #expect(error?.localizedDescription.contains("\"No such model\"") == true)
        #expect(!FileManager.default.fileExists(atPath: folder.store.path))
    }

    @Test("has a store in memory at /dev/null that no other container sees, and may have two")
    func nullDevice() throws {
        let containers = (0..<2).map { _ in NSPersistentContainer.make(URL(fileURLWithPath: "/dev/null"), URL(fileURLWithPath: "/dev/null"))
        }
        for container in containers {
            (container.persistentStoreDescriptions[0].configuration, container.persistentStoreDescriptions[1].configuration) = (
                "Notes", "Tags"
            )
            #expect(container.loaded() == ["null": 0] && container.persistentStoreCoordinator.persistentStores.count == 2)
        }
        let context = containers[0].newBackgroundContext()
        try context.performAndWait {
            context.insertNote("here")
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            try context.save()
        }
        #expect(try containers[0].texts() == ["here"] && containers[1].texts() == [])
    }

    @Test("has several stores, each with the entities of its configuration")
    func configurations() throws {
        let home = try StoreHome(.file)
        let container = NSPersistentContainer.make(home.url("Notes ü.sqlite"), home.url("Tags.sqlite"))
        for (description, name) in zip(container.persistentStoreDescriptions, ["Notes", "Tags"]) { description.configuration = name }
        #expect(container.loaded() == ["Notes ü.sqlite": 0, "Tags.sqlite": 0])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.insertNote("a")
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("t", forKey: "name")
            try context.save()
        }
        #expect(try home.sql("SELECT ZTEXT FROM ZNOTE", in: "Notes ü.sqlite") == "a")
        #expect(try home.sql("SELECT ZNAME FROM ZTAG", in: "Tags.sqlite") == "t")
        #expect(try home.sql("SELECT count(*) FROM sqlite_master WHERE name = 'ZTAG'", in: "Notes ü.sqlite") == "0")
    }

    @Test("runs background tasks, whose unsaved changes are dropped")
    func backgroundTasks() async throws {
        let container = NSPersistentContainer.make(folder.store)
        try await container.loadPersistentStores()
        let count = try await container.performBackgroundTask { context in
            context.insertNote("saved")
            try context.save()
            context.insertNote("dropped")
            return try context.notes().count
        }
        #expect(count == 2)
        await withCheckedContinuation { continuation in
            let done: @Sendable (NSManagedObjectContext) -> Void = { context in
                context.insertNote("by block")
                #expect(throws: Never.self) { try context.save() }
                continuation.resume()
            }
            container.performBackgroundTask(done)
        }
        #expect(try container.texts() == ["by block", "saved"])
        await #expect(throws: CancellationError.self) { try await container.performBackgroundTask { _ in throw CancellationError() } }
    }

    @Test("can be made by generic code that knows only the type")
    func generic() {
        final class Special: NSPersistentContainer, @unchecked Sendable {}
        func make<P: NSPersistentContainer>() -> P { P(name: "S", managedObjectModel: ContainerModel.make()) }
        let special: Special = make()
        #expect(special.name == "S")
    }

    @MainActor @Test("follows in its main context what others save, where that is asked for")
    func merging() async throws {
        let container = NSPersistentContainer.make(folder.store)
        try await container.loadPersistentStores()
        container.viewContext.automaticallyMergesChangesFromParent = true
        let id = try await container.performBackgroundTask { context in
            context.insertNote("old")
            try context.save()
            return try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))[0].objectID
        }
        let note = container.viewContext.object(with: id)
        #expect(note.value(forKey: "text") as? String == "old")
        try await container.performBackgroundTask { context in
            context.object(with: id).setValue("new", forKey: "text")
            try context.save()
        }
        await container.viewContext.perform(schedule: .enqueued) {}
        #expect(note.value(forKey: "text") as? String == "new")
    }
}
