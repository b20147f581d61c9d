import CoreData
import Foundation
import ModelFormat
import TestSupport
import Testing

@Suite("Each model among the fixtures, alone in a folder", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
struct ModelRoundTripTests {
    static let sourcePaths = Fixtures.paths(endingIn: ".xcdatamodel")

    @Test("is among those that are tested here")
    func allAreThere() { #expect(Self.sourcePaths.count >= 23 && Fixtures.compiled.count >= 4) }

    // * A source is copied to a folder of its own and loaded.
    // * It is compiled into a bundle, which is loaded as an app would.
    // => Hashes, checksum and descriptions are the same.
    @Test("says the same as a source and compiled", arguments: sourcePaths)
    func source(path: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("Model.xcdatamodel")
        try FileManager.default.copyItem(at: Fixtures.url(path), to: file)
        let expected = try NSManagedObjectModel(reading: file)
        var bundle = ModelBundle()
        (bundle.versions, bundle.currentVersion) = (["Model": try Model(source: file)], "Model")
        let url = folder.file("Model.momd")
        try bundle.withVersionHashes().writeCompiled(to: url, parser: .predicates)
        let model = try #require(NSManagedObjectModel(contentsOf: url))
        #expect(model.entityVersionHashesByName == expected.entityVersionHashesByName)
        #expect(model.versionChecksum == expected.versionChecksum)
        #expect(lines(model) == lines(expected))
    }

    @Test("loads without the list of hashes beside it, and is the same written and read again", arguments: Fixtures.compiled)
    func compiled(path: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("Model.mom")
        try FileManager.default.copyItem(at: Fixtures.url(path), to: file)
        let expected = try #require(NSManagedObjectModel(contentsOf: file))
        let again = folder.file("Again.mom")
        try Model(compiled: file).archived(parser: .predicates).write(to: again)
        #expect(try Model(compiled: again) == Model(compiled: file))
        let model = try #require(NSManagedObjectModel(contentsOf: again))
        #expect(model.entityVersionHashesByName == expected.entityVersionHashesByName && lines(model) == lines(expected))
    }
}
