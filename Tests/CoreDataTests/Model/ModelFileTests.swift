import Foundation
import ModelFormat
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("Model files of Apple's tools", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
struct ModelFileFixtureTests {
    @Test("all load, and can be used")
    func loading() throws {
        let paths = [".xcdatamodel", ".xcdatamodeld", ".mom", ".momd"].flatMap(Fixtures.paths)
        #expect(paths.count >= 30)
        for path in paths {
            let model = try NSManagedObjectModel(reading: Fixtures.url(path))
            model.freeze()
            #expect(!model.entities.isEmpty, "\(path)")
        }
    }

    @Test("have the hashes of the stores that were written with them")
    func stores() throws {
        let stores = [
            ("bookmarks/Bookmarks_V1.sqlite", "bookmarks/BookmarksModel"), ("bookmarks/Bookmarks_V3.sqlite", "bookmarks/BookmarksModel"),
            ("bookmarks/Bookmarks_V4.sqlite", "bookmarks/BookmarksModel"), ("moody/Moody.moody", "moody/Moody"),
            ("moody/Moody 2.moody", "moody/Moody"), ("moody/Moody 4.moody", "moody/Moody"),
            ("samplemodel/SampleModel_V1.sqlite", "samplemodel/SampleModel"),
            ("samplemodel/SampleModel_V2.sqlite", "samplemodel/SampleModel"), ("testmodel-m2m/TestModel.sqlite", "testmodel-m2m/Sample"),
            ("wire/store2-60-0.wiredatabase", "wire/zmessaging"),
        ]
        for (store, bundle) in stores {
            try Fixtures.withStore(store) { connection in
                let hashes = try Fixtures.versionHashes(in: connection)
                let versions = try ModelBundle(source: Fixtures.url(bundle + ".xcdatamodeld")).versions
                let matching = try versions.filter { try NSManagedObjectModel($0.value).entityVersionHashesByName == hashes }
                #expect(!matching.isEmpty, "\(store)")
            }
        }
    }

    @Test("have the hashes that the bundle lists, from the source and from each compiled file alone")
    func versionList() throws {
        let compiled = try ModelBundle(compiled: Fixtures.url("samplemodel/SampleModel.momd"))
        let sources = try ModelBundle(source: Fixtures.url("samplemodel/SampleModel.xcdatamodeld"))
        #expect(compiled.versionHashes.count == 3)
        for (version, hashes) in compiled.versionHashes {
            let file = Fixtures.url("samplemodel/SampleModel.momd/\(version).mom")
            #expect(try NSManagedObjectModel(reading: file).entityVersionHashesByName == hashes, "\(version)")
            #expect(try NSManagedObjectModel(#require(sources.versions[version])).entityVersionHashesByName == hashes, "\(version)")
        }
        let contacts = try ["mom", "xcdatamodel"].map {
            try NSManagedObjectModel(reading: Fixtures.url("contacts-mom/Contacts.\($0)")).versionChecksum
        }
        #expect(contacts[0] == contacts[1])
    }

    @Test("have every golden hash of an entity that they define")
    func vectors() throws {
        let json = try JSONSerialization.jsonObject(with: Fixtures.data("versionhash-vectors.json")) as? [String: Any]
        let vectors = try #require(json?["vectors"] as? [[String: Any]])
        var computed: [String: Set<String>] = [:]
        for path in Fixtures.paths(endingIn: ".xcdatamodel") {
            for (name, hash) in try NSManagedObjectModel(reading: Fixtures.url(path)).entityVersionHashesByName {
                computed[name, default: []].insert(hash.map { String(format: "%02x", $0) }.joined())
            }
        }
        // Stores whose model is here, and in no other version.
        let sources: Set = [
            "TestModel.sqlite", "SampleModel_V1.sqlite", "SampleModel_V2.sqlite", "Moody.moody", "Moody 2.moody", "Moody 4.moody",
            "Bookmarks_V1.sqlite", "Bookmarks_V3.sqlite", "Bookmarks_V4.sqlite", "store2-60-0.wiredatabase",
        ]
        var count = 0
        for vector in vectors where sources.contains(vector["source"] as? String ?? "") {
            let (name, hash) = (try #require(vector["entity"] as? String), try #require(vector["versionHash"] as? String))
            #expect(computed[name]?.contains(hash) == true, "\(name) of \(vector["source"] ?? "")")
            count += 1
        }
        #expect(count >= 30)
    }

    @Test(
        "that stores keep as a copy have the stores' hashes",
        .enabled(if: ArchivedModelReader.canRead, ArchivedModelReader.whyNot),
        arguments: [
            "photos/Photos-13.5-empty.sqlite", "photos-small/photosgraph.graphdb", "photos-small/CLSPublicEventCache.sqlite",
            "photos-small/MediaAnalysis.sqlite", "samplemodel2/SampleModel2_V1.sqlite", "testmodel-m2m/TestModel.sqlite",
            "samplemodel/SampleModel_V1.sqlite", "samplemodel/SampleModel_V2.sqlite", "bookmarks/Bookmarks_V1.sqlite",
            "bookmarks/Bookmarks_V3.sqlite", "bookmarks/Bookmarks_V4.sqlite", "moody/Moody.moody", "moody/Moody 2.moody",
            "moody/Moody 4.moody", "wire/store2-60-0.wiredatabase",
        ]
    )
    func modelCaches(store: String) throws {
        try Fixtures.withStore(store) { connection in
            guard let row = try connection.rows("SELECT Z_CONTENT FROM Z_MODELCACHE").first, case .blob(let content) = row[0] else {
                Issue.record("\(store) has no copy of its model")
                return
            }
            let model = try Model(archive: ArchivedModelReader.inflated(content))
            let made = try NSManagedObjectModel(model)
            #expect(made.entityVersionHashesByName == (try Fixtures.versionHashes(in: connection)))
            made.freeze()
            #expect(try Model(archive: model.archived()) == model)
            #expect(try NSManagedObjectModel(Model(archive: model.archived())).versionChecksum == made.versionChecksum)
        }
    }

    @Test("are compiled with their predicates")
    func compiling() throws {
        let source = try Model(source: Fixtures.url("contacts-mom/Contacts.xcdatamodel"))
        let compiled = try Model(archive: source.archived(parser: .predicates))
        #expect(compiled.fetchRequests.map { $0.predicate?.format } == ["lastName LIKE \"Duck*\""])
        #expect(compiled.fetchRequests.first?.fetchLimit == 220)
        for path in Fixtures.paths(endingIn: ".xcdatamodel") {
            let source = try Model(source: Fixtures.url(path))
            let compiled = try NSManagedObjectModel(Model(archive: source.archived(parser: .predicates)))
            #expect(try compiled.entityVersionHashesByName == NSManagedObjectModel(source).entityVersionHashesByName, "\(path)")
        }
    }

    // * The sources of three versions are compiled into a bundle.
    // => It lists the hashes that Apple's compiler listed, and its current version loads.
    @Test("are compiled into a bundle with the hashes of Apple's")
    func compilingBundle() throws {
        let theirs = try ModelBundle(compiled: Fixtures.url("samplemodel/SampleModel.momd"))
        let sources = try ModelBundle(source: Fixtures.url("samplemodel/SampleModel.xcdatamodeld"))
        let folder = try TemporaryFolder()
        let url = folder.file("SampleModel.momd")
        try sources.withVersionHashes().writeCompiled(to: url, parser: .predicates)
        let ours = try ModelBundle(compiled: url)
        #expect(ours.versionHashes == theirs.versionHashes && ours.currentVersion == theirs.currentVersion)
        let model = try #require(NSManagedObjectModel(contentsOf: url))
        #expect(model.versionChecksum == ours.versionChecksums["SampleModel"])
    }
}
