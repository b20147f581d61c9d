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
}
