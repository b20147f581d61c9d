import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("Moving a store")
struct MovingTests {
    /// From which kind to which.
    static let ways = StoreKind.allCases.flatMap { from in StoreKind.allCases.map { (from, $0) } }

    private let (source, target): (StoreHome, StoreHome)
    private let stack: Stack
    private let context: NSManagedObjectContext

    private init(_ way: (from: StoreKind, to: StoreKind)) throws {
        (source, target) = (try StoreHome(way.from), try StoreHome(way.to))
        stack = try Stack(source.url())
        context = stack.newContext()
    }

    init() throws { try self.init((.file, .file)) }

    private var store: NSPersistentStore { stack.coordinator.persistentStores[0] }

    @discardableResult
    private func move(_ options: [AnyHashable: Any]? = nil) throws -> NSPersistentStore {
        try stack.coordinator.migratePersistentStore(store, to: target.url(), options: options, withType: target.kind.type)
    }

    // * A store with objects, relationships and notes of the program is moved; a context has a fault, a changed and a new object.
    // => The context goes on: what it reads and saves is the copy's. The old store is what it was, and nobody's. IDs are what they were.
    @Test("to another place makes that the coordinator's, and contexts go on with it", arguments: ways)
    static func contextsGoOn(way: (StoreKind, StoreKind)) throws {
        let test = try MovingTests(way)
        let (context, stack) = (test.context, test.stack)
        let (book, author, tag) = (Book(context: context), Author(context: context), Tag(context: context))
        (book.title, author.name, tag.label) = ("Emma", "Jane", "old")
        book.author = author
        test.store.metadata["note"] = "kept"
        try context.save()
        let (old, uri) = (test.store, book.objectID.uriRepresentation())
        context.refresh(author, mergeChanges: false)
        tag.label = "new"
        let late = Tag(context: context)
        late.label = "late"
        let fresh = try test.move()
        #expect(stack.coordinator.persistentStores == [fresh] && fresh !== old && old.persistentStoreCoordinator == nil)
        #expect(fresh.type == way.1.type && fresh.metadata["note"] as? String == "kept" && fresh.url == test.target.url())
        #expect(author.isFault && author.name == "Jane" && author.books == [book])
        try context.save()
        #expect(try test.source.sql("SELECT ZLABEL FROM ZTAG") == "old")
        #expect(try test.target.sql("SELECT group_concat(ZLABEL) FROM ZTAG") == "new,late")
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == book.objectID)
        let second = try Stack(test.target.url())
        #expect(try second.newContext().labels() == ["late", "new"])
        #expect(second.coordinator.managedObjectID(forURIRepresentation: uri) != nil)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: way.1.type, at: test.target.url())
        #expect(metadata[NSStoreTypeKey] as? String == way.1.type)
        withExtendedLifetime(second) {}
    }

    @Test("says which is removed, and then which took its place")
    func notifications() throws {
        // Posted on this thread.
        nonisolated(unsafe) let old = store
        nonisolated(unsafe) var said: [String] = []
        let names: [Notification.Name] = [.NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: stack.coordinator, queue: nil) { note in
                let stores = { (key: String) in (note.userInfo?[key] as? [NSPersistentStore])?.map { $0 === old ? "old" : "new" } ?? [] }
                let keys = [NSRemovedPersistentStoresKey, NSAddedPersistentStoresKey, NSUUIDChangedPersistentStoresKey]
                said.append(keys.map { stores($0).joined(separator: " ") }.joined(separator: "|"))
            }
        }
        try move()
        observers.forEach(NotificationCenter.default.removeObserver)
        #expect(said == ["old||", "old|new|old new"])
    }

    // * The store's history and tables of strangers go along; data in files of their own go with a file, and into the rows in memory.
    @Test("takes its history and the data in files of their own along", arguments: StoreKind.allCases)
    static func everything(kind: StoreKind) throws {
        let model = ExternalModel.make()
        let (source, target) = (try StoreHome(.file), try StoreHome(kind))
        let stack = try Stack(source.url(), model, options: [NSPersistentHistoryTrackingKey: true])
        let context = stack.newContext()
        let document = NSEntityDescription.insertNewObject(forEntityName: "Document", into: context)
        document.setValue(Data([7]), forKey: "content")
        try context.save()
        let name = try ExternalModel.putIntoFile(Data(repeating: 9, count: 5_000), source)
        context.refreshAllObjects()
        let fresh = try stack.coordinator.migratePersistentStore(
            stack.coordinator.persistentStores[0],
            to: target.url(),
            withType: kind.type
        )
        #expect(try target.sql("SELECT count(*) FROM ATRANSACTION JOIN ACHANGE ON ZTRANSACTIONID = ATRANSACTION.Z_PK") == "1")
        let read = Stack(model)
        try read.add(target.url(), options: [NSReadOnlyPersistentStoreOption: true])
        let found = try read.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Document"))
        #expect(found.map { $0.value(forKey: "content") as? Data } == [Data(repeating: 9, count: 5_000)])
        let file = StorePlace.file(target.url()).supportFolder?.appendingPathComponent("_EXTERNAL_DATA/\(name)").path
        if kind == .file { #expect(file.map(FileManager.default.fileExists) == true) }
        withExtendedLifetime(fresh) {}
    }

    @Test("is refused where there is a database, at its own place, and for a store of another coordinator; all is as it was")
    func refused() throws {
        Tag(context: context).label = "mine"
        try context.save()
        try makeStore(at: target.url(), labels: ["theirs"])
        let before = bytes(of: target.url())
        cocoaError(516) { try move() }
        #expect(bytes(of: target.url()) == before)
        cocoaError(134080) { try stack.coordinator.migratePersistentStore(store, to: source.url(), withType: NSSQLiteStoreType) }
        let other = try Stack(target.url())
        let free = target.url("Free.sqlite")
        cocoaError(134060) {
            try stack.coordinator.migratePersistentStore(other.coordinator.persistentStores[0], to: free, withType: NSSQLiteStoreType)
        }
        cocoaError(134000) { try stack.coordinator.migratePersistentStore(store, to: free, withType: "Cuneiform") }
        try Data("no database, and longer than a fragment".utf8).write(to: free)
        cocoaError(259) { try stack.coordinator.migratePersistentStore(store, to: free, withType: NSSQLiteStoreType) }
        #expect(stack.coordinator.persistentStores.count == 1)
        #expect(try context.labels() == ["mine"])
        try FileManager.default.removeItem(at: free)
    }

    @Test("into an emptied store, or a file without anything in it, makes the store there")
    func emptied() throws {
        try makeStore(at: target.url())
        try stack.coordinator.destroyPersistentStore(at: target.url(), ofType: NSSQLiteStoreType)
        Tag(context: context).label = "x"
        try context.save()
        try move()
        #expect(try target.sql("SELECT ZLABEL FROM ZTAG") == "x")
    }

    // * The copy can be made, but not opened: the options name no pragma.
    // => An error; nothing is left at the place, and the store is still the coordinator's.
    @Test("that fails at the end leaves nothing at the place")
    func fails() throws {
        Tag(context: context).label = "x"
        try context.save()
        cocoaError(134080) { try move([NSSQLitePragmasOption: ["cache size": "1"]]) }
        cocoaError(134080) {
            try stack.coordinator.migratePersistentStore(
                store,
                to: target.folder.url.appendingPathComponent("none/Store.sqlite"),
                withType: NSSQLiteStoreType
            )
        }
        for suffix in ["", "-wal", "-journal"] { #expect(!exists(target.url(), suffix)) }
        Tag(context: context).label = "y"
        try context.save()
        #expect(try context.labels() == ["x", "y"])
    }

    // * Several contexts save on threads of their own while the store is moved.
    // => Whatever was reported as saved is in the copy, or was in the old store before it was copied.
    @Test("while others save loses nothing that was reported as saved")
    func whileSaving() throws {
        let saved = Lock<Set<String>>([])
        let stack = stack
        let threads = (0..<4).map { number in
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                for round in 0..<60 {
                    let context = stack.newContext()
                    let label = "\(number) \(round)"
                    Tag(context: context).label = label
                    // One that waited while the store moved is refused.
                    if (try? context.save()) != nil || (try? context.save()) != nil { saved.withLock { _ = $0.insert(label) } }
                }
                done.signal()
            }
            return done
        }
        try move()
        threads.forEach { $0.wait() }
        let labels = try stack.newContext().labels().compactMap { $0 }
        #expect(Set(labels).isSuperset(of: saved.withLock { $0 }))
        #expect(labels.count == Set(labels).count && saved.withLock { $0.count } == 240)
    }

    @Test("from one form of document to the other keeps its objects; to a database it gets another identifier")
    func documents() throws {
        let folder = try TemporaryFolder()
        let model = LibraryModel.make()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSBinaryStoreType, configurationName: nil, at: folder.file("a.bin"))
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let (book, author) = (Book(context: context), Author(context: context))
        (book.title, author.name, book.author) = ("Emma", "Jane", author)
        try context.save()
        context.refreshAllObjects()
        let xml = try coordinator.migratePersistentStore(store, to: folder.file("a.xml"), withType: NSXMLStoreType)
        #expect(xml.type == NSXMLStoreType && xml.identifier == store.identifier)
        #expect(book.title == "Emma" && book.author == author)
        book.title = "Emma 2"
        try context.save()
        cocoaError(516) { try coordinator.migratePersistentStore(xml, to: folder.file("a.bin"), withType: NSBinaryStoreType) }
        #expect(try String(contentsOf: folder.file("a.xml"), encoding: .utf8).contains("Emma 2"))
        xml.metadata["note"] = "kept"
        let database = try coordinator.migratePersistentStore(xml, to: folder.store, withType: NSSQLiteStoreType)
        #expect(database.identifier != store.identifier && database.metadata["note"] as? String == "kept")
        context.reset()
        let found = try context.fetch(NSFetchRequest<Book>(entityName: "Book"))
        #expect(found.map(\.title) == ["Emma 2"] && found.first?.author?.name == "Jane")
        let back = try coordinator.migratePersistentStore(database, to: folder.file("b.xml"), withType: NSXMLStoreType)
        #expect(back.identifier != database.identifier && back.metadata["note"] as? String == "kept")
        context.reset()
        let again = try context.fetch(NSFetchRequest<Book>(entityName: "Book"))
        #expect(again.map(\.title) == ["Emma 2"] && again.first?.author?.name == "Jane" && again.first?.author?.books == Set(again))
        again.first?.title = "Emma 3"
        try context.save()
        ContractKind.register()
        cocoaError(134060) { try coordinator.migratePersistentStore(back, to: folder.file("b.csv"), withType: ContractKind.csv.type) }
    }

    // * A database with a history becomes a document, without an option.
    // => The document can be written, and the log speaks of no store that is read-only.
    @Test("with a history to a document is no reason for a warning")
    func historyLeft() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let folder = try TemporaryFolder()
            let stack = try Stack(folder.store, options: [NSPersistentHistoryTrackingKey: true])
            let context = stack.newContext()
            Book(context: context).title = "Emma"
            try context.save()
            let store = stack.coordinator.persistentStores[0]
            _ = try stack.coordinator.migratePersistentStore(store, to: folder.file("a.xml"), withType: NSXMLStoreType)
            context.reset()
            Book(context: context).title = "Persuasion"
            try context.save()
        }
        let log = try #require(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) })
        #expect(!log.contains("read-only"), "\(log)")
    }

    // * A relationship without inverse leads to what was deleted; the database becomes a document.
    // => It leads to nothing there, as nothing else could be read again.
    @Test("to a document leaves out what leads to no object")
    func dangling() throws {
        let folder = try TemporaryFolder()
        let stack = try Stack(folder.store, Zoo().model)
        let context = stack.newContext()
        let new = { NSEntityDescription.insertNewObject(forEntityName: $0, into: context) }
        let (keeper, animals) = (new("Keeper"), [new("Dog"), new("Cat")])
        keeper.setValue(animals[0], forKey: "favorite")
        animals[1].setValue(animals[0], forKey: "rival")
        try context.save()
        context.delete(animals[0])
        try context.save()
        try stack.coordinator.migratePersistentStore(
            stack.coordinator.persistentStores[0],
            to: folder.file("Zoo.xml"),
            withType: NSXMLStoreType
        )
        context.reset()
        let kept = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Keeper"))
        #expect(kept.map { $0.value(forKey: "favorite") == nil } == [true])
        #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Animal")).map(\.entity.name) == ["Cat"])
    }

    // * A document's file is replaced by another one, or removed, while it is open; then it is saved under another name.
    // => The copy has what the program has: the same store, its objects, and its metadata that are still to be written. The file beneath stays.
    @Test("that is a document keeps what was read of it, whatever others have made of its file", arguments: [true, false])
    func replacedBeneath(isRemoved: Bool) throws {
        let folder = try TemporaryFolder()
        func open(_ url: URL) throws -> (NSPersistentStore, NSManagedObjectContext) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
            let store = try coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: url)
            return (store, Library.context(on: coordinator))
        }
        let ((store, mine), (_, theirs)) = (try open(folder.file("mine")), try open(folder.file("theirs")))
        for (context, label) in [(mine, "mine"), (theirs, "theirs")] {
            Tag(context: context).label = label
            try context.save()
        }
        store.metadata["note"] = "unsaved"
        try FileManager.default.removeItem(at: folder.file("mine"))
        if !isRemoved { try FileManager.default.copyItem(at: folder.file("theirs"), to: folder.file("mine")) }
        let tag = try #require(try mine.all(Tag.self).first)
        let copy = try mine.persistentStoreCoordinator?.migratePersistentStore(store, to: folder.file("copy"), withType: NSBinaryStoreType)
        #expect(copy?.identifier == store.identifier && copy?.metadata["note"] as? String == "unsaved")
        tag.label = "changed"
        try mine.save()
        let again = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let opened = try again.addPersistentStore(ofType: NSBinaryStoreType, configurationName: nil, at: folder.file("copy"))
        #expect(opened.metadata["note"] as? String == "unsaved")
        #expect(try Library.context(on: again).all(Tag.self).map(\.label) == ["changed"])
        if !isRemoved { #expect(try Data(contentsOf: folder.file("mine")) == Data(contentsOf: folder.file("theirs"))) }
    }
}
