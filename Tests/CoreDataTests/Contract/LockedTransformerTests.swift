import Foundation
import Testing

@testable import CoreData

/// Texts as bytes that it makes, and reads, only while it has its key.
private final class LockedTransformer: ValueTransformer {
    static let name = "LockedTransformer"
    // The suite is serialized.
    nonisolated(unsafe) static var isLocked = false

    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
        Self.isLocked ? nil : (value as? String).map { Data($0.utf8.map { $0 ^ 0x55 }) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        Self.isLocked ? nil : (value as? Data).map { String(decoding: $0.map { $0 ^ 0x55 }, as: UTF8.self) }
    }

    /// Runs `body` without the key.
    static func locked(_ body: () throws -> Void) rethrows {
        isLocked = true
        defer { isLocked = false }
        try body()
    }
}

@Suite("A value that its transformer cannot read at the moment", .serialized)
struct LockedTransformerTests {
    private let model: NSManagedObjectModel

    init() {
        ValueTransformer.setValueTransformer(LockedTransformer(), forName: NSValueTransformerName(LockedTransformer.name))
        let secret = LibraryModel.attribute("secret", .transformableAttributeType)
        secret.valueTransformerName = LockedTransformer.name
        model = NSManagedObjectModel()
        let text = LibraryModel.attribute("text", .stringAttributeType)
        model.entities = [LibraryModel.entity("Note", NSManagedObject.self, [text, secret])]
    }

    /// A note with a secret, saved.
    private func note(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue("old", forKey: "text")
        note.setValue("secret", forKey: "secret")
        try context.save()
        return note
    }

    private func expectRefusal(_ code: Int, _ words: String..., of body: () throws -> Void) {
        #expect {
            try LockedTransformer.locked(body)
        } throws: { error in
            (error as? CocoaError)?.errorCode == code && words.allSatisfy(error.localizedDescription.contains)
        }
    }

    private func contents(_ context: NSManagedObjectContext) throws -> [[String?]] {
        let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        let values = notes.map { note in ["text", "secret"].map { note.value(forKey: $0) as? String } }
        return values.sorted { ($0[0] ?? "") < ($1[0] ?? "") }
    }

    // * Another attribute is changed: a document, and a class of the program's, are written with all values of the object.
    @Test("is not written over with nothing where its object is saved", arguments: [ContractKind.binary, .xml, .dictionary])
    func sameObject(_ kind: ContractKind) throws {
        let home = try ContractHome(kind, model: model)
        let context = try home.open()
        let note = try note(context)
        note.setValue("new", forKey: "text")
        expectRefusal(134030, "Note.secret") { try context.save() }
        #expect(note.hasChanges)
        try context.save()
        #expect(try contents(home.reopened(context)) == [["new", "secret"]])
    }

    @Test("is not written over with nothing where another object of its document is saved", arguments: [ContractKind.binary, .xml])
    func otherObject(_ kind: ContractKind) throws {
        let home = try ContractHome(kind, model: model)
        let context = try home.open()
        let note = try note(context)
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("other", forKey: "text")
        expectRefusal(134030, "Note.secret") { try context.save() }
        try context.save()
        #expect(try contents(home.reopened(context)) == [["old", "secret"], ["other", nil]])
        withExtendedLifetime(note) {}
    }

    @Test("does not get lost on the way from a database into a document", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func move(_ type: String) throws {
        let home = try ContractHome(.file, model: model)
        let context = try home.open()
        let note = try note(context)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let (store, place) = (coordinator.persistentStores[0], home.folder.file("Moved"))
        expectRefusal(134030, "Note.secret") { try coordinator.migratePersistentStore(store, to: place, withType: type) }
        #expect(coordinator.persistentStores == [store] && !FileManager.default.fileExists(atPath: place.path))
        try coordinator.migratePersistentStore(store, to: place, withType: type)
        #expect(try contents(home.context(on: coordinator)) == [["old", "secret"]])
        withExtendedLifetime(note) {}
    }

    @Test("is named, with its document, where that cannot be opened", arguments: [ContractKind.binary, .xml])
    func opening(_ kind: ContractKind) throws {
        let home = try ContractHome(kind, model: model)
        let context = try home.open()
        _ = try note(context)
        expectRefusal(134080, "Note.secret", home.url.path) { _ = try home.open() }
        #expect(try contents(home.reopened(context)) == [["old", "secret"]])
    }
}
