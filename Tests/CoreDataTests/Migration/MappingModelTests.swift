import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A mapping model")
struct MappingModelTests {
    @Test("that is inferred names what becomes of each entity and property")
    func inferred() throws {
        let (old, new) = (Zoo(), Zoo())
        new.add(NSEntityDescription("Cage", attribute("size")))
        (new.keeper.name, new.keeper.renamingIdentifier) = ("Warden", "Keeper")
        (new.badge.name, new.badge.renamingIdentifier) = ("sign", "badge")
        new.keeper.properties.append(attribute("note"))
        new.remove(new.cat)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old.model, destinationModel: new.model)
        let types = mapping.entityMappingsByName.mapValues(\.mappingType)
        #expect(types["IEM_Add_Cage"] == .addEntityMappingType)
        #expect(types["IEM_Remove_Cat"] == .removeEntityMappingType)
        #expect(types["IEM_Copy_Toy"] == .copyEntityMappingType)
        let warden = try #require(mapping.entityMappingsByName["IEM_Transform_Warden"])
        #expect(warden.sourceEntityName == "Keeper" && warden.destinationEntityName == "Warden")
        #expect(warden.sourceEntityVersionHash == old.keeper.versionHash)
        #expect(warden.attributeMappings?.map(\.name) == ["note", "sign"])
        #expect(warden.attributeMappings?.map { $0.valueExpression?.description } == [nil, "$source.badge"])
        #expect(warden.relationshipMappings?.map(\.name) == ["animals", "favorite"])
    }

    // * An optional attribute becomes mandatory, with a default; an object has no value. Another entity has a policy.
    // => The object has the default, whether the mapping is carried out as a whole or object by object.
    @Test("that is inferred gives what is mandatory now its default", arguments: [true, false], [true, false])
    func madeMandatory(bySQL: Bool, hasPolicy: Bool) throws {
        CountingPolicy.register()
        func model(_ isNew: Bool) -> NSManagedObjectModel {
            let rank = attribute("rank", .integer32)
            if isNew { (rank.isOptional, rank.defaultValue) = (false, 7) }
            return NSManagedObjectModel(NSEntityDescription("Song", attribute("title"), rank), NSEntityDescription("Tag", attribute("n")))
        }
        let folder = try TemporaryFolder()
        let stack = try Stack(folder.file("Old.sqlite"), model(false))
        let context = stack.newContext()
        for rank in [nil, 3] { NSEntityDescription.insertNewObject(forEntityName: "Song", into: context).setValue(rank, forKey: "rank") }
        try context.save()
        try stack.close()
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model(false), destinationModel: model(true))
        let policy = hasPolicy ? NSStringFromClass(CountingPolicy.self) : nil
        mapping.entityMappings.first { $0.sourceEntityName == "Tag" }?.entityMigrationPolicyClassName = policy
        let manager = NSMigrationManager(sourceModel: model(false), destinationModel: model(true))
        manager.usesStoreSpecificMigrationManager = bySQL
        let (old, new) = (folder.file("Old.sqlite"), folder.file("New.sqlite"))
        try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
        let migrated = try Stack(new, model(true))
        let songs = try migrated.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Song"))
        #expect(songs.compactMap { $0.value(forKey: "rank") as? Int }.sorted() == [3, 7])
        try migrated.close()
    }

    @Test(
        "is read from a compiled file, and found by the version hashes of two models",
        .enabled(if: Fixtures.areThere, Comment(rawValue: Fixtures.whyNot))
    )
    func compiled() throws {
        let mapping = try #require(NSMappingModel(contentsOf: Fixtures.url("samplemodel/V2toV3.cdm")))
        #expect(mapping.entityMappings.count == mapping.entityMappingsByName.count)
        let versions = try NSManagedObjectModel.versions(at: Fixtures.url("samplemodel/SampleModel.momd"))
        let bundle = try #require(Bundle(path: Fixtures.url("samplemodel").path))
        let found = versions.flatMap { old in
            versions.compactMap { NSMappingModel(from: [bundle], forSourceModel: old, destinationModel: $0) }
        }
        #expect(found.count == 1)
        #expect(NSMappingModel(contentsOf: URL(fileURLWithPath: "/nowhere.cdm")) == nil)
        #expect(NSMappingModel(contentsOf: Fixtures.url("samplemodel/V2toV3.xcmappingmodel")) != nil)
    }
}
