import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Attributes that a mapping model copies")
struct CopiedValuesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func model(_ note: NSAttributeDescription) -> NSManagedObjectModel {
        NSManagedObjectModel(NSEntityDescription("Song", attribute("title"), note))
    }

    private func note(isTransient: Bool) -> NSAttributeDescription {
        let note = attribute("note")
        (note.isTransient, note.defaultValue) = (isTransient, "new")
        return note
    }

    private var mapping: NSMappingModel {
        let mapping = NSMappingModel(), song = NSEntityMapping("Songs", "Song", "Song")
        song.attributeMappings = [.init("title", "$source.title"), .init("note", "$source.note")]
        mapping.entityMappings = [song]
        return mapping
    }

    private func fill(_ model: NSManagedObjectModel) throws {
        let stack = try Stack(folder.file("Old.sqlite"), model)
        let context = stack.newContext()
        let song = NSEntityDescription.insertNewObject(forEntityName: "Song", into: context)
        song.setValue("Air", forKey: "title")
        song.setValue("old", forKey: "note")
        try context.save()
        try stack.close()
    }

    private func migrate(_ old: NSManagedObjectModel, _ new: NSManagedObjectModel, bySQL: Bool) throws {
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = bySQL
        try manager.migrateStore(
            from: folder.file("Old.sqlite"),
            type: .sqlite,
            mapping: mapping,
            to: folder.file("New.sqlite"),
            type: .sqlite
        )
    }

    // * An attribute is transient in the one version, in the other, or in both.
    // => As rows and object by object: what is stored in both is copied, what no store had is its default.
    @Test(
        "are what the store had of them, and transient ones their defaults",
        arguments: [true, false],
        [(true, false), (false, true), (true, true), (false, false)]
    )
    func transient(bySQL: Bool, isTransient: (before: Bool, now: Bool)) throws {
        let (old, new) = (model(note(isTransient: isTransient.before)), model(note(isTransient: isTransient.now)))
        try fill(old)
        try migrate(old, new, bySQL: bySQL)
        let stack = try Stack(folder.file("New.sqlite"), new)
        let song = try #require(try stack.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Song")).first)
        #expect(song.value(forKey: "title") as? String == "Air")
        #expect(song.value(forKey: "note") as? String == (isTransient.before || isTransient.now ? "new" : "old"))
        try stack.close()
    }

    // * An attribute is derived in the next version.
    // => It is computed where the destination is, as rows and object by object.
    @Test("and are derived ones are computed", arguments: [true, false])
    func derived(bySQL: Bool) throws {
        let note = NSDerivedAttributeDescription()
        (note.name, note.type, note.derivationExpression) = ("note", .string, NSExpression(format: "uppercase:(title)"))
        let (old, new) = (model(self.note(isTransient: false)), model(note))
        try fill(old)
        try migrate(old, new, bySQL: bySQL)
        let stack = try Stack(folder.file("New.sqlite"), new)
        let song = try #require(try stack.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Song")).first)
        #expect(song.value(forKey: "note") as? String == "AIR")
        try stack.close()
    }
}
