import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Another is faster.
final class OvertakenPolicy: NSEntityMigrationPolicy {
    @TaskLocal static var overtake: (@Sendable () -> Void)?

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { Self.overtake?() }
}

@Suite("A store for whose version there is a mapping model, while others are at work on it")
struct ReturnedStateTests {
    private static func model(_ key: String, _ use: String) -> NSManagedObjectModel {
        let note = NSEntityDescription("Note", attribute(key))
        note.versionHashModifier = "returned \(use)"
        return NSManagedObjectModel(note)
    }

    private let folder: TemporaryFolder
    private var url: URL { folder.file("Notes") }

    init() throws { folder = try TemporaryFolder() }

    private func fill(_ model: NSManagedObjectModel, _ type: String) throws {
        NSManagedObjectModel.register("Notes of ReturnedStateTests in \(type)") { Self.model("text", type) }
        let stack = Stack(model)
        try stack.coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = stack.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("kept", forKey: "text")
        try context.save()
        try stack.close()
    }

    /// An opening that calls `willOpen` with the number of each attempt at it.
    private func opening(
        _ coordinator: NSPersistentStoreCoordinator,
        _ type: String,
        willOpen: @escaping (Int) throws -> Void = { _ in },
        isKnown: (@Sendable (NSManagedObjectModel, NSManagedObjectModel) -> Bool)? = nil
    ) -> StoreOpening {
        let usual = coordinator.opening(type, nil, url, migrating)
        var attempts = 0
        return StoreOpening(
            type: type,
            url: url,
            configurationName: nil,
            options: migrating,
            model: coordinator.managedObjectModel,
            coordinator: coordinator,
            requireUnused: { _, url in
                guard url != nil else { return }
                attempts += 1
                try willOpen(attempts)
            },
            hasMappingModel: isKnown ?? usual.hasMappingModel
        )
    }

    // * The migration is done. Before the store is opened, a backup of the older version is put in its place.
    // => That is migrated as well.
    @Test("is migrated again where an older state comes back before it is opened", arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func comesBack(_ type: String) throws {
        let (old, new) = (Self.model("text", type), Self.model("words", type))
        NSMappingModel.register(from: old, to: new) {
            let note = NSEntityMapping("NoteToNote", "Note", "Note")
            note.attributeMappings = [.init("words", "$source.text")]
            let mapping = NSMappingModel()
            mapping.entityMappings = [note]
            return mapping
        }
        try fill(old, type)
        let backup = folder.file("Backup")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        let restorer = NSPersistentStoreCoordinator(managedObjectModel: old)
        try restorer.replacePersistentStore(at: backup, withPersistentStoreFrom: url, ofType: type)
        let opening = opening(
            coordinator,
            type,
            willOpen: { [url] in if $0 == 2 { try restorer.replacePersistentStore(at: url, withPersistentStoreFrom: backup, ofType: type) }
            }
        )
        let store = try coordinator.openMigrating(opening)
        defer { store.close() }
        #expect(try store.count(FetchQuery(entity: #require(new.entitiesByName["Note"]), includesSubentities: true)) == 1)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        #expect(new.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    /// Opens the document with a model, which migrates it, and lets go of it.
    private func open(_ model: NSManagedObjectModel, _ type: String, at url: URL? = nil) throws -> Int {
        let stack = Stack(model)
        try stack.coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url ?? self.url, options: migrating)
        defer { try? stack.close() }
        return try stack.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
    }

    // * A document is being migrated by what can be inferred. Before it is written, another has done the same.
    // => It is found done.
    @Test("is opened as another has migrated it meanwhile, a document too", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func overtaken(_ type: String) throws {
        let (old, new) = (Self.model("text", type), Self.model("text", type))
        new.entities[0].properties.append(attribute("more"))
        try fill(old, type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        let (calls, isMigrated) = (Lock(0), Lock(false))
        let overtake: @Sendable (NSManagedObjectModel, NSManagedObjectModel) -> Bool = { [url] _, _ in
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            guard isFirst else { return false }
            let other = NSPersistentStoreCoordinator(managedObjectModel: new)
            let store = try? other.addPersistentStore(ofType: type, configurationName: nil, at: url, options: migrating)
            if let store { isMigrated.withLock { $0 = (try? other.remove(store)) != nil } }
            return false
        }
        let opening = opening(coordinator, type, isKnown: overtake)
        let store = try coordinator.openMigrating(opening)
        defer { store.close() }
        #expect(isMigrated.withLock { $0 })
        #expect(try store.count(FetchQuery(entity: #require(new.entitiesByName["Note"]), includesSubentities: true)) == 1)
    }

    // * A document is being migrated by a mapping model. Before it is written, another has done the same.
    // => It is found done.
    @Test("is opened as another has migrated it by the mapping model meanwhile")
    func mappingOvertaken() throws {
        let (type, use) = (NSXMLStoreType, "overtaken mapping")
        let (old, new) = (Self.model("text", use), Self.model("words", use))
        OvertakenPolicy.register()
        NSMappingModel.register(from: old, to: new) {
            let note = NSEntityMapping("NoteToNote", "Note", "Note")
            note.attributeMappings = [.init("words", "$source.text")]
            note.entityMigrationPolicyClassName = NSStringFromClass(OvertakenPolicy.self)
            let mapping = NSMappingModel()
            mapping.entityMappings = [note]
            return mapping
        }
        try fill(old, type)
        NSManagedObjectModel.register("Notes of ReturnedStateTests, overtaken") { Self.model("text", use) }
        let copy = folder.file("Copy")
        try FileManager.default.copyItem(at: url, to: copy)
        #expect(try open(new, type, at: copy) == 1)
        let migrated = try Data(contentsOf: copy)
        let isWritten = Lock(false)
        let overtake: @Sendable () -> Void = { [url] in
            isWritten.withLock { $0 = (try? migrated.write(to: url, options: .atomic)) != nil }
        }
        let count = try OvertakenPolicy.$overtake.withValue(overtake) { try open(new, type) }
        #expect(try isWritten.withLock { $0 } && count == 1 && Data(contentsOf: url) == migrated)
    }

    // * The store is being migrated. Another in the process has the turn at it, and waits until it may write, as who opens or saves it does.
    // => The migration does not wait for him in turn.
    @Test("is migrated while another in the process waits for that in his turn", arguments: ["WAL", "DELETE"])
    func awaited(_ journal: String) throws {
        let (old, new) = (Self.model("text", "awaited"), Self.model("words", "awaited"))
        try fill(old, NSSQLiteStoreType)
        let note = NSEntityMapping("NoteToNote", "Note", "Note")
        note.attributeMappings = [.init("words", "$source.text")]
        let mapping = NSMappingModel()
        mapping.entityMappings = [note]
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": journal]]
        try Stack(url, old, options: options).close()
        let site = StoreSite(url: url, type: NSSQLiteStoreType, options: options)
        let migration = MigrationInPlace(site: site, source: .init(model: old, configuration: nil), model: new, mapping: mapping)
        let lock = StoreLock.of(try #require(DatabaseIdentity(path: url.path)))
        let (begun, migrated, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isMigrated = Lock(false)
        Thread.detachNewThread {
            lock.write {
                begun.signal()
                isMigrated.withLock { $0 = migrated.wait(timeout: .now() + 20) == .success }
            }
            ended.signal()
        }
        begun.wait()
        try migration.run()
        migrated.signal()
        ended.wait()
        #expect(isMigrated.withLock { $0 })
        #expect(try open(new, NSSQLiteStoreType) == 1)
    }

    @Test("is refused with 134140 where the mapping model is gone once it is to be used")
    func gone() throws {
        let new = Self.model("words", "gone")
        try fill(Self.model("text", "gone"), NSSQLiteStoreType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        cocoaError(134140) { _ = try coordinator.openMigrating(opening(coordinator, NSSQLiteStoreType, isKnown: { _, _ in true })) }
    }
}
