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
