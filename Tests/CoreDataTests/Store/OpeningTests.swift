import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("Opening a store")
struct OpeningTests {
    let folder: TemporaryFolder
    /// Of a store in a file.
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.store
    }

    @Test("makes a new database with Core Data's schema, pages, vacuum and journal mode", arguments: StoreKind.allCases)
    func newFile(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        let stack = try Stack(url)
        let connection = try Connection(path: url.absoluteString, mode: .readOnly, isURI: true)
        defer { connection.close() }
        let made = try connection.rows("SELECT sql FROM sqlite_master WHERE sql NOT NULL").map { row in
            if case .text(let sql) = row[0] { sql } else { "" }
        }
        let expected = SQLSchema(model: stack.coordinator.managedObjectModel, configuration: nil).creationStatements
        #expect(made.sorted() == expected.filter { $0.hasPrefix("CREATE") }.sorted())
        #expect(made.contains("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)"))
        #expect(try connection.rows("PRAGMA auto_vacuum") == [[.integer(2)]])
        #expect(try connection.rows("PRAGMA page_size") == [[.integer(4096)]])
        #expect(try connection.rows("PRAGMA journal_mode") == [[.text(kind == .file ? "wal" : "memory")]])
        #expect(
            try connection.rows("SELECT group_concat(Z_ENT || Z_NAME || Z_SUPER || Z_MAX, ' ') FROM Z_PRIMARYKEY")
                == [[.text("1Book00 2Chapter00 3Desk00 4Person00 5Author40 6Tag00")]]
        )
        #expect(try connection.rows("SELECT COUNT(*) FROM Z_MODELCACHE WHERE length(Z_CONTENT) > 100") == [[.integer(1)]])
    }

    @Test("writes metadata that another property list reader understands")
    func metadataForOthers() throws {
        let stack = try Stack(url)
        try stack.close()
        let script = """
            import plistlib, sqlite3, sys
            row = sqlite3.connect(sys.argv[1]).execute("SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA").fetchone()
            p = plistlib.loads(row[2])
            print(row[0], len(row[1]), row[2][:8].decode(), p["NSStoreType"], p["NSStoreModelVersionHashesVersion"],
                  sorted(p["NSStoreModelVersionHashes"]), {len(h) for h in p["NSStoreModelVersionHashes"].values()},
                  p["_NSAutoVacuumLevel"], "NSStoreUUID" in p)
            """
        #expect(
            try Child.run("python3", ["-c", script, url.path]).output
                == "1 36 bplist00 SQLite 3 ['Author', 'Book', 'Chapter', 'Desk', 'Person', 'Tag'] {32} 2 False"
        )
    }

    @Test("finds everything again, under the same identifier", arguments: StoreKind.allCases)
    func reopening(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        try makeStore(at: url)
        let stack = try Stack(url)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: url)
        #expect(try stack.newContext().labels() == ["a", "b", "c"])
        #expect(stack.coordinator.persistentStores[0].identifier == metadata[NSStoreUUIDKey] as? String)
        #expect(try home.sql("SELECT Z_UUID FROM Z_METADATA") == metadata[NSStoreUUIDKey] as? String)
    }

    @Test("takes a file of length zero for a new one")
    func emptyFile() throws {
        try Data().write(to: url)
        let context = try Stack(url).newContext()
        Tag(context: context).label = "x"
        try context.save()
        #expect(try Child.sqlite(url, "PRAGMA auto_vacuum; SELECT ZLABEL FROM ZTAG") == "2\nx")
    }

    @Test("refuses what is no database, and leaves it alone", arguments: [1, 15, 16, 99, 100, 5000, 100_000])
    func noDatabase(count: Int) throws {
        let text = Data(repeating: UInt8(ascii: "x"), count: count)
        try text.write(to: url)
        for options in [nil, [NSReadOnlyPersistentStoreOption: true]] as [[AnyHashable: Any]?] {
            let error = cocoaError(259) { try Stack(url, options: options) }
            #expect(error?.userInfo[NSFilePathErrorKey] as? String == url.path)
        }
        #expect(try Data(contentsOf: url) == text)
        #expect(!exists(url, "-wal"))
    }

    @Test("refuses a database of something else, and leaves it alone, its log too", arguments: ["DELETE", "WAL"])
    func foreignDatabase(journal: String) throws {
        try Child.keepingOpen(url, "PRAGMA journal_mode = \(journal); CREATE TABLE notes(text); INSERT INTO notes VALUES('mine')") {
            let before = bytes(of: url)
            let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["user_version": "7", "auto_vacuum": "1", "application_id": "3"]]
            cocoaError(134020) { try Stack(url) }
            cocoaError(134020) { try Stack(url, options: options) }
            #expect(bytes(of: url) == before)
        }
    }

    @Test("refuses a database of something else whose log was left behind, and leaves both alone")
    func foreignDatabaseAfterCrash() throws {
        let other = folder.file("other")
        try Child.keepingOpen(other, "PRAGMA journal_mode = WAL; CREATE TABLE notes(text); INSERT INTO notes VALUES('mine')") {
            for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: other.path + suffix, toPath: url.path + suffix) }
        }
        let before = bytes(of: url)
        #expect(before[1]?.isEmpty == false)
        cocoaError(134020) { try Stack(url) }
        #expect(bytes(of: url) == before)
    }

    @Test("refuses a store of another model, says of which, and leaves it alone, its log too")
    func otherModel() throws {
        let other = folder.file("other")
        let stack = try Stack(other)
        let context = stack.newContext()
        Tag(context: context).label = "x"
        try context.save()
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: other.path + suffix, toPath: url.path + suffix) }
        let before = bytes(of: url)
        let model = LibraryModel.make()
        model.entitiesByName["Tag"]?.properties.append(LibraryModel.attribute("color", .stringAttributeType))
        for options in [nil, [NSReadOnlyPersistentStoreOption: true]] as [[AnyHashable: Any]?] {
            let error = cocoaError(134100) { try Stack(url, model, options: options) }
            let metadata = error?.userInfo["metadata"] as? [String: Any]
            #expect(metadata?[NSStoreUUIDKey] as? String == stack.coordinator.persistentStores[0].identifier)
            #expect((metadata?[NSStoreModelVersionHashesKey] as? [String: Data])?.count == 6)
        }
        #expect(bytes(of: url) == before)
        #expect(try Stack(url).newContext().labels() == ["x"])
    }

    @Test(
        "reports a damaged file as an error, wherever the damage is",
        arguments: [0, 16, 18, 28, 40, 52, 100, 103, 108, 4096, 8192, 12_288]
    )
    func damage(offset: Int) throws {
        try makeStore(at: url, labels: (0..<500).map { "label \($0)" })
        var data = try Data(contentsOf: url)
        data.replaceSubrange(offset..<min(offset + 64, data.count), with: Data(repeating: 0xA5, count: min(64, data.count - offset)))
        try data.write(to: url)
        useRoughly()
    }

    @Test("reports a file that was cut off as an error", arguments: [50, 512, 4096, 5000, 20_000])
    func truncation(length: Int) throws {
        try makeStore(at: url, labels: (0..<500).map { "label \($0)" })
        try Data(contentsOf: url).prefix(length).write(to: url)
        useRoughly()
    }

    /// Everything may fail with a Core Data error, and nothing in another way.
    private func useRoughly() {
        do {
            let context = try Stack(url).newContext()
            _ = try context.labels()
            for entity in ["Person", "Book", "Chapter", "Tag", "Desk"] { _ = try context.all(NSManagedObject.self, entity) }
            Tag(context: context).label = "new"
            try context.save()
        } catch {
            #expect(error is CocoaError, "\(error)")
        }
    }

    @Test("refuses metadata that is no property list", arguments: StoreKind.allCases)
    func brokenMetadata(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        try makeStore(at: url)
        _ = try home.sql("UPDATE Z_METADATA SET Z_PLIST = x'00112233'")
        cocoaError(259) { try Stack(url) }
        _ = try home.sql("DELETE FROM Z_METADATA")
        cocoaError(134020) { try Stack(url) }
    }

    @Test("refuses a store that lacks a table or a column of the model, and names it", arguments: StoreKind.allCases)
    func missingParts(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        try makeStore(at: url)
        _ = try home.sql("ALTER TABLE ZTAG DROP COLUMN ZLABEL")
        #expect(cocoaError(134020) { try Stack(url) }?.localizedDescription.contains("ZLABEL") == true)
        _ = try home.sql("DROP TABLE ZTAG")
        #expect(cocoaError(134020) { try Stack(url) }?.localizedDescription.contains("ZTAG") == true)
    }

    @Test("refuses what is not there, or cannot be made there, and makes nothing")
    func places() throws {
        cocoaError(260) { try Stack(url, options: [NSReadOnlyPersistentStoreOption: true]) }
        #expect(!exists(url))
        cocoaError(134080) { try Stack(folder.url.appendingPathComponent("no/such/Store.sqlite")) }
        cocoaError(134080) { try Stack(folder.url) }
        try Data("file".utf8).write(to: folder.file("file"))
        cocoaError(134080) { try Stack(folder.url.appendingPathComponent("file/Store.sqlite")) }
        cocoaError(134080) { try Stack(URL(fileURLWithPath: "/proc/Store.sqlite")) }
        cocoaError(134080) { try Stack().add(nil) }
        cocoaError(134080) { try Stack().add(URL(string: "https://example.com/Store.sqlite")) }
    }

    @Test("refuses types of stores and configurations that there are none of")
    func unknown() throws {
        let coordinator = Stack().coordinator
        cocoaError(134000) {
            try coordinator.addPersistentStore(ofType: "Cuneiform", configurationName: nil, at: url, options: nil)
        }
        for kind in StoreKind.allCases {
            let home = try StoreHome(kind)
            let error = cocoaError(134080) { try Stack().add(home.url(), configuration: "Moon") }
            #expect(error?.localizedDescription.contains("Moon") == true)
            #expect(!exists(home.url()))
        }
    }

    @Test(
        "refuses attributes of types that no row can hold yet, and names entity and attribute",
        arguments: [
            NSAttributeType.compositeAttributeType, .objectIDAttributeType,
        ]
    )
    func unsupportedTypes(type: NSAttributeType) throws {
        let model = LibraryModel.make()
        model.entitiesByName["Desk"]?.properties.append(LibraryModel.attribute("weird", type))
        let error = cocoaError(134060) { try Stack(url, model) }
        #expect(error?.localizedDescription.contains("Desk") == true)
        #expect(error?.localizedDescription.contains("weird") == true)
        #expect(!exists(url))
    }

    @Test("refuses the same store twice on one coordinator", arguments: StoreKind.allCases)
    func twice(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let stack = try Stack(home.url())
        cocoaError(134080) { try stack.add(home.url()) }
        #expect(stack.coordinator.persistentStores.count == 1)
        let context = stack.newContext()
        Tag(context: context).label = "x"
        try context.save()
        #expect(try context.labels() == ["x"])
    }

    @Test("lets one of several threads add a store that they add at once, and refuses it to the others", arguments: StoreKind.allCases)
    func atOnce(kind: StoreKind) throws {
        for _ in 0..<10 {
            let home = try StoreHome(kind)
            let url = home.url()
            let stack = Stack()
            let codes = Lock<[Int]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do { try stack.add(url) } catch { codes.withLock { $0.append((error as? CocoaError)?.errorCode ?? 0) } }
            }
            codes.withLock { #expect($0 == [134080, 134080, 134080]) }
            #expect(stack.coordinator.persistentStores.count == 1)
            let context = stack.newContext()
            Tag(context: context).label = "x"
            try context.save()
            #expect(try home.sql("SELECT COUNT(*), (SELECT COUNT(*) FROM Z_METADATA) FROM ZTAG") == "1|1")
        }
    }

    @Test("refuses the same file by another path: a link of either kind")
    func sameFileTwice() throws {
        let stack = try Stack(url)
        cocoaError(134080) { try stack.add(folder.url.appendingPathComponent("./x/../Store.sqlite")) }
        let link = folder.file("link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        cocoaError(134080) { try stack.add(link) }
        let hardLink = folder.file("hard.sqlite")
        try FileManager.default.linkItem(at: url, to: hardLink)
        cocoaError(134080) { try stack.add(hardLink) }
        #expect(stack.coordinator.persistentStores.count == 1)
    }

    @Test(
        "refuses pragmas that are none, and options of the wrong type, before anything is made",
        arguments: [
            ["cache_size": "1; DROP TABLE ZTAG"], ["journal_mode": "WAL; DROP TABLE ZTAG"], ["page_size": "x"], ["a b": "1"],
            ["synchronous": "'; ATTACH '/etc/passwd' AS x; --"],
        ]
    )
    func hostilePragmas(pragmas: [String: String]) throws {
        cocoaError(134080) { try Stack(url, options: [NSSQLitePragmasOption: pragmas]) }
        #expect(!exists(url))
        cocoaError(134080) { try Stack(url, options: [NSSQLitePragmasOption: ["cache_size": 3]]) }
    }

    @Test("runs the pragmas of the options on every connection")
    func pragmas() throws {
        let stack = Stack()
        let store = try stack.add(
            url,
            options: [NSSQLitePragmasOption: ["cache_size": "77", "journal_mode": "DELETE", "page_size": "8192"]]
        )
        #expect(try store.pool.write { try $0.rows("PRAGMA cache_size") } == [[.integer(77)]])
        #expect(try store.pool.read { try $0.rows("PRAGMA cache_size") } == [[.integer(77)]])
        #expect(try store.pool.read { try $0.rows("PRAGMA journal_mode") } == [[.text("delete")]])
        #expect(try store.pool.read { try $0.rows("PRAGMA page_size") } == [[.integer(8192)]])
    }

    @Test("takes options as Swift values or as NSNumber", arguments: StoreKind.allCases)
    func boxedOptions(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        try makeStore(at: url)
        for flag in [true, NSNumber(value: true), 1] as [Any] {
            let stack = Stack()
            #expect(try stack.add(url, options: [NSReadOnlyPersistentStoreOption: flag]).isReadOnly)
        }
    }

    @Test("follows a symbolic link to a file that is yet to be made", arguments: [true, false])
    func danglingLink(isRelative: Bool) throws {
        let folder = try TemporaryFolder()
        let link = folder.file("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: isRelative ? "Store.sqlite" : folder.store.path)
        let old = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try old.destroyPersistentStore(at: link, ofType: NSSQLiteStoreType)
        try makeStore(at: link, labels: ["a"])
        #expect(try Child.sqlite(folder.file("Store.sqlite"), "SELECT ZLABEL FROM ZTAG") == "a")
        let stack = try Stack(folder.file("Store.sqlite"))
        cocoaError(134080) { try stack.add(link) }
        #expect(try stack.newContext().labels() == ["a"])
    }
}
