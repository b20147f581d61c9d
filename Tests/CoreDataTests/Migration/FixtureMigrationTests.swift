import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

/// Two versions of a model among the fixtures.
struct VersionPair: CustomTestStringConvertible, Sendable {
    let old, new: URL
    var testDescription: String { "\(old.deletingPathExtension().lastPathComponent) → \(new.deletingPathExtension().lastPathComponent)" }

    static let all: [VersionPair] = [
        "bookmarks/BookmarksModel", "jsq/ExampleModel", "moody/Moody", "samplemodel/SampleModel", "testmodel-m2m/Sample",
    ]
    .flatMap { name in
        let versions = versions(Fixtures.url("\(name).xcdatamodeld"))
        return versions.flatMap { old in versions.filter { $0 != old }.map { VersionPair(old: old, new: $0) } }
    }

    static func versions(_ bundle: URL) -> [URL] {
        let all = (try? FileManager.default.contentsOfDirectory(at: bundle, includingPropertiesForKeys: nil)) ?? []
        return all.filter { $0.pathExtension == "xcdatamodel" }.sorted { $0.path < $1.path }
    }
}

@Suite("A store of one version of a model", .enabled(if: Fixtures.areThere, Comment(rawValue: Fixtures.whyNot)))
struct FixtureMigrationTests {
    // * A store is made in the one version, filled, and opened with the other.
    // => All values are where the rules have them, and the file is as one that was made new; or it is refused, with the words of the difference, and unchanged.
    @Test("becomes one of any other version, value by value, or is refused and stays what it was", arguments: VersionPair.all)
    func pair(_ pair: VersionPair) throws {
        let home = try StoreHome(.file)
        let (old, new) = (try NSManagedObjectModel(reading: pair.old), try NSManagedObjectModel(reading: pair.new))
        try old.makeFilledStore(at: home.url())
        let before = try StoreContents(home.url(), old)
        let transition = ModelTransition(from: old, to: new)
        let obstacles = transition.pairing.difference.obstacles
        guard obstacles.isEmpty else {
            let error = cocoaError(134140) { try Stack(home.url(), new, options: migrating) }
            for obstacle in obstacles { #expect(error?.localizedDescription.contains(obstacle.sentence) == true) }
            #expect(try StoreContents(home.url(), old).objects == before.objects)
            return
        }
        try Stack(home.url(), new, options: migrating).close()
        try expectMigrated(home.url(), before, transition)
    }

    static let stores: [(store: String, bundle: String)] = [
        ("samplemodel/SampleModel_V1.sqlite", "samplemodel/SampleModel"), ("samplemodel/SampleModel_V2.sqlite", "samplemodel/SampleModel"),
        ("testmodel-m2m/TestModel.sqlite", "testmodel-m2m/Sample"), ("bookmarks/Bookmarks_V1.sqlite", "bookmarks/BookmarksModel"),
        ("bookmarks/Bookmarks_V3.sqlite", "bookmarks/BookmarksModel"), ("bookmarks/Bookmarks_V4.sqlite", "bookmarks/BookmarksModel"),
        ("moody/Moody.moody", "moody/Moody"), ("moody/Moody 2.moody", "moody/Moody"), ("moody/Moody 4.moody", "moody/Moody"),
    ]

    // * A store that Apple's Core Data wrote is opened with every other version.
    // => It has the values that it had, and is sound.
    @Test("of Apple's becomes one of every other version, value by value", arguments: stores)
    func realStore(_ fixture: (store: String, bundle: String)) throws {
        var migrated = 0
        for version in VersionPair.versions(Fixtures.url(fixture.bundle + ".xcdatamodeld")) {
            let home = try StoreHome(.file)
            try Fixtures.copyStore(fixture.store, to: home.url())
            let new = try NSManagedObjectModel(reading: version)
            let old = try NSManagedObjectModel(contentsOfStoreAt: home.url())
            let transition = ModelTransition(from: old, to: new)
            guard transition.pairing.difference.isLightweight, old.entityVersionHashesByName != new.entityVersionHashesByName else {
                continue
            }
            let before = try StoreContents(home.url(), old)
            try Stack(home.url(), new, options: migrating).close()
            let after = try StoreContents(home.url(), new).objects
            let expected = before.expected(after: transition)
            for (entity, objects) in expected {
                for (key, values) in objects {
                    for (name, value) in values { #expect(after[entity]?[key]?[name] == value, "\(entity) \(key) \(name)") }
                }
            }
            let inspector = try StoreInspector(url: home.url())
            #expect(try inspector.problems() + inspector.problems(with: new) == [])
            migrated += 1
        }
        #expect(migrated > 0)
    }
}
