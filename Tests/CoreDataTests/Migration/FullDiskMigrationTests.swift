import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A migration for which there is no room")
struct FullDiskMigrationTests {
    private let folder: TemporaryFolder
    private var url: URL { folder.file("Store.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    /// The second version rebuilds the table.
    private func version(_ number: Int) -> NSManagedObjectModel {
        let leaf = NSEntityDescription("Leaf", attribute("text"))
        leaf.properties += (number == 1 ? ["a", "b", "c", "d"] : ["added"]).map { attribute($0) }
        return NSManagedObjectModel(leaf)
    }

    private func fill() throws {
        let stack = try Stack(url, version(1))
        let context = stack.newContext()
        for number in 0..<4000 {
            let leaf = NSEntityDescription.insertNewObject(forEntityName: "Leaf", into: context)
            leaf.setValue("\(number) " + String(repeating: "x", count: 200), forKey: "text")
        }
        try context.save()
        try stack.close()
    }

    private func migrate(byMapping: Bool) throws {
        guard byMapping else { return try Stack(url, version(2), options: migrating).close() }
        let (old, new) = (version(1).frozen(), version(2).frozen())
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let source = SourceModelSearch.Found(model: old, configuration: nil)
        try MigrationInPlace(site: StoreSite(url: url, type: NSSQLiteStoreType), source: source, model: new, mapping: mapping).run()
    }

    // * The volume is full to but a few pages, which are not enough, when the store is migrated where it is.
    // => 134110 with 640 underneath, nothing beside the store, and the old store opens with all that it had. With room it is migrated.
    @Test(
        "leaves the old store, which opens, and is migrated as soon as there is",
        .enabled(if: Mounts.areAllowed, Mounts.whyNot),
        arguments: [true, false],
        [100, 400, 900]
    )
    func full(byMapping: Bool, kilobytes: Int) throws { try leavesOld(byMapping, kilobytes) }

    // * As before, where the new contents fit beside the store, but not into it then.
    @Test(
        "leaves the old store also where the new one has been made beside it",
        .enabled(if: Mounts.areAllowed, Mounts.whyNot),
        arguments: [1500, 1650]
    )
    func fullAtLast(kilobytes: Int) throws { try leavesOld(true, kilobytes) }

    private func leavesOld(_ byMapping: Bool, _ kilobytes: Int) throws {
        try Mounts.small(folder.url, kilobytes: 6000) {
            try fill()
            let before = try StoreContents(url, version(1)).objects
            let filler = folder.file("filler")
            try leave(kilobytes, filler)
            let error = cocoaError(134110) { try migrate(byMapping: byMapping) }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == .fileWriteOutOfSpace, "\(String(describing: error))")
            #expect(try folder.contents().filter { !$0.hasPrefix("Store.sqlite") } == ["filler"])
            #expect(try StoreContents(url, version(1)).objects == before)
            #expect(try StoreInspector(url: url).problems() == [])
            try FileManager.default.removeItem(at: filler)
            try migrate(byMapping: byMapping)
            let texts = before["Leaf"]?.values.compactMap { $0["text"] }.sorted()
            #expect(try StoreContents(url, version(2)).objects["Leaf"]?.values.compactMap { $0["text"] }.sorted() == texts)
        }
    }

    // * There is no room for a copy of the store.
    // => Nothing of one is there that could be taken for it; with room there is a whole one.
    @Test("leaves no part of a backup", .enabled(if: Mounts.areAllowed, Mounts.whyNot))
    func backup() throws {
        try Mounts.small(folder.url, kilobytes: 6000) {
            try fill()
            let (filler, copy) = (folder.file("filler"), folder.file("Store.sqlite.backup"))
            try leave(200, filler)
            #expect(throws: CocoaError.self) { try StoreFileMigration(of: url, to: version(2))?.backUp(to: copy) }
            #expect(try folder.contents().filter { $0.contains("backup") } == [])
            try FileManager.default.removeItem(at: filler)
            try StoreFileMigration(of: url, to: version(2))?.backUp(to: copy)
            #expect(try StoreContents(copy, version(1)).objects == StoreContents(url, version(1)).objects)
            #expect(try folder.contents().filter { !$0.hasPrefix("Store.sqlite") } == [])
        }
    }

    /// Fills the volume but for so much.
    private func leave(_ kilobytes: Int, _ file: URL) throws {
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        let block = Data(repeating: 1, count: 4096)
        while (try? handle.write(contentsOf: block)) != nil {}
        let size = try handle.seekToEnd()
        try handle.truncate(atOffset: size - UInt64(kilobytes) * 1024)
    }
}
