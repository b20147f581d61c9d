import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A migration that is interrupted")
struct InterruptedMigrationTests {
    private struct Interruption: Error {}

    /// Changes that have to do with every table: renamed, rebuilt, copied, dropped, numbered anew.
    private static func changed() -> Zoo {
        let zoo = Zoo()
        zoo.add(NSEntityDescription("Aardvark", attribute("name")))
        (zoo.animal.name, zoo.animal.renamingIdentifier) = ("Beast", "Animal")
        zoo.keeperOfAnimal.maxCount = 0
        zoo.toys.isOrdered = true
        zoo.animal.subentities = [zoo.dog]
        zoo.cat.properties = [attribute("name")]
        zoo.keeper.properties.removeAll { $0 === zoo.badge }
        let rank = attribute("rank", .integer64)
        (rank.isOptional, rank.defaultValue) = (false, 7)
        zoo.toy.properties.append(rank)
        return zoo
    }

    /// Runs a migration on a connection of its own, which calls `body` before each statement.
    private func migrate(_ url: URL, to model: NSManagedObjectModel, _ body: @escaping () throws -> Void) throws {
        let place = StorePlace.file(url)
        let database = try StoreDatabase(place: place, options: DatabaseOptions(migrating, isInMemory: false))
        let connection = try place.connect(.readWrite, timeout: 5)
        defer { connection.close() }
        connection.onStatement = { _ in try body() }
        model.freeze()
        try database.migrateIfAsked(connection, model, nil)
    }

    // * The first, second, … statement fails.
    // => 134110, and the store is what it was; without a failure it is the new one.
    @Test("by an error, at any statement, leaves the old store")
    func failing() throws {
        let home = try StoreHome(.file)
        let (old, new) = (Zoo().model, Self.changed().model)
        try old.makeFilledStore(at: home.url())
        let before = try StoreContents(home.url(), old)
        var (failed, isDone) = (0, false)
        while !isDone {
            var left = failed
            do {
                try migrate(home.url(), to: new) {
                    if left == 0 { throw Interruption() }
                    left -= 1
                }
                isDone = true
            } catch {
                failed += 1
                if failed % 7 == 0 { #expect(try StoreContents(home.url(), old).objects == before.objects, "statement \(failed)") }
            }
            try #require(failed < 400)
        }
        #expect(failed > 40)
        try expectMigrated(home.url(), before, ModelTransition(from: old, to: new))
    }

    // * Before each statement the file and its log are copied, as they are: a process that is killed there leaves them like that.
    // => Each copy is the old store, and can be migrated; the last one is the new store.
    @Test("by the end of the process, at any statement, leaves the old store or the new one")
    func killed() throws {
        let home = try StoreHome(.file)
        let (old, new) = (Zoo().model, Self.changed().model)
        try old.makeFilledStore(at: home.url())
        let before = try StoreContents(home.url(), old)
        let copies = try TemporaryFolder()
        var count = 0
        let copy = {
            count += 1
            try Self.copy(home.url(), to: copies.file("\(count).sqlite"))
        }
        try migrate(home.url(), to: new) { try copy() }
        try copy()
        #expect(count > 40)
        let transition = ModelTransition(from: old, to: new)
        for number in 1...count {
            let url = copies.file("\(number).sqlite")
            let connection = try Connection(path: url.path, mode: .readWrite)
            #expect(try connection.rows("PRAGMA integrity_check") == [[.text("ok")]])
            let hashes = try #require(try StoreMetadata.read(from: connection)?.versionHashes)
            connection.close()
            let isNew = hashes == new.entityVersionHashesByName
            #expect(isNew || hashes == old.entityVersionHashesByName, "statement \(number)")
            if !isNew, number % 9 == 0 {
                #expect(try StoreContents(url, old).objects == before.objects, "statement \(number)")
                try Stack(url, new, options: migrating).close()
                try expectMigrated(url, before, transition)
            }
        }
        try expectMigrated(home.url(), before, transition)
    }

    private static func copy(_ url: URL, to copy: URL) throws {
        for suffix in ["", "-wal"] where exists(url, suffix) {
            try FileManager.default.copyItem(atPath: url.path + suffix, toPath: copy.path + suffix)
        }
    }
}
