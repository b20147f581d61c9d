import Foundation
import ModelFormat
import TestSupport
import Testing

@Suite("A bundle of versions")
struct BundleTests {
    private func bundle() throws -> ModelBundle {
        var bundle = ModelBundle()
        let first = try Model(xml: Data(#"<model><entity name="A"><attribute name="x" attributeType="String"/></entity></model>"#.utf8))
        let second = try Model(xml: Data(#"<model userDefinedModelVersionIdentifier="2"><entity name="B"/></model>"#.utf8))
        bundle.versions = ["Name": first, "Name 2": second]
        bundle.currentVersion = "Name 2"
        return bundle
    }

    @Test("of sources is written and read again")
    func sources() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("Name.xcdatamodeld")
        try bundle().writeSource(to: url)
        let read = try ModelBundle(source: url)
        #expect(read == (try bundle()))
        #expect(read.currentModel?.entities.first?.name == "B")
        #expect(throws: (any Error).self) { try bundle().writeSource(to: url) }
    }

    @Test("of compiled models is written and read again, with its hashes")
    func compiled() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("Name.momd")
        var bundle = try bundle()
        bundle.versionHashes = ["Name": ["A": Data(repeating: 7, count: 32)], "Name 2": ["B": Data([1])]]
        bundle.versionChecksums = ["Name": "abc="]
        try bundle.writeCompiled(to: url)
        #expect(try ModelBundle(compiled: url) == bundle)
        #expect(try Model(compiled: url.appendingPathComponent("Name 2.mom")) == bundle.currentModel)
    }

    @Test("that cannot be compiled leaves nothing behind")
    func failing() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("Name.momd")
        var bundle = try bundle()
        bundle.versions["Name"]?.entities[0].attributes[0].derivation = .text("a + b")
        #expect(throws: ModelFormatError.self) { try bundle.writeCompiled(to: url) }
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test("of one version has that as the current one; of two it is not known without a file that says it")
    func withoutCurrentVersion() throws {
        let folder = try TemporaryFolder()
        var bundle = try bundle()
        bundle.currentVersion = nil
        try bundle.writeSource(to: folder.file("Two.xcdatamodeld"))
        #expect(try ModelBundle(source: folder.file("Two.xcdatamodeld")).currentVersion == nil)
        bundle.versions["Name 2"] = nil
        try bundle.writeSource(to: folder.file("One.xcdatamodeld"))
        #expect(try ModelBundle(source: folder.file("One.xcdatamodeld")).currentVersion == "Name")
    }

    @Test("whose file that says the current version is empty is as one without that file", arguments: ["", "\n", "<plist><dict/></plist>"])
    func emptyCurrentVersion(text: String) throws {
        let folder = try TemporaryFolder()
        try bundle().writeSource(to: folder.file("Two.xcdatamodeld"))
        try folder.write(text, to: "Two.xcdatamodeld/.xccurrentversion")
        #expect(try ModelBundle(source: folder.file("Two.xcdatamodeld")).currentVersion == nil)
        try FileManager.default.removeItem(at: folder.file("Two.xcdatamodeld/Name 2.xcdatamodel"))
        #expect(try ModelBundle(source: folder.file("Two.xcdatamodeld")).currentVersion == "Name")
    }

    @Test("whose files contradict each other is refused by name of the file")
    func contradiction() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("Name.xcdatamodeld")
        try bundle().writeSource(to: url)
        try FileManager.default.removeItem(at: url.appendingPathComponent("Name 2.xcdatamodel"))
        let error = #expect(throws: ModelFormatError.self) { try ModelBundle(source: url) }
        #expect(error?.description.hasSuffix(".xccurrentversion: the current version is Name 2, which is not there") == true)
        #expect(throws: ModelFormatError.self) { try ModelBundle(source: folder.file("None.xcdatamodeld")) }
        #expect(throws: ModelFormatError.self) { try ModelBundle(compiled: url) }
    }

    @Test(
        "with a folder where a file belongs is refused with the name of the folder",
        arguments: [".xccurrentversion", "Name.xcdatamodel/contents"]
    )
    func folderForFile(path: String) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("Name.xcdatamodeld")
        try bundle().writeSource(to: url)
        let place = url.appendingPathComponent(path)
        try FileManager.default.removeItem(at: place)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        let error = #expect(throws: ModelFormatError.self) { try ModelBundle(source: url) }
        #expect(error?.description == "\(place.path): it is a folder, where a file is expected")
    }

    @Test("of Apple's tools tells its current version and its hashes", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func fixtures() throws {
        let currents = [
            "bookmarks/BookmarksModel": "BookmarksModel 6", "jsq/ExampleModel": "Version 3", "moody/Moody": "Moody 6",
            "samplemodel/SampleModel": "SampleModel", "testmodel-m2m/Sample": "TestModel 2",
        ]
        for (path, current) in currents {
            let bundle = try ModelBundle(source: Fixtures.url(path + ".xcdatamodeld"))
            #expect(bundle.currentVersion == current, "\(path)")
        }
        let compiled = try ModelBundle(compiled: Fixtures.url("samplemodel/SampleModel.momd"))
        #expect(compiled.currentVersion == "SampleModel" && compiled.versions.count == 3)
        #expect(compiled.versionHashes["SampleModel3"]?["Maker"]?.first == 0xc6)
        let folder = try TemporaryFolder()
        try compiled.writeCompiled(to: folder.file("S.momd"))
        #expect(try ModelBundle(compiled: folder.file("S.momd")) == compiled)
    }
}
