import Foundation
import ModelCompiler
import ModelFormat
import ModelTools
import TestSupport
import Testing

@Suite("A mapping model among the sources of a program", .enabled(if: Fixtures.areThere, Comment(rawValue: Fixtures.whyNot)))
struct MappingFileTests {
    @Test("is built with the version hashes of the two models that it names")
    func hashes() throws {
        let folder = try TemporaryFolder()
        let models = Fixtures.url("jsq/ExampleModel.xcdatamodeld")
        let built = folder.file("Two.xcmappingmodel")
        let file = try MappingFile(path: Fixtures.url("jsq/Version2_to_Version3.xcmappingmodel").path)
        for _ in 0..<2 { try file.compile(to: built, models: [models.path]) }
        let hashes = try MappingModel.Hashes(file: built.appendingPathComponent(MappingModel.hashesFile))
        let versions = try ModelBundle(source: models).withVersionHashes().versionHashes
        #expect(hashes.source == versions["Version 2"] && hashes.destination == versions["Version 3"])
        #expect(try MappingModel(source: built).entityMappings.count == 2)
        #expect(throws: Failure.self) { try file.compile(to: built, models: []) }
    }

    // * Names in the mapping are not those of the models, as after an entity got another name; then one entity has no mapping.
    // => The build fails, or warns: a program would not find the mapping, and migrate by what can be inferred.
    @Test("is refused with names that its models do not have, and warned of where it leaves entities out")
    func check() throws {
        let folder = try TemporaryFolder()
        let source = try String(contentsOf: Fixtures.url("jsq/Version2_to_Version3.xcmappingmodel/xcmapping.xml"), encoding: .utf8)
        func told(_ old: String, _ new: String) throws -> [String] {
            try folder.write(source.replacing(old, with: new), to: "Two.xcmappingmodel/xcmapping.xml")
            let file = try MappingFile(path: folder.path("Two.xcmappingmodel"))
            do {
                return try file.compile(to: folder.file("built"), models: [Fixtures.url("jsq/ExampleModel.xcdatamodeld").path]).map(
                    \.description
                )
            } catch let error as SourceMessages {
                return error.messages.map(\.description)
            }
        }
        let file = folder.path("Two.xcmappingmodel/xcmapping.xml")
        let start = "\(file): error: entity mapping EmployeeToCompany: "
        #expect(try told("profits", "profits") == [])
        #expect(try told(">profits<", ">profit<") == [start + "Company has no property profit: is profits meant?"])
        #expect(try told(">Company<", ">Companie<") == [start + "the destination has no entity Companie: is Company meant?"])
        let left = try told("idrefs=\"z110 z105\"", "idrefs=\"z110\"")
        #expect(left.count == 1 && left[0].hasPrefix("\(file): warning: no entity mapping names Company of the destination: "), "\(left)")
    }
}
