import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Lets go of all source objects, and counts how often the first note's successor is found afterwards.
final class FirstNotePolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(forSource object: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try super.createDestinationInstances(forSource: object, in: mapping, manager: manager)
        manager.sourceContext.reset()
        guard mapping.name != "Note0" else { return }
        let first = try manager.sourceContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note0"))
        let found = manager.destinationInstances(forEntityMappingName: "Note0", sourceInstances: first).count
        manager.userInfo = ["found": found + (manager.userInfo?["found"] as? Int ?? 0)]
    }
}

@Suite("A document of an older version")
struct DocumentMigrationTests {
    /// A zoo of its own: what is registered here has other hashes than what the stores of other tests are looked for by.
    private static func zoo(_ change: (Zoo) -> Void = { _ in }) -> Zoo {
        let zoo = Zoo()
        for entity in zoo.model.entities { entity.versionHashModifier = "document" }
        change(zoo)
        return zoo
    }

    private static func open(_ model: NSManagedObjectModel, _ type: String, _ url: URL, _ options: [AnyHashable: Any]? = nil) throws
        -> NSManagedObjectContext
    {
        let stack = Stack(model)
        try stack.coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
        return stack.newContext()
    }

    private static func names(_ entity: String, _ key: String, in context: NSManagedObjectContext) throws -> [String?] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { $0.value(forKey: key) as? String }
    }

    /// The next version renames keepers, and lets a cat be no animal.
    private static func next() -> NSManagedObjectModel {
        zoo {
            ($0.keeper.name, $0.keeper.renamingIdentifier) = ("Warden", "Keeper")
            $0.animal.subentities = [$0.dog]
            $0.cat.properties = [attribute("name")]
        }.model
    }

    // * A keeper with a dog, and a cat, are in a document that is opened with the next version.
    // => The objects are there under their new names, with their relationships and identifiers; the file is of the new version.
    @Test("becomes one of this version, object by object", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func migrates(type: String) throws {
        NSManagedObjectModel.register("Zoo of DocumentMigrationTests") { Self.zoo().model }
        let folder = try TemporaryFolder()
        let url = folder.file("Zoo.document")
        let context = try Self.open(Self.zoo().model, type, url)
        let new = { NSEntityDescription.insertNewObject(forEntityName: $0, into: context) }
        let (keeper, dog, cat) = (new("Keeper"), new("Dog"), new("Cat"))
        keeper.setValue("7", forKey: "badge")
        dog.setValue("Rex", forKey: "name")
        cat.setValue("Tom", forKey: "name")
        dog.setValue(keeper, forKey: "keeper")
        try context.save()
        let uri = keeper.objectID.uriRepresentation()
        let before = try Data(contentsOf: url)
        cocoaError(134100) { try Self.open(Self.next(), type, url) }
        cocoaError(134100) {
            try Self.open(Self.next(), type, url, migrating.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
        }
        let refused = cocoaError(134140) { try Self.open(Self.zoo { $0.age.type = .string }.model, type, url, migrating) }
        #expect(refused?.localizedDescription.contains(url.path) == true)
        #expect(try Data(contentsOf: url) == before)
        let other = try Self.open(Self.next(), type, url, migrating)
        #expect(try Self.names("Warden", "badge", in: other) == ["7"])
        #expect(try Self.names("Cat", "name", in: other) == ["Tom"])
        let found = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Dog")).first)
        let warden = try #require(found.value(forKey: "keeper") as? NSManagedObject)
        #expect(found.value(forKey: "name") as? String == "Rex" && warden.value(forKey: "badge") as? String == "7")
        let now = warden.objectID.uriRepresentation()
        #expect(now.host == uri.host && now.lastPathComponent == uri.lastPathComponent)
        NSEntityDescription.insertNewObject(forEntityName: "Cat", into: other)
        try other.save()
        #expect(try Self.open(Self.next(), type, url).count(for: NSFetchRequest<NSManagedObject>(entityName: "Cat")) == 2)
    }

    @Test("is migrated by a mapping model where there is one, and keeps its identity", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func mapped(type: String) throws {
        @Sendable func model(_ key: String) -> NSManagedObjectModel {
            let model = NSManagedObjectModel()
            let note = NSEntityDescription("Note", attribute(key))
            note.versionHashModifier = "mapped \(type)"
            model.entities = [note]
            return model
        }
        NSManagedObjectModel.register("Notes of DocumentMigrationTests in \(type)") { model("text") }
        NSMappingModel.register(from: model("text"), to: model("words")) {
            let note = NSEntityMapping("NoteToNote", "Note", "Note")
            note.attributeMappings = [.init("words", "$source.text")]
            let mapping = NSMappingModel()
            mapping.entityMappings = [note]
            return mapping
        }
        let folder = try TemporaryFolder()
        let url = folder.file("Notes.document")
        let context = try Self.open(model("text"), type, url)
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("kept", forKey: "text")
        try context.save()
        let identity = context.persistentStoreCoordinator?.persistentStores.first?.identifier
        let other = try Self.open(model("words"), type, url, migrating)
        #expect(try Self.names("Note", "words", in: other) == ["kept"])
        #expect(other.persistentStoreCoordinator?.persistentStores.first?.identifier == identity)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["Notes.document"])
    }

    // * Ten entities go into a document, with a policy that lets go of all source objects after each.
    // => The document is written a few times, however many mappings there are; later mappings find what earlier ones have made.
    @Test("is written once for all mappings of a step", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func writes(type: String) throws {
        let model = NSManagedObjectModel()
        model.entities = (0..<10).map { NSEntityDescription("Note\($0)", attribute("text")) }
        let folder = try TemporaryFolder()
        let context = try Self.open(model, type, folder.file("Notes.document"))
        for entity in model.entities { NSManagedObject(entity: entity, insertInto: context).setValue("kept", forKey: "text") }
        try context.save()
        let mapping = NSMappingModel()
        mapping.entityMappings = model.entities.map { entity in
            let note = NSEntityMapping(entity.name ?? "", entity.name, entity.name)
            note.entityMigrationPolicyClassName = NSStringFromClass(FirstNotePolicy.self)
            note.attributeMappings = [.init("text", "$source.text")]
            return note
        }
        let saves = Lock(0)
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: nil, queue: nil) {
            let place = ($0.object as? NSManagedObjectContext)?.persistentStoreCoordinator?.persistentStores.first?.url
            if place?.deletingLastPathComponent().path == folder.url.path { saves.withLock { $0 += 1 } }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let manager = NSMigrationManager(sourceModel: model, destinationModel: model)
        let place = folder.file("New.document")
        try manager.migrateStore(
            from: folder.file("Notes.document"),
            sourceType: type,
            with: mapping,
            toDestinationURL: place,
            destinationType: type
        )
        #expect(saves.withLock { $0 } <= 4)
        let new = try Self.open(model, type, place)
        #expect(try model.entities.flatMap { try Self.names($0.name ?? "", "text", in: new) } == Array(repeating: "kept", count: 10))
        #expect(manager.userInfo?["found"] as? Int == 9)
    }

    // * The volume has room for the document, and not for another one beside it; then there is room.
    // => The program is told that there was no migration and why; the document is what it was, alone, and is migrated the next time.
    @Test(
        "is what it was where the volume is full",
        .enabled(if: Mounts.areAllowed, Mounts.whyNot),
        arguments: [NSBinaryStoreType, NSXMLStoreType]
    )
    func fullVolume(type: String) throws {
        NSManagedObjectModel.register("Zoo of DocumentMigrationTests") { Self.zoo().model }
        let folder = try TemporaryFolder()
        try Mounts.small(folder.url, kilobytes: 1000) {
            let (url, filling) = (folder.file("Zoo.document"), folder.file("filling"))
            let context = try Self.open(Self.zoo().model, type, url)
            for number in 0..<1000 {
                NSEntityDescription.insertNewObject(forEntityName: "Cat", into: context).setValue("Tom \(number)", forKey: "name")
            }
            try context.save()
            let before = try Data(contentsOf: url)
            try Data(count: 990_000 - before.count).write(to: filling)
            let error = cocoaError(134110) { try Self.open(Self.next(), type, url, migrating) }
            let reason = error?.userInfo[NSUnderlyingErrorKey] as? CocoaError
            #expect(reason?.code == .fileWriteOutOfSpace, "\(String(describing: error))")
            #expect((reason?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == Int(ENOSPC))
            #expect(try Data(contentsOf: url) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["Zoo.document", "filling"])
            try FileManager.default.removeItem(at: filling)
            #expect(try Self.names("Cat", "name", in: Self.open(Self.next(), type, url, migrating)).count == 1000)
        }
    }

    @Test("is refused with 134130 where the program has not that version any more")
    func missing() throws {
        let folder = try TemporaryFolder()
        let model = { (name: String) in
            let model = NSManagedObjectModel()
            model.entities = [NSEntityDescription("Forgotten", attribute(name))]
            return model
        }
        _ = try Self.open(model("a"), NSXMLStoreType, folder.file("a.xml"))
        let error = cocoaError(134130) { try Self.open(model("b"), NSXMLStoreType, folder.file("a.xml"), migrating) }
        #expect(error?.localizedDescription.contains("Forgotten") == true)
    }
}
