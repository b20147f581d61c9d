import Foundation
import ModelFormat
import TestSupport
import Testing

@Suite("A mapping model", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
struct MappingTests {
    @Test("is read from a compiled file")
    func compiled() throws {
        let mapping = try MappingModel(compiled: Fixtures.url("samplemodel/V2toV3.cdm"))
        let names = ["CarToCar", "LuxuryCarToLuxuryCar", "PersonToPerson", "SportCarToSportCar", "Maker"]
        #expect(mapping.entityMappings.map(\.name) == names)
        #expect(mapping.entityMappings.map(\.kind) == [.custom, .custom, .copy, .custom, .add])
        let car = mapping.entityMappings[0]
        #expect((car.sourceEntity, car.destinationEntity) == ("Car", "Car"))
        #expect(car.sourceVersionHash?.count == 32 && car.destinationVersionHash?.count == 32)
        #expect(car.migrationPolicyClassName == "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
        #expect(
            car.sourceExpression?.format == """
                FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Car", "TRUEPREDICATE"), \
                $manager.sourceContext, NO)
                """
        )
        #expect(car.attributeMappings.map(\.name) == ["markedForDeletionAsOf", "model", "numberPlate"])
        #expect(car.attributeMappings[1].expression == .keyPath(.variable("source"), "model"))
        #expect(car.relationshipMappings[0].expression == nil)
        #expect(
            car.relationshipMappings[1].expression?.format == """
                FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "PersonToPerson", $source.owner)
                """
        )
    }

    @Test("from its source has the same entities and properties as compiled")
    func source() throws {
        let source = try MappingModel(source: Fixtures.url("samplemodel/V2toV3.xcmappingmodel"))
        let compiled = try MappingModel(compiled: Fixtures.url("samplemodel/V2toV3.cdm"))
        #expect(source.entityMappings.map(\.name) == compiled.entityMappings.map(\.name))
        for (source, compiled) in zip(source.entityMappings, compiled.entityMappings) {
            #expect(source.kind == compiled.kind || source.kind == .undefined, "\(source.name)")
            #expect(source.attributeMappings.map(\.name) == compiled.attributeMappings.map(\.name).sorted(), "\(source.name)")
            #expect(source.relationshipMappings.map(\.name) == compiled.relationshipMappings.map(\.name).sorted(), "\(source.name)")
        }
        #expect(source.sourceModelPath?.hasSuffix(".xcdatamodel") == true)
    }

    @Test("from its source has the expressions that were written by hand")
    func expressions() throws {
        let mapping = try MappingModel(source: Fixtures.url("jsq/Version2_to_Version3.xcmappingmodel"))
        #expect(mapping.entityMappings.map(\.name) == ["EmployeeToEmployee", "EmployeeToCompany"])
        let company = mapping.entityMappings[1]
        #expect(
            company.attributeMappings.map { $0.expression?.format } == [
                "$source.companyDateFounded", "$source.companyName", "$source.companyProfits",
            ]
        )
        #expect(company.relationshipMappings.map(\.isExpressionGenerated) == [true])
        #expect(try MappingModel(source: Fixtures.url("jsq/Version1_to_Version2.xcmappingmodel")).entityMappings.count == 1)
    }
}
