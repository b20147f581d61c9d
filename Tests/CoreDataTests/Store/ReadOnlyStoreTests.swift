import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A read-only store")
struct ReadOnlyStoreTests {
    static var readOnly: [AnyHashable: Any] { [NSReadOnlyPersistentStoreOption: true] }
    let folder: TemporaryFolder
    /// Of a store in a file.
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.store
    }

    @Test("is read, and its bytes stay what they are")
    func reading() throws {
        try makeStore(at: url)
        let before = bytes(of: url)
        let stack = try Stack(url, options: Self.readOnly)
        #expect(stack.coordinator.persistentStores[0].isReadOnly)
        #expect(try stack.newContext().labels() == ["a", "b", "c"])
        try stack.close()
        #expect(bytes(of: url)[0] == before[0])
        #expect(exists(url))
    }

    @Test("shows what is in the write-ahead log only")
    func readingTheLog() throws {
        let writer = try Stack(url)
        let context = writer.newContext()
        Tag(context: context).label = "in the log"
        try context.save()
        let copy = folder.file("copy")
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: url.path + suffix, toPath: copy.path + suffix) }
        let before = bytes(of: copy)
        let stack = try Stack(copy, options: Self.readOnly)
        #expect(try stack.newContext().labels() == ["in the log"])
        try stack.close()
        #expect(bytes(of: copy) == before)
    }

    @Test("follows what others write meanwhile", arguments: StoreKind.allCases)
    func others(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        try makeStore(at: url)
        let reader = try Stack(url, options: Self.readOnly)
        let writer = try Stack(url).newContext()
        #expect(try reader.newContext().labels().count == 3)
        Tag(context: writer).label = "d"
        try writer.save()
        #expect(try reader.newContext().labels() == ["a", "b", "c", "d"])
    }

    @Test("refuses inserts, updates, deletes and metadata with 134030, and keeps the changes pending", arguments: StoreKind.allCases)
    func saving(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        try makeStore(at: url)
        let contents = "SELECT * FROM ZTAG; SELECT * FROM Z_PRIMARYKEY; SELECT Z_UUID, Z_PLIST FROM Z_METADATA"
        let before = try home.sql(contents)
        let stack = try Stack(url, options: Self.readOnly)
        let context = stack.newContext()
        let tags = try context.all(Tag.self, "Tag", orderedBy: "label")

        let inserted = Tag(context: context)
        #expect(cocoaError(134030) { try context.save() }?.affectedStores?.first === stack.coordinator.persistentStores[0])
        #expect(inserted.isInserted && inserted.objectID.isTemporaryID)
        context.rollback()

        tags[0].label = "changed"
        cocoaError(134030) { try context.save() }
        #expect(tags[0].isUpdated && tags[0].label == "changed")
        context.rollback()

        context.delete(tags[1])
        cocoaError(134030) { try context.save() }
        #expect(tags[1].isDeleted)
        cocoaError(134030) { try context.obtainPermanentIDs(for: [Tag(context: context)]) }
        try stack.close()
        #expect(try home.sql(contents) == before)
    }

    @Test("can lie in a folder that cannot be written", .enabled(if: Mounts.areAllowed, Mounts.whyNot))
    func unwritableFolder() throws {
        try makeStore(at: url)
        #expect(!exists(url, "-wal"))
        try Mounts.readOnly(folder.url) {
            let context = try Stack(url, options: Self.readOnly).newContext()
            #expect(try context.labels() == ["a", "b", "c"])
            #expect(try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)[NSStoreUUIDKey] != nil)
        }
    }

    // * A process is killed in the middle of a save, after some of its pages have reached the file.
    @Test(
        "never shows what somebody had not committed, in no folder",
        .enabled(if: Mounts.areAllowed, Mounts.whyNot)
    )
    func hotJournal() throws {
        let other = folder.file("other.sqlite")
        let stack = try Stack(other, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
        let context = stack.newContext()
        for number in 0..<500 { Tag(context: context).label = String(repeating: "\(number) ", count: 100) }
        try context.save()
        try stack.close()
        let change = "PRAGMA cache_size = 1; BEGIN; UPDATE ZTAG SET ZLABEL = 'uncommitted' || ZLABEL"
        try Child.keepingOpen(other, change) {
            for suffix in ["", "-journal"] { try FileManager.default.copyItem(atPath: other.path + suffix, toPath: url.path + suffix) }
        }
        #expect(try Data(contentsOf: url).range(of: Data("uncommitted".utf8)) != nil)
        let before = bytes(of: url)
        try Mounts.readOnly(folder.url) {
            cocoaError(513) { try Stack(url, options: Self.readOnly).newContext().labels() }
            cocoaError(513) { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url) }
        }
        let error = cocoaError(513) { try Stack(url, options: Self.readOnly).newContext().labels() }
        #expect(error?.localizedDescription.contains("interrupted") == true)
        #expect(bytes(of: url) == before)
        // => Whoever may write takes it back.
        let labels = try Stack(url).newContext().labels()
        #expect(labels.allSatisfy { $0?.hasPrefix("uncommitted") == false })
    }

    // * The folder cannot be written here, while somebody writes there by another way.
    @Test("in a folder that cannot be written here shows what others write there", .enabled(if: Mounts.areAllowed, Mounts.whyNot))
    func writtenElsewhere() throws {
        let (real, view) = (folder.file("real"), folder.file("view"))
        for place in [real, view] { try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false) }
        let url = real.appendingPathComponent("Store.sqlite")
        try makeStore(at: url)
        try Mounts.readOnly(view, of: real) {
            let stack = try Stack(view.appendingPathComponent("Store.sqlite"), options: Self.readOnly)
            #expect(try stack.newContext().labels() == ["a", "b", "c"])
            // By another process: the lock of this one would be on the same file.
            try Child.keepingOpen(url, "UPDATE ZTAG SET ZLABEL = 'd', Z_OPT = 2 WHERE ZLABEL = 'c'") {
                let seen = try stack.newContext().labels()
                #expect(seen == ["a", "b", "d"])
            }
            try Child.sqlite(url, "UPDATE ZTAG SET ZLABEL = 'e', Z_OPT = 3 WHERE ZLABEL = 'd'")
            #expect(try stack.newContext().labels() == ["a", "b", "e"])
            try stack.close()
        }
    }

    @Test(
        "is what a file that cannot be written must be: opening it for writing, or saving, fails",
        .enabled(if: Mounts.areAllowed, Mounts.whyNot)
    )
    func unwritableFile() throws {
        try makeStore(at: url)
        try Mounts.readOnly(folder.url) {
            do {
                let context = try Stack(url).newContext()
                let tag = Tag(context: context)
                do {
                    try context.save()
                    Issue.record("The save of a file on a read-only volume succeeded.")
                } catch {
                    #expect(error is CocoaError, "\(error)")
                    #expect(tag.isInserted)
                }
            } catch {
                #expect(error is CocoaError, "\(error)")
            }
            cocoaError(134080) { try Stack(folder.file("new.sqlite")) }
        }
    }
}

/// Mounts, for which one must be root.
enum Mounts {
    static let whyNot: Comment = "Only root may mount."
    static let areAllowed: Bool = {
        guard let folder = try? TemporaryFolder() else { return false }
        return (try? small(folder.url, kilobytes: 64) {}) != nil
    }()

    private static func mount(_ arguments: [String]) throws {
        guard try Child.run("mount", arguments).status == 0 else { throw CocoaError(.featureUnsupported) }
    }

    private static func unmount(_ folder: URL) { _ = try? Child.run("umount", ["--lazy", folder.path]) }

    /// Runs `body` while nobody can write below a folder.
    static func readOnly(_ folder: URL, _ body: () throws -> Void) throws { try readOnly(folder, of: folder, body) }

    /// Runs `body` while a folder shows another one, which nobody can write there.
    static func readOnly(_ folder: URL, of other: URL, _ body: () throws -> Void) throws {
        try mount(["--bind", other.path, folder.path])
        defer { unmount(folder) }
        try mount(["-o", "remount,ro,bind", folder.path])
        try body()
    }

    /// Runs `body` while a folder is a volume of that size.
    static func small(_ folder: URL, kilobytes: Int, _ body: () throws -> Void) throws {
        try mount(["-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", folder.path])
        defer { unmount(folder) }
        try body()
    }
}
