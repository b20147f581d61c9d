import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Destroying a store")
struct DestroyingTests {
    let coordinator = Stack().coordinator

    private func destroy(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws {
        try coordinator.destroyPersistentStore(at: url, ofType: StoreKind(of: url).type, options: options)
    }

    @Test("empties it, leaves an empty file as Apple's does, and lets a new one take its place", arguments: StoreKind.allCases)
    func closed(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        try makeStore(at: url)
        let kept = kind == .memory ? try Stack(url) : nil
        let old = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: url)[NSStoreUUIDKey] as? String
        try destroy(url)
        for suffix in ["-wal", "-shm"] { #expect(!exists(url, suffix), "\(suffix)") }
        #expect(exists(url) == (kind == .file))
        #expect(try home.sql("SELECT count(*) FROM sqlite_master") == "0")
        let stack = try Stack(url)
        #expect(try stack.newContext().labels().isEmpty)
        #expect(try home.sql("PRAGMA auto_vacuum") == "2")
        #expect(stack.coordinator.persistentStores[0].identifier != old)
        withExtendedLifetime(kept) {}
    }

    @Test("does nothing where there is none", arguments: StoreKind.allCases)
    func absent(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        try destroy(home.url())
        cocoaError(134000) { try coordinator.destroyPersistentStore(at: home.url(), ofType: "Cuneiform", options: nil) }
    }

    @Test("removes it from its own coordinator first", arguments: StoreKind.allCases)
    func own(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        let stack = try Stack(url)
        let context = stack.newContext()
        Tag(context: context).label = "x"
        try context.save()
        try stack.coordinator.destroyPersistentStore(at: url, ofType: kind.type)
        #expect(stack.coordinator.persistentStores.isEmpty)
        #expect(exists(url) == (kind == .file))
        #expect(try Stack(url).newContext().labels().isEmpty)
    }

    @Test(
        "that another coordinator has open leaves that one with an empty one: its fetches and saves throw, nothing is lost silently",
        arguments: StoreKind.allCases
    )
    func openElsewhere(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        let other = try Stack(url)
        let context = other.newContext()
        Tag(context: context).label = "x"
        try context.save()
        try destroy(url)
        #expect(throws: CocoaError.self) { _ = try other.newContext().labels() }
        Tag(context: context).label = "y"
        #expect(throws: CocoaError.self) { try context.save() }
        // => Both see one store: what is made anew there is what the other would meet.
        try other.close()
        #expect(try Stack(url).newContext().labels().isEmpty)
    }

    @Test("that another process writes to throws 134090, and the store stays")
    func locked() throws {
        let folder = try TemporaryFolder()
        let url = folder.store
        try makeStore(at: url)
        try Child.keepingOpen(url, "BEGIN IMMEDIATE") {
            cocoaError(134090) { try destroy(url, [NSPersistentStoreTimeoutOption: 0.1]) }
        }
        #expect(try Stack(url).newContext().labels() == ["a", "b", "c"])
    }

    @Test("refuses a file that is no database, unless forced", arguments: [1, 511, 5000])
    func noDatabase(count: Int) throws {
        let folder = try TemporaryFolder()
        let url = folder.store
        let text = Data(repeating: UInt8(ascii: "x"), count: count)
        try text.write(to: url)
        cocoaError(259) { try destroy(url) }
        #expect(try Data(contentsOf: url) == text)
        try destroy(url, [NSPersistentStoreForceDestroyOption: true])
        #expect(try Child.sqlite(url, "SELECT count(*) FROM sqlite_master; PRAGMA integrity_check") == "0\nok")
        #expect(try Stack(url).newContext().labels().isEmpty)
    }

    @Test("removes data that are in files beside it")
    func externalData() throws {
        let folder = try TemporaryFolder()
        try makeStore(at: folder.store)
        let data = try folder.write("secret", to: ".Store_SUPPORT/_EXTERNAL_DATA/\(UUID().uuidString)")
        try destroy(folder.store)
        #expect(!exists(data))
        #expect(try folder.contents() == ["Store.sqlite"])
    }

    // * One process writes; the file is destroyed here; a store is made anew.
    // => The other process and the new store are on one file.
    @Test("that another process has open leaves the file that it has, so that both go on with one")
    func openInAnotherProcess() throws {
        let folder = try TemporaryFolder()
        let url = folder.store
        try makeStore(at: url)
        let identity = DatabaseIdentity(path: url.path)
        try Child.keepingOpen(url, "SELECT count(*) FROM ZTAG") {
            try destroy(url)
            #expect(DatabaseIdentity(path: url.path) == identity)
            try makeStore(at: url, labels: ["new"])
        }
        #expect(DatabaseIdentity(path: url.path) == identity)
        #expect(try Child.sqlite(url, "SELECT ZLABEL FROM ZTAG") == "new")
    }
}
