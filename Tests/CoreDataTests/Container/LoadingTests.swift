import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Loading the stores of a container")
struct LoadingTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    @Test("calls the handler once for each description, before it returns")
    func handler() {
        let container = NSPersistentContainer.make(folder.file("A.sqlite"), folder.file("B.sqlite"))
        var seen: [NSPersistentStoreDescription] = []
        container.loadPersistentStores {
            seen.append($0); #expect($1 == nil)
        }
        #expect(seen == container.persistentStoreDescriptions)
    }

    // * One of two stores is no database. It is loaded, mended, and loaded again.
    // => The good one is there after the first call, and only the bad one is tried by the second.
    @Test("tries again what has failed, and that only")
    func retrying() throws {
        try Data("this is no database, and long enough not to be a fragment of one".utf8).write(to: folder.file("Bad.sqlite"))
        let container = NSPersistentContainer.make(folder.file("Good.sqlite"), folder.file("Bad.sqlite"))
        let first = container.loaded()
        #expect(first["Good.sqlite"] == 0 && first["Bad.sqlite"] == CocoaError.Code.fileReadCorruptFile.rawValue)
        #expect(container.persistentStoreCoordinator.persistentStores.map { $0.url?.lastPathComponent } == ["Good.sqlite"])
        let text = try Data(contentsOf: folder.file("Bad.sqlite"))
        #expect(text.starts(with: Data("this is no database".utf8)))
        #expect(container.loaded().keys.sorted() == ["Bad.sqlite"])
        try FileManager.default.removeItem(at: folder.file("Bad.sqlite"))
        #expect(container.loaded() == ["Bad.sqlite": 0])
        #expect(container.loaded() == [:])
        #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
    }

    @Test("loads a store again that was removed, and not one that was emptied")
    func removed() throws {
        let container = NSPersistentContainer.make(folder.store)
        #expect(container.loaded() == ["Store.sqlite": 0])
        let coordinator = container.persistentStoreCoordinator
        try coordinator.emptyPersistentStore(#require(coordinator.persistentStores.first))
        #expect(container.loaded() == [:])
        try coordinator.destroyPersistentStore(at: folder.store, ofType: NSSQLiteStoreType)
        #expect(container.loaded() == ["Store.sqlite": 0])
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test("of two descriptions of one file adds it once: the second is an error 134080")
    func sameFile() {
        let container = NSPersistentContainer.make(folder.store, folder.store)
        var codes: [CocoaError.Code?] = []
        container.loadPersistentStores { codes.append(($1 as? CocoaError)?.code) }
        #expect(codes == [nil, .persistentStoreOpen])
    }

    @Test("in a place that cannot be is an error, whatever the place is")
    func impossiblePlaces() throws {
        try Data("a file".utf8).write(to: folder.file("file"))
        try FileManager.default.createDirectory(at: folder.file("folder.sqlite"), withIntermediateDirectories: true)
        for url in [folder.file("file/Store.sqlite"), folder.file("folder.sqlite"), URL(fileURLWithPath: "/proc/Store.sqlite")] {
            let codes = NSPersistentContainer.make(url).loaded()
            #expect(codes.values.allSatisfy { $0 > 0 }, "\(codes)")
        }
        #expect(try Data(contentsOf: folder.file("file")) == Data("a file".utf8))
    }

    // * The default folder of a subclass cannot be made: a file is in its place.
    @Test("where the default folder cannot be made is an error")
    func impossibleFolder() throws {
        final class Blocked: NSPersistentContainer, @unchecked Sendable {
            // No state of its own.
            static let folder = Lock(URL(fileURLWithPath: "/"))
            override class func defaultDirectoryURL() -> URL { folder.withLock { $0 } }
        }
        try Data("a file".utf8).write(to: folder.file("file"))
        Blocked.folder.withLock { $0 = folder.file("file/folder") }
        let container = Blocked(name: "Blocked", managedObjectModel: ContainerModel.make())
        var error: (any Error)?
        container.loadPersistentStores { error = $1 }
        #expect(error != nil && container.persistentStoreCoordinator.persistentStores.isEmpty)
    }

    @Test("read-only, of a file that is not there, is an error and makes none")
    func readOnly() {
        let container = NSPersistentContainer.make(folder.store)
        container.persistentStoreDescriptions[0].isReadOnly = true
        #expect(container.loaded() == ["Store.sqlite": CocoaError.Code.fileReadNoSuchFile.rawValue])
        #expect(!FileManager.default.fileExists(atPath: folder.store.path))
    }

    @Test("in the background calls the handler there, later")
    func asynchronously() async {
        let container = NSPersistentContainer.make(folder.file("A.sqlite"), folder.file("B.sqlite"))
        for description in container.persistentStoreDescriptions { description.shouldAddStoreAsynchronously = true }
        let (answers, continuation) = AsyncStream<Bool>.makeStream()
        container.loadPersistentStores { continuation.yield($1 == nil && !MainQueue.isCurrent) }
        var count = 0
        for await isRight in answers {
            #expect(isRight)
            count += 1
            if count == 2 { break }
        }
        #expect(container.persistentStoreCoordinator.persistentStores.map { $0.url?.lastPathComponent } == ["A.sqlite", "B.sqlite"])
    }

    @MainActor @Test("in the background for a caller on the main queue calls the handler on it")
    func asynchronouslyOnMain() async {
        let container = NSPersistentContainer.make(folder.store)
        container.persistentStoreDescriptions[0].shouldAddStoreAsynchronously = true
        let error: (any Error)? = await withCheckedContinuation { continuation in
            container.loadPersistentStores { _, error in
                MainActor.preconditionIsolated()
                continuation.resume(returning: error)
            }
            #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
        }
        #expect(error == nil)
    }

    @Test("can be awaited: what failed is thrown, the others are loaded")
    func awaited() async throws {
        try FileManager.default.createDirectory(at: folder.file("Bad.sqlite"), withIntermediateDirectories: true)
        let container = NSPersistentContainer.make(folder.file("Bad.sqlite"), folder.file("Good.sqlite"))
        await #expect(throws: CocoaError.self) { try await container.loadPersistentStores() }
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
        try FileManager.default.removeItem(at: folder.file("Bad.sqlite"))
        try await container.loadPersistentStores()
        #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
    }

    @Test("from many threads at once adds each store once")
    func concurrently() async {
        let container = NSPersistentContainer.make(folder.file("A.sqlite"), folder.file("B.sqlite"), folder.file("C.sqlite"))
        let answers = Lock(0)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    container.loadPersistentStores { _, error in
                        #expect(error == nil)
                        answers.withLock { $0 += 1 }
                    }
                }
            }
        }
        #expect(answers.withLock { $0 } == 3 && container.persistentStoreCoordinator.persistentStores.count == 3)
    }

    @Test("of nothing does nothing")
    func nothing() async throws {
        let container = NSPersistentContainer.make()
        #expect(container.loaded() == [:])
        try await container.loadPersistentStores()
        let context = container.newBackgroundContext()
        #expect(throws: CocoaError.self) { try context.performAndWait { try context.notes() } }
    }
}
