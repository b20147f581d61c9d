import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("Replacing a store with another")
struct ReplacingTests {
    private let coordinator = Stack().coordinator

    private func replace(_ url: URL, with source: URL, _ options: [AnyHashable: Any]? = nil) throws {
        try coordinator.replacePersistentStore(
            at: url,
            destinationOptions: options,
            withPersistentStoreFrom: source,
            ofType: StoreKind(of: url).type
        )
    }

    @Test("puts its contents there, whether there was one or not, and leaves the source", arguments: StoreKind.allCases)
    func replaces(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (backup, url) = (home.url("Backup.sqlite"), home.url())
        try makeStore(at: backup, labels: ["b"])
        let kept = kind == .memory ? try [Stack(backup), Stack(url)] : []
        try replace(url, with: backup)
        #expect(try Stack(url).newContext().labels() == ["b"])
        try makeStore(at: url, labels: ["more"])
        try replace(url, with: backup)
        try replace(url, with: url)
        #expect(try Stack(url).newContext().labels() == ["b"])
        #expect(try Stack(backup).newContext().labels() == ["b"])
        withExtendedLifetime(kept) {}
    }

    // * Another coordinator has the store open, with a log; pages of the other are of another size.
    @Test("is seen by those who have it open, and removes it from its own coordinator first")
    func open() throws {
        let home = try StoreHome(.file)
        let (backup, url) = (home.url("Backup.sqlite"), home.url())
        try makeStore(at: backup, labels: ["b"])
        try makeStore(at: url, labels: ["a"])
        let (other, own) = (try Stack(url), try Stack(url))
        #expect(try other.newContext().labels() == ["a"])
        try own.coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup, type: .sqlite)
        #expect(own.coordinator.persistentStores.isEmpty)
        let context = other.newContext()
        Tag(context: context).label = "c"
        // It is another store now, as its identifier says.
        cocoaError(134070) { try context.labels() }
        cocoaError(134070) { try context.save() }
        #expect(try home.sql("SELECT group_concat(ZLABEL) FROM ZTAG") == "b")
    }

    // * A store with a log, which somebody reads, so that the log keeps what is committed.
    // => There is no moment between the new contents and what says that they are new.
    @Test("is one commit: whoever is killed leaves the one state or the other, marked")
    func oneCommit() throws {
        let home = try StoreHome(.file)
        let (backup, url) = (home.url("Backup.sqlite"), home.url())
        try makeStore(at: url, labels: ["a"])
        try replace(backup, with: url)
        let reader = try Connection(path: url.path, mode: .readWrite)
        _ = try reader.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        try replace(url, with: backup)
        #expect(try reader.rows("SELECT COUNT(*) FROM CD_REPLACEMENT") == [[.integer(1)]])
        #expect(try commits(inLogOf: url) == 1)
        reader.close()
    }

    /// As SQLite's file format says: a frame that ends a transaction has the size of the database after it.
    private func commits(inLogOf url: URL) throws -> Int {
        let log = try [UInt8](Data(contentsOf: URL(fileURLWithPath: url.path + "-wal")))
        let pageSize = log[8..<12].reduce(0) { $0 << 8 | Int($1) }
        return stride(from: 32, to: log.count, by: 24 + pageSize).count { log[$0 + 4..<$0 + 8].contains { $0 > 0 } }
    }

    // * A coordinator has read a store. A backup of that very store is put back, others save rows whose keys it remembers, and so on once more.
    // => It reads and writes nothing any more: what it remembers is of another state.
    @Test("by an older state of itself is seen by those who have it open", arguments: StoreKind.allCases)
    func olderState(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (backup, url) = (home.url("Backup.sqlite"), home.url())
        let kept = kind == .memory ? try [Stack(backup), Stack(url)] : []
        try makeStore(at: url, labels: ["a"])
        try replace(backup, with: url)
        for label in ["b", "c"] {
            let open = try Stack(url)
            let context = open.newContext()
            Tag(context: context).label = label
            try context.save()
            #expect(try context.labels().contains(label))
            try replace(url, with: backup)
            try makeStore(at: url, labels: ["x"])
            cocoaError(134070) { try context.labels() }
            cocoaError(134070) { try open.newContext().labels() }
            Tag(context: context).label = "y"
            cocoaError(134070) { try context.save() }
            #expect(try Stack(url).newContext().labels() == ["a", "x"])
        }
        withExtendedLifetime(kept) {}
    }

    @Test("with pages of another size")
    func pages() throws {
        let home = try StoreHome(.file)
        let (backup, url) = (home.url("Backup.sqlite"), home.url())
        let stack = Stack()
        try stack.add(backup, options: [NSSQLitePragmasOption: ["page_size": "8192"]])
        let context = stack.newContext()
        Tag(context: context).label = "b"
        try context.save()
        try makeStore(at: url)
        try replace(url, with: backup)
        #expect(try Stack(url).newContext().labels() == ["b"])
        #expect(try home.sql("PRAGMA page_size") == "8192")
    }

    @Test("is refused where there is no source, where that is no store, and where the place is locked or holds no database")
    func refused() throws {
        let folder = try TemporaryFolder()
        let (url, none, text) = (folder.store, folder.file("none.sqlite"), folder.file("text.sqlite"))
        try makeStore(at: url)
        let before = bytes(of: url)
        try Data(repeating: 65, count: 2_000).write(to: text)
        cocoaError(260) { try replace(url, with: none) }
        cocoaError(259) { try replace(url, with: text) }
        cocoaError(259) { try replace(text, with: url) }
        #expect(!exists(none) && bytes(of: url) == before)
        try Child.keepingOpen(url, "BEGIN IMMEDIATE") {
            let backup = folder.file("backup.sqlite")
            try makeStore(at: backup)
            cocoaError(134090) { try replace(url, with: backup, [NSPersistentStoreTimeoutOption: 0.1]) }
        }
        #expect(try Stack(url).newContext().labels() == ["a", "b", "c"])
        try replace(text, with: url, [NSPersistentStoreForceDestroyOption: true])
        #expect(try Stack(text).newContext().labels() == ["a", "b", "c"])
    }

    @Test("brings the data in files of their own, and removes those that were there")
    func files() throws {
        let (backup, place) = (try StoreHome(.file), try StoreHome(.file))
        var names: [String] = []
        for (home, byte) in [(backup, 1), (place, 2)] as [(StoreHome, UInt8)] {
            let stack = try Stack(home.url(), ExternalModel.make())
            let context = stack.newContext()
            NSEntityDescription.insertNewObject(forEntityName: "Document", into: context).setValue(Data([7]), forKey: "content")
            try context.save()
            try stack.close()
            names.append(try ExternalModel.putIntoFile(Data(repeating: byte, count: 3_000), home))
        }
        try replace(place.url(), with: backup.url())
        let context = try Stack(place.url(), ExternalModel.make()).newContext()
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Document"))
        #expect(found.map { $0.value(forKey: "content") as? Data } == [Data(repeating: 1, count: 3_000)])
        let folder = try #require(StorePlace.file(place.url()).supportFolder).appendingPathComponent("_EXTERNAL_DATA")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [names[0]])
    }

    @Test("works for documents too, and not for stores of a program's own class")
    func documents() throws {
        let folder = try TemporaryFolder()
        let (backup, url) = (folder.file("b.xml"), folder.file("a.xml"))
        let stack = Stack()
        try stack.coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: backup)
        let context = stack.newContext()
        Tag(context: context).label = "b"
        try context.save()
        try stack.coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup, ofType: NSXMLStoreType)
        #expect(try Data(contentsOf: url) == Data(contentsOf: backup))
        cocoaError(260) {
            try stack.coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: folder.file("c.xml"), ofType: NSXMLStoreType)
        }
        ContractKind.register()
        cocoaError(134060) {
            try stack.coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup, ofType: ContractKind.csv.type)
        }
    }

    // * A backup comes back into the place of a store that is destroyed before; somebody opens it. The same is done once more.
    @Test("is noticed by who has it open, also where the same backup had come back before")
    func replacedAgain() throws {
        let home = try StoreHome(.file)
        let (backup, url) = (home.url("Backup.sqlite"), home.url())
        try makeStore(at: backup)
        func restore() throws {
            try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
            try replace(url, with: backup)
        }
        try makeStore(at: url)
        try restore()
        let context = try Stack(url).newContext()
        Tag(context: context).label = "later"
        try context.save()
        try restore()
        cocoaError(134070) { try context.labels() }
        Tag(context: context).label = "last"
        cocoaError(134070) { try context.save() }
        #expect(try home.sql("SELECT COUNT(*) FROM ZTAG") == "3")
    }
}

@Suite("The URL of a store")
struct StoreURLTests {
    // * A file is given another name while it is open, with its log.
    // => The store goes on under that name.
    @Test("can follow the file to another name, and to no other file")
    func follows() throws {
        let home = try StoreHome(.file)
        let (url, moved, other) = (home.url(), home.folder.file("Moved.sqlite"), home.url("Other.sqlite"))
        let stack = try Stack(url)
        let store = stack.coordinator.persistentStores[0]
        let context = stack.newContext()
        let tag = Tag(context: context)
        tag.label = "a"
        try context.save()
        #expect(!stack.coordinator.setURL(moved, for: store))
        try makeStore(at: other, labels: [])
        #expect(!stack.coordinator.setURL(other, for: store))
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.moveItem(atPath: url.path + suffix, toPath: moved.path + suffix)
        }
        #expect(stack.coordinator.setURL(moved, for: store))
        #expect(stack.coordinator.persistentStores == [store] && stack.coordinator.url(for: store) == moved)
        tag.label = "b"
        try context.save()
        #expect(try stack.newContext().labels() == ["b"])
        #expect(!exists(url))
        try stack.close()
        #expect(try Child.sqlite(moved, "SELECT ZLABEL FROM ZTAG") == "b")
        #expect(!stack.coordinator.setURL(url, for: store))
    }

    // * A backup comes back into the place of a store that is open, and that is told then where it is.
    // => What it remembers is of no use there, and it finds out.
    @Test("told once more lets a store that was replaced go on no more than before")
    func replaced() throws {
        let home = try StoreHome(.file)
        let (url, backup) = (home.url(), home.url("Backup.sqlite"))
        try makeStore(at: url)
        let (stack, other) = (try Stack(url), Stack().coordinator)
        try other.replacePersistentStore(at: backup, withPersistentStoreFrom: url, ofType: NSSQLiteStoreType)
        let context = stack.newContext()
        Tag(context: context).label = "later"
        try context.save()
        try other.replacePersistentStore(at: url, withPersistentStoreFrom: backup, ofType: NSSQLiteStoreType)
        _ = stack.coordinator.setURL(url, for: stack.coordinator.persistentStores[0])
        Tag(context: context).label = "last"
        cocoaError(134070) { try context.save() }
        #expect(context.hasChanges)
        #expect(try home.sql("SELECT COUNT(*) FROM ZTAG") == "3")
    }

    @Test("of a store in memory stays; a document is written at the new one by the next save")
    func others() throws {
        let folder = try TemporaryFolder()
        let memory = try Stack(URL(string: "file:///\(UUID().uuidString)?vfs=memdb")!)
        #expect(!memory.coordinator.setURL(folder.store, for: memory.coordinator.persistentStores[0]))
        let stack = Stack()
        let store = try stack.coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: folder.file("a.xml"))
        #expect(stack.coordinator.setURL(folder.file("b.xml"), for: store))
        #expect(!exists(folder.file("b.xml")))
        let context = stack.newContext()
        Tag(context: context).label = "b"
        try context.save()
        #expect(try String(contentsOf: folder.file("b.xml"), encoding: .utf8).contains("b"))
    }
}

/// A model whose documents may have their contents in files of their own.
enum ExternalModel {
    static func make() -> NSManagedObjectModel {
        let content = attribute("content", .binaryData)
        content.allowsExternalBinaryDataStorage = true
        let model = NSManagedObjectModel()
        model.entities = [NSEntityDescription("Document", content)]
        return model
    }

    /// Does with the data of all documents what Apple's Core Data does with large ones; gives the name of the file.
    static func putIntoFile(_ data: Data, _ home: StoreHome) throws -> String {
        let name = UUID().uuidString
        let support = try #require(StorePlace.file(home.url()).supportFolder)
        let folder = support.appendingPathComponent("_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try data.write(to: folder.appendingPathComponent(name))
        _ = try home.sql("UPDATE ZDOCUMENT SET ZCONTENT = CAST(x'02' || '\(name)' || x'00' AS BLOB)")
        return name
    }
}
