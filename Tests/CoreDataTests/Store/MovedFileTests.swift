import Foundation
import Glibc
import TestSupport
import Testing

@testable import CoreData

@Suite("A store whose file others remove or replace while it is open")
struct MovedFileTests {
    let folder: TemporaryFolder
    var url: URL { folder.store }

    init() throws { folder = try TemporaryFolder() }

    /// What others do.
    enum Deed: CaseIterable {
        case unlink, replace, rename
        /// What is saved then would be in a log that nobody finds, and lost with the process.
        case unlinkLog
        /// Whoever opens an empty file takes its log away.
        case truncate

        func run(_ url: URL) throws {
            switch self {
            case .unlink: for suffix in ["", "-wal", "-shm"] { _ = Glibc.unlink(url.path + suffix) }
            case .replace:
                let other = url.deletingLastPathComponent().appendingPathComponent("other.sqlite")
                try makeStore(at: other, labels: ["other"])
                // NB: a log that is left beside it would be taken for its own.
                for suffix in ["-wal", "-shm"] { _ = Glibc.unlink(url.path + suffix) }
                #expect(Glibc.rename(other.path, url.path) == 0)
            case .unlinkLog: for suffix in ["-wal", "-shm"] { #expect(Glibc.unlink(url.path + suffix) == 0) }
            case .truncate: #expect(Glibc.truncate(url.path, 0) == 0)
            case .rename: #expect(Glibc.rename(url.path, url.path + ".bak") == 0)
            }
        }
    }

    @Test(
        "refuses saves with an error that says so, and keeps the changes",
        arguments: Deed.allCases.map { ($0, "WAL") } + [Deed.unlink, .replace, .rename].map { ($0, "DELETE") }
    )
    func saving(deed: Deed, journal: String) throws {
        let stack = try Stack(url, options: [NSSQLitePragmasOption: ["journal_mode": journal]])
        let context = stack.newContext()
        Tag(context: context).label = "mine"
        try context.save()
        try deed.run(url)
        let tag = Tag(context: context)
        tag.label = "late"
        let error = cocoaError(4) { try context.save() }
        #expect(error?.localizedDescription.contains("removed or replaced") == true)
        #expect(tag.isInserted && tag.objectID.isTemporaryID && tag.label == "late")
        cocoaError(4) { try context.obtainPermanentIDs(for: [tag]) }
        // => What took its place is as it was, and nothing else came into being.
        if deed == .replace {
            #expect(try Child.sqlite(url, "SELECT group_concat(ZLABEL) FROM ZTAG") == "other")
        } else {
            #expect(exists(url) == [.unlinkLog, .truncate].contains(deed))
        }
    }

    @Test("says that the file is not there where it is to be read")
    func readingNothing() throws {
        let stack = try Stack(url)
        Tag(context: stack.newContext()).label = "mine"
        try Deed.unlink.run(url)
        let error = cocoaError(134080) { try stack.newContext().labels() }
        #expect(error?.localizedDescription.contains("there is no file at its place") == true)
    }

    @Test("is not read half from one file and half from another")
    func reading() throws {
        let stack = try Stack(url)
        let context = stack.newContext()
        Tag(context: context).label = "mine"
        try context.save()
        try Deed.replace.run(url)
        // The pool has no reader yet: the first one is opened now, by name.
        cocoaError(4) { try stack.newContext().labels() }
    }

    @Test("is not read half from one file and half from another where it was opened read-only", arguments: ["WAL", "DELETE"])
    func readOnly(journal: String) throws {
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": journal]]
        let writer = try Stack(url, options: options)
        Tag(context: writer.newContext()).label = "mine"
        try writer.close()
        let stack = try Stack(url, options: [NSReadOnlyPersistentStoreOption: true])
        try Deed.replace.run(url)
        cocoaError(4) { try stack.newContext().labels() }
    }
}
