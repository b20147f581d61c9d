import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("The model that a store carries")
struct StoredModelTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    // * A store is made with a model that nothing else knows of; then only its file is there.
    @Test("opens the store, in which everything is where it was")
    func own() throws {
        let (base, sub) = (NSEntityDescription("Base", attribute("name")), NSEntityDescription("Sub", attribute("size", .double)))
        base.subentities = [sub]
        base.relate("subs", to: sub, many: true, ordered: true, inverse: sub.relate("base", to: base))
        let first = try Stack(folder.store, NSManagedObjectModel(base, sub))
        let writer = first.newContext()
        let object = NSEntityDescription.insertNewObject(forEntityName: "Sub", into: writer)
        object.setValue("é", forKey: "name")
        object.setValue(2.5, forKey: "size")
        object.setValue(object, forKey: "base")
        try writer.save()
        try first.close()

        let model = try NSManagedObjectModel(contentsOfStoreAt: folder.store)
        #expect(try folder.contents() == ["Store.sqlite"])
        let second = try Stack(folder.store, model)
        let context = second.newContext()
        let found = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Base")).first)
        #expect(found.entity.name == "Sub" && found.value(forKey: "name") as? String == "é")
        #expect(found.value(forKey: "size") as? Double == 2.5)
        #expect((found.value(forKey: "subs") as? NSOrderedSet)?.array.first as? NSManagedObject === found)
        try second.close()
    }

    @Test(
        "has the version hashes of the store that Apple's Core Data wrote, and opens it",
        .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"),
        arguments: [
            "samplemodel/SampleModel_V1.sqlite", "samplemodel/SampleModel_V2.sqlite", "samplemodel2/SampleModel2_V1.sqlite",
            "testmodel-m2m/TestModel.sqlite", "moody/Moody 4.moody", "bookmarks/Bookmarks_V4.sqlite", "wire/store2-60-0.wiredatabase",
            "photos/Photos-13.5-empty.sqlite", "photos-small/photosgraph.graphdb", "photos-small/CLSPublicEventCache.sqlite",
            "photos-small/MediaAnalysis.sqlite",
        ]
    )
    func apples(store: String) throws {
        try Fixtures.copyStore(store, to: folder.store)
        let model = try NSManagedObjectModel(contentsOfStoreAt: folder.store)
        let inspector = try StoreInspector(url: folder.store)
        #expect(model.entityVersionHashesByName == inspector.versionHashes)
        // It may keep others out as long as it looks.
        inspector.connection.close()
        model.freeze()
        let stack = Stack(model)
        try stack.add(folder.store, options: [NSReadOnlyPersistentStoreOption: true])
        for entity in model.entities {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.fetchLimit = 5
            _ = try stack.newContext().fetch(request)
        }
        try stack.close()
    }

    @Test("is missed in a sentence with the path, and one that is damaged as well")
    func missing() throws {
        let stack = try Stack(folder.store)
        try stack.close()
        try edit("UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102030405'")
        let damaged = cocoaError(259) { try NSManagedObjectModel(contentsOfStoreAt: folder.store) }
        #expect(damaged?.localizedDescription.contains(folder.store.path) == true)
        for statement in ["DELETE FROM Z_MODELCACHE", "DROP TABLE Z_MODELCACHE"] {
            try edit(statement)
            let missing = cocoaError(134130) { try NSManagedObjectModel(contentsOfStoreAt: folder.store) }
            #expect(missing?.localizedDescription == "The store at \(folder.store.path) carries no model with it: it takes a model file.")
        }
        cocoaError(260) { try NSManagedObjectModel(contentsOfStoreAt: folder.file("None.sqlite")) }
    }

    private func edit(_ statement: String) throws {
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        defer { connection.close() }
        try connection.execute(statement)
    }
}
