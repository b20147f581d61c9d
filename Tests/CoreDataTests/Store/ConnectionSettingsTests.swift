import Foundation
import ModelFormat
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A connection to a store")
struct ConnectionSettingsTests {
    let folder: TemporaryFolder
    var url: URL { folder.store }

    init() throws { folder = try TemporaryFolder() }

    @Test("waits for a lock from its first statement on: opening read-only, opening, reading metadata", arguments: [true, false])
    func waiting(isReadOnly: Bool) throws {
        try Stack(url, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]).close()
        try Child.keepingOpen(url, "BEGIN EXCLUSIVE") {
            let options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.3, NSReadOnlyPersistentStoreOption: isReadOnly]
            let start = ContinuousClock.now
            cocoaError(134090) {
                if isReadOnly { _ = try Stack(url, options: options) }
                _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url, options: options)
            }
            #expect(start.duration(to: .now) > .milliseconds(250))
        }
    }

    @Test("is defensive, trusts no schema, and writes through to the disk where a journal needs it", arguments: ["WAL", "DELETE"])
    func settings(journal: String) throws {
        let stack = Stack()
        let store = try stack.add(url, options: [NSSQLitePragmasOption: ["journal_mode": journal]])
        let check = { (connection: Connection) in
            #expect(try connection.rows("PRAGMA trusted_schema") == [[.integer(0)]])
            #expect(try connection.rows("PRAGMA recursive_triggers") == [[.integer(1)]])
            try connection.execute("PRAGMA writable_schema = 1")
            #expect(throws: SQLiteError.self) { try connection.execute("UPDATE sqlite_schema SET sql = sql") }
        }
        try store.pool.write(check)
        try store.pool.read(check)
        #expect(try store.pool.write { try $0.rows("PRAGMA synchronous") } == [[.integer(journal == "WAL" ? 1 : 2)]])
        #expect(store.pool.locksReaders == (journal != "WAL"))
    }

    @Test("takes the options' word for how it writes to the disk")
    func synchronous() throws {
        let stack = Stack()
        let store = try stack.add(url, options: [NSSQLitePragmasOption: ["synchronous": "EXTRA"]])
        #expect(try store.pool.write { try $0.rows("PRAGMA synchronous") } == [[.integer(3)]])
    }

    @Test("believes in a log only where the file has one", arguments: ["WAL", "DELETE"])
    func readOnlyLog(journal: String) throws {
        try Stack(url, options: [NSSQLitePragmasOption: ["journal_mode": journal]]).close()
        let stack = Stack()
        #expect(try stack.add(url, options: [NSReadOnlyPersistentStoreOption: true]).pool.locksReaders == (journal == "DELETE"))
    }

    @Test("leaves a file with the log that others who have it open keep, whatever the options ask for")
    func keptLog() throws {
        let first = Stack()
        try first.add(url)
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": "DELETE"], NSPersistentStoreTimeoutOption: 1]
        let second = Stack()
        #expect(try second.add(url, options: options).pool.locksReaders == false)
        Tag(context: second.newContext()).label = "x"
    }

    @Test("lets the triggers of Apple's stores call their functions", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func triggers() throws {
        try Fixtures.copyStore("samplemodel2/SampleModel2_V1.sqlite", to: url)
        let connection = try StorePlace.file(url).connect(.readWrite, timeout: 1)
        defer { connection.close() }
        let counts = "SELECT Z_PK, ZPAGESCOUNT FROM ZBOOK ORDER BY Z_PK LIMIT 1"
        guard case .integer(let book) = try connection.rows(counts)[0][0], case .integer(let count) = try connection.rows(counts)[0][1]
        else {
            Issue.record("There is no book.")
            return
        }
        try connection.run("INSERT INTO ZPAGE(Z_PK, Z_ENT, Z_OPT, ZBOOK) VALUES (9999, 1, 1, ?)", [.integer(book)])
        #expect(try connection.rows(counts) == [[.integer(book), .integer(count + 1)]])
    }
}

@Suite("A store that has a history of changes")
struct TrackedStoreTests {
    private func makeTracked(_ kind: StoreKind) throws -> (home: StoreHome, url: URL, kept: Stack) {
        let home = try StoreHome(kind)
        let url = home.url()
        let stack = try Stack(url, options: [NSPersistentHistoryTrackingKey: true])
        let context = stack.newContext()
        Tag(context: context).label = "a"
        try context.save()
        if kind == .file { try stack.close() }
        return (home, url, stack)
    }

    @Test("is read-only without the option to track it: nothing is written without history", arguments: StoreKind.allCases)
    func readOnly(kind: StoreKind) throws {
        let (home, url, kept) = try makeTracked(kind)
        for options in [nil, [NSPersistentHistoryTrackingKey: false]] as [[AnyHashable: Any]?] {
            let stack = try Stack(url, options: options)
            #expect(stack.coordinator.persistentStores[0].isReadOnly)
            let context = stack.newContext()
            #expect(try context.labels() == ["a"])
            #expect(try context.told() == [["insert Tag/p1"]])
            let tag = Tag(context: context)
            cocoaError(134030) { try context.save() }
            #expect(tag.isInserted)
            cocoaError(134030) { try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date())) }
            cocoaError(134030) { try stack.coordinator.emptyPersistentStore(stack.coordinator.persistentStores[0]) }
        }
        #expect(try home.sql("SELECT count(*) FROM ZTAG") == "1")
        withExtendedLifetime(kept) {}
    }

    @Test("is tracked with whatever says so: true, a number, a dictionary", arguments: StoreKind.allCases, 0..<5)
    func tracking(kind: StoreKind, value: Int) throws {
        let (home, url, kept) = try makeTracked(kind)
        let values: [Any] = [true, NSNumber(value: true), 1, NSDictionary(), [String: String]()]
        let stack = try Stack(url, options: [NSPersistentHistoryTrackingKey: values[value]])
        let context = stack.newContext()
        Tag(context: context).label = "b"
        try context.save()
        #expect(try context.told() == [["insert Tag/p1"], ["insert Tag/p2"]])
        #expect(try home.sql("SELECT count(*) FROM ATRANSACTION") == "2")
        withExtendedLifetime(kept) {}
    }

    @Test(
        "gets its tables when it is opened so for the first time; who has it open without is told to open it anew",
        arguments: StoreKind.allCases
    )
    func beginning(kind: StoreKind) throws {
        let library = try Library(kind)
        _ = try library.savedBook()
        #expect(try library.sql("SELECT count(*) FROM sqlite_master WHERE name LIKE 'A%'") == "0")
        let other = try library.separateTrackedContext()
        #expect(try other.history().isEmpty)
        let first = Tag(context: library.context)
        let error = cocoaError(134070) { try library.context.save() }
        #expect(error?.localizedDescription.contains("history") == true)
        #expect(first.isInserted)
        Tag(context: other).label = "x"
        try other.save()
        #expect(try other.told() == [["insert Tag/p1"]])
    }

    @Test("is refused where its tables are something else", arguments: StoreKind.allCases)
    func foreignTables(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let kept = try Stack(home.url())
        _ = try home.sql("CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY)")
        cocoaError(134020) { try Stack(home.url(), options: [NSPersistentHistoryTrackingKey: true]) }
        withExtendedLifetime(kept) {}
    }

    @Test("of Apple's is left alone, its log too", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func apples() throws {
        let store = "photos-small/MediaAnalysis.sqlite"
        let model = try Fixtures.withStore(store) { connection in
            let row = try connection.rows("SELECT Z_CONTENT FROM Z_MODELCACHE").first
            guard case .blob(let content)? = row?[0] else { throw CocoaError(.coreData) }
            return try NSManagedObjectModel(Model(archive: ArchivedModelReader.inflated(content)))
        }
        let folder = try TemporaryFolder()
        try Fixtures.copyStore(store, to: folder.store)
        let before = bytes(of: folder.store)
        let stack = try Stack(folder.store, model)
        #expect(stack.coordinator.persistentStores[0].isReadOnly)
        try stack.close()
        #expect(bytes(of: folder.store)[0] == before[0])
    }
}

@Suite("Looking at a store")
struct LookingTests {
    let folder: TemporaryFolder
    var url: URL { folder.store }

    init() throws { folder = try TemporaryFolder() }

    private func otherModel() -> NSManagedObjectModel {
        let model = LibraryModel.make()
        model.entitiesByName["Tag"]?.properties.append(LibraryModel.attribute("color", .stringAttributeType))
        return model
    }

    /// Every way of looking at a file.
    private func look() throws {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        cocoaError(134100) { try Stack(url, otherModel()) }
        cocoaError(134100) { try Stack(url, otherModel(), options: [NSReadOnlyPersistentStoreOption: true]) }
        _ = try StoreInspector(url: url).problems()
    }

    @Test("leaves no log and no index of one beside it, read-only stores neither", arguments: ["WAL", "DELETE"])
    func closed(journal: String) throws {
        let writer = try Stack(url, options: [NSSQLitePragmasOption: ["journal_mode": journal]])
        Tag(context: writer.newContext()).label = "x"
        try writer.close()
        let before = bytes(of: url)
        try look()
        #expect(try folder.contents() == ["Store.sqlite"])
        let stack = try Stack(url, options: [NSReadOnlyPersistentStoreOption: true])
        _ = try stack.newContext().labels()
        try stack.close()
        #expect(try folder.contents() == ["Store.sqlite"])
        #expect(bytes(of: url) == before)
    }

    @Test("leaves no files beside it when a coordinator is dropped that read it, or wrote")
    func dropped() throws {
        try { Tag(context: try Stack(url).newContext()).label = "x" }()
        for isReadOnly in [true, false] {
            try { _ = try Stack(url, options: [NSReadOnlyPersistentStoreOption: isReadOnly]).newContext().labels() }()
            #expect(try folder.contents() == ["Store.sqlite"])
        }
    }

    @Test("leaves a log that was left behind as it is, and makes no index of it")
    func abandonedLog() throws {
        let other = folder.file("other")
        let writer = try Stack(other)
        let context = writer.newContext()
        Tag(context: context).label = "in the log"
        try context.save()
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: other.path + suffix, toPath: url.path + suffix) }
        try writer.close()
        let before = bytes(of: url)
        try look()
        #expect(bytes(of: url) == before)
        #expect(!exists(url, "-shm"))
        #expect(try Stack(url).newContext().labels() == ["in the log"])
    }

    @Test("sees what others who have it open have written, and leaves them what they need")
    func beside() throws {
        let writer = try Stack(url)
        let context = writer.newContext()
        for label in ["a", "b"] {
            Tag(context: context).label = label
            try context.save()
            try look()
            #expect(exists(url, "-wal") && exists(url, "-shm"))
        }
        #expect(try Child.sqlite(url, "SELECT count(*) FROM ZTAG") == "2")
    }
}
