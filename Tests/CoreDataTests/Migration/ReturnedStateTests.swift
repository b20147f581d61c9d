import Foundation
import TestSupport
import Testing

@testable import CoreData

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

    @Test("is refused with 134140 where the mapping model is gone once it is to be used")
    func gone() throws {
        let new = Self.model("words", "gone")
        try fill(Self.model("text", "gone"), NSSQLiteStoreType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        cocoaError(134140) { _ = try coordinator.openMigrating(opening(coordinator, NSSQLiteStoreType, isKnown: { _, _ in true })) }
    }
}
