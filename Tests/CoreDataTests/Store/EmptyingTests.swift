import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("Emptying a store")
struct EmptyingTests {
    private static let index = """
        CREATE VIRTUAL TABLE Z_RT_Tag_place USING RTREE (Z_PK INTEGER PRIMARY KEY, ZX_MIN FLOAT, ZX_MAX FLOAT);
        CREATE TRIGGER Z_RT_Tag_place_INSERT AFTER INSERT ON ZTAG FOR EACH ROW BEGIN
        INSERT OR REPLACE INTO Z_RT_Tag_place VALUES (NEW.Z_PK, length(NEW.ZLABEL), length(NEW.ZLABEL)); END;
        CREATE TRIGGER Z_RT_Tag_place_DELETE AFTER DELETE ON ZTAG FOR EACH ROW BEGIN
        DELETE FROM Z_RT_Tag_place WHERE Z_PK = OLD.Z_PK; END;
        CREATE TABLE log(text);
        CREATE TRIGGER logging AFTER DELETE ON ZTAG FOR EACH ROW BEGIN INSERT INTO log VALUES (OLD.ZLABEL); END
        """

    @Test("that was opened read-only is refused, and loses nothing")
    func readOnly() throws {
        let home = try StoreHome(.file)
        try makeStore(at: home.url())
        let stack = Stack()
        let store = try stack.add(home.url(), options: [NSReadOnlyPersistentStoreOption: true])
        let error = cocoaError(134030) { try stack.coordinator.emptyPersistentStore(store) }
        #expect(error?.affectedStores?.first === store)
        #expect(try home.sql("SELECT COUNT(*) FROM ZTAG") == "3")
    }

    // * A backup has come back into the place of a store, which is opened then, and emptied as for a logout.
    @Test("can be used afterwards, also where it was replaced by a backup once", arguments: StoreKind.allCases)
    func replacedBefore(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (backup, url) = (home.url("Backup.sqlite"), home.url())
        try makeStore(at: backup)
        let kept = kind == .memory ? try [Stack(backup), Stack(url)] : []
        try Stack().coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup, ofType: kind.type)
        let stack = try Stack(url)
        try stack.coordinator.emptyPersistentStore(stack.coordinator.persistentStores[0])
        for label in ["a", "b"] {
            let context = stack.newContext()
            Tag(context: context).label = label
            try context.save()
        }
        #expect(try stack.newContext().labels() == ["a", "b"] && Stack(url).newContext().labels() == ["a", "b"])
        withExtendedLifetime(kept) {}
    }

    // * The coordinator empties its store; somebody fetches between the commit and the exchange of the store, and some time later.
    @Test("is nothing that fetches of the same coordinator could fail of meanwhile: they find nothing", arguments: StoreKind.allCases)
    func fetchingMeanwhile(kind: StoreKind) throws {
        let library = try Library(kind)
        _ = try library.savedBook()
        let (coordinator, counts) = (library.coordinator, Lock<[Int]>([]))
        let name = Notification.Name.NSPersistentStoreCoordinatorStoresWillChange
        let observer = NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: nil) { _ in
            let context = Library.context(on: coordinator)
            do {
                let count = try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) }
                counts.withLock { $0.append(count) }
            } catch {
                Issue.record("\(error)")
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try coordinator.emptyPersistentStore(library.store)
        #expect(counts.withLock { $0 } == [0])
    }

    // * Others save data that are in a file of their own while what is left of an emptied store is removed.
    @Test("removes only the files of what was there")
    func filesOfOthers() throws {
        let library = try Library(.file)
        let folder = try #require(library.store.supportFolder).appendingPathComponent("_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (old, new) = (folder.appendingPathComponent(UUID().uuidString), folder.appendingPathComponent(UUID().uuidString))
        try Data("old".utf8).write(to: old)
        let name = Notification.Name.NSPersistentStoreCoordinatorStoresWillChange
        let observer = NotificationCenter.default.addObserver(forName: name, object: library.coordinator, queue: nil) { _ in
            try? Data("new".utf8).write(to: new)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try library.coordinator.emptyPersistentStore(library.store)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [new.lastPathComponent])
    }

    @Test("empties R-Trees too, which go on working, and tables that triggers write")
    func indexes() throws {
        let home = try StoreHome(.file)
        let url = home.url()
        try makeStore(at: url)
        try Child.run("sqlite3", [url.path, Self.index])
        let stack = try Stack(url)
        let context = stack.newContext()
        for number in 0..<500 { Tag(context: context).label = String(repeating: "x", count: number % 50) }
        try context.save()
        #expect(try home.sql("SELECT count(*), rtreecheck('Z_RT_Tag_place') FROM Z_RT_Tag_place") == "500|ok")

        try stack.coordinator.emptyPersistentStore(try #require(stack.coordinator.persistentStores.first))
        #expect(
            try home.sql("SELECT (SELECT count(*) FROM ZTAG), (SELECT count(*) FROM log), (SELECT count(*) FROM Z_RT_Tag_place)") == "0|0|0"
        )
        #expect(try home.sql("SELECT rtreecheck('Z_RT_Tag_place')") == "ok")
        let fresh = stack.newContext()
        for label in ["a", "bb", "ccc"] { Tag(context: fresh).label = label }
        try fresh.save()
        #expect(try home.sql("SELECT group_concat(Z_PK) FROM Z_RT_Tag_place WHERE ZX_MIN >= 2") == "2,3")
        #expect(try home.sql("SELECT rtreecheck('Z_RT_Tag_place')") == "ok")
    }

    @Test(
        "works on the tables, triggers and R-Trees of a store that Apple's Core Data made",
        .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)")
    )
    func apples() throws {
        let folder = try TemporaryFolder()
        try Fixtures.copyStore("photos/Photos-13.5-empty.sqlite", to: folder.store)
        let connection = try StorePlace.file(folder.store).connect(.readWrite, timeout: 1)
        defer { connection.close() }
        try connection.trustSchemaWithVirtualTables()
        for key in 1...100 {
            try connection.run(
                "INSERT INTO ZASSET(Z_PK, Z_ENT, Z_OPT, ZLATITUDE, ZLONGITUDE) VALUES (?1, 3, 1, ?1, ?1)",
                [.integer(Int64(key))]
            )
        }
        #expect(try connection.rows("SELECT count(*) FROM Z_RT_Asset_boundedByRect WHERE ZLATITUDE_MIN > 50") == [[.integer(50)]])
        try connection.transaction(.immediate) { try SQLiteStore.deleteAllRows(connection) }
        #expect(try connection.rows("SELECT rtreecheck('Z_RT_Asset_boundedByRect'), count(*) FROM ZASSET") == [[.text("ok"), .integer(0)]])
    }
}
