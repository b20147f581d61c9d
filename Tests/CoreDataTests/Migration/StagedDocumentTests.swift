import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A document that is migrated in stages")
struct StagedDocumentTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("Notes")
    }

    /// Versions that no program has registered, nor has in a file.
    private func version(_ number: Int, _ type: String) -> NSManagedObjectModel {
        let note = NSEntityDescription("Note", attribute("text"))
        note.versionHashModifier = "stages \(type)"
        if number >= 2 { note.properties.append(attribute("words", .integer32)) }
        if number >= 3 { note.properties.append(attribute("language")) }
        return NSManagedObjectModel(note)
    }

    private func reference(_ number: Int, _ type: String) -> NSManagedObjectModelReference {
        let model = version(number, type)
        return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    private func make(_ type: String) throws {
        let stack = Stack(version(1, type))
        let store = try stack.coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = stack.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("to be or not", forKey: "text")
        try context.save()
        try stack.coordinator.remove(store)
    }

    /// The stage in which words are counted.
    private func counting(_ type: String) -> NSCustomMigrationStage {
        let stage = NSCustomMigrationStage(migratingFrom: reference(1, type), to: reference(2, type))
        stage.didMigrateHandler = { manager, _ in
            let context = try #require(manager.container?.newBackgroundContext())
            try context.performAndWait {
                for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
                    let text = note.value(forKey: "text") as? String ?? ""
                    note.setValue(text.split(separator: " ").count, forKey: "words")
                }
                try context.save()
            }
        }
        return stage
    }

    // * The only ones who know the models of before are the stages; the coordinator's version comes after all of them, or is the last.
    @Test("finds its models among the stages", arguments: [NSXMLStoreType, NSBinaryStoreType], [2, 3])
    func models(type: String, last: Int) throws {
        try make(type)
        cocoaError(134130) {
            try Stack(version(last, type)).coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: migrating)
        }
        let options = migrating.merging([
            NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([counting(type)])
        ]) { $1 }
        let stack = Stack(version(last, type))
        try stack.coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
        let note = try #require(try stack.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        #expect(note.value(forKey: "words") as? Int == 4 && note.value(forKey: "text") as? String == "to be or not")
    }
}
