import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A token of a history that has ended")
struct ExpiredTokenTests {
    enum Manner: CaseIterable { case replacement, files }

    private let folder: TemporaryFolder
    private let shop = Shop()
    private var url: URL { folder.file("Store.sqlite") }
    private var tracked: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    init() throws { folder = try TemporaryFolder() }

    /// Saves something, and gives the token of that.
    private func save(_ context: NSManagedObjectContext) throws -> NSPersistentHistoryToken {
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("x", forKey: "label")
        try context.save()
        return try #require(context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil))
    }

    private func fill() throws -> [NSPersistentHistoryToken] {
        let stack = try Stack(url, shop.old, options: tracked)
        defer { try? stack.close() }
        let context = stack.newContext()
        return try (0..<4).map { _ in try save(context) }
    }

    /// Puts another store in the place of the one that has the history.
    private func put(_ other: URL, _ manner: Manner) throws {
        guard manner == .files else {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
            return try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: other, type: .sqlite)
        }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
        try FileManager.default.moveItem(at: other, to: url)
    }

    /// Whether the tokens have expired, and those of a history that begins anew there go on, while it gets longer than the one before.
    private func expectExpired(_ tokens: [NSPersistentHistoryToken], _ model: NSManagedObjectModel) throws {
        let stack = try Stack(url, model, options: tracked)
        defer { try? stack.close() }
        let context = stack.newContext()
        for number in 1...6 {
            let token = try save(context)
            #expect(try context.history(after: token).isEmpty && context.history().count == number)
            for token in tokens { #expect(errorCode { _ = try context.history(after: token) } == 134_301) }
        }
    }

    // * A store with a history is migrated by hand to another place, which then takes its place.
    // => The new objects' history begins anew, and tokens from before never mean a part of it.
    @Test("has expired in the store that a mapping model has made of that one", arguments: Manner.allCases)
    func migrated(_ manner: Manner) throws {
        let tokens = try fill()
        let new = folder.file("New.sqlite")
        let manager = NSMigrationManager(sourceModel: shop.old, destinationModel: shop.new)
        try manager.migrateStore(from: url, type: .sqlite, mapping: shop.mapping(policy: JoiningPolicy.self), to: new, type: .sqlite)
        try put(new, manner)
        try expectExpired(tokens, shop.new)
    }

    // * As before, twice: the store between the two is never opened with a history.
    // => It is the same.
    @Test("has expired in the store that comes after several migrations")
    func migratedTwice() throws {
        let tokens = try fill()
        let (next, new) = (folder.file("Next.sqlite"), folder.file("New.sqlite"))
        let manager = NSMigrationManager(sourceModel: shop.old, destinationModel: shop.new)
        try manager.migrateStore(from: url, type: .sqlite, mapping: shop.mapping(), to: next, type: .sqlite)
        let copy = try NSMappingModel.inferredMappingModel(forSourceModel: shop.new, destinationModel: shop.new)
        let second = NSMigrationManager(sourceModel: shop.new, destinationModel: shop.new)
        second.usesStoreSpecificMigrationManager = false
        try second.migrateStore(from: next, type: .sqlite, mapping: copy, to: new, type: .sqlite)
        try put(new, .files)
        try expectExpired(tokens, shop.new)
    }

    // * A backup from before the program has begun a history comes back, and the program begins one again.
    // => Tokens of the history that there was are not taken for tokens of that.
    @Test("has expired where a state of the store comes back that has no history")
    func comesBack() throws {
        try Stack(url, shop.old).close()
        let backup = folder.file("Backup.sqlite")
        try FileManager.default.copyItem(at: url, to: backup)
        let tokens = try fill()
        try put(backup, .replacement)
        try expectExpired(tokens, shop.old)
    }
}
