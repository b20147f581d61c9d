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

    // * A store that Apple's Core Data wrote, whose values were read from it by others, is opened with every other version.
    // => Every value of an attribute that is still there is what they read. One of the stores is empty.
    @Test("of Apple's has its golden values in every other version", arguments: stores.filter { !$0.store.hasPrefix("testmodel") })
    func golden(_ fixture: (store: String, bundle: String)) throws {
        let golden = try FixtureStoreTests.golden(fixture.store)
        var compared = 0
        for version in VersionPair.versions(Fixtures.url(fixture.bundle + ".xcdatamodeld")) {
            let home = try StoreHome(.file)
            try Fixtures.copyStore(fixture.store, to: home.url())
            let new = try NSManagedObjectModel(reading: version)
            let transition = ModelTransition(from: try NSManagedObjectModel(contentsOfStoreAt: home.url()), to: new)
            guard transition.pairing.difference.isLightweight else { continue }
            let stack = try Stack(home.url(), new, options: migrating)
            let context = stack.newContext()
            for (name, entity) in golden {
                guard let old = transition.source.entitiesByName[name], let now = transition.successor(of: old) else { continue }
                for expected in entity["objects"] as? [[String: Any]] ?? [] {
                    compared += try compare(expected, of: now, transition, stack, context)
                }
            }
            try stack.close()
        }
        #expect(compared > 0)
    }

    /// - Returns: how many values were compared.
    private func compare(
        _ expected: [String: Any],
        of entity: NSEntityDescription,
        _ transition: ModelTransition,
        _ stack: Stack,
        _ context: NSManagedObjectContext
    ) throws -> Int {
        let uri = try #require((expected["objectID"] as? String).flatMap(URL.init))
        let place = uri.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(entity.name ?? "")
        let now = place.appendingPathComponent(uri.lastPathComponent)
        let object = try context.existingObject(with: #require(stack.coordinator.managedObjectID(forURIRepresentation: now)))
        let values = expected["attributes"] as? [String: Any] ?? [:]
        return entity.attributesByName.values.filter { attribute in
            guard let value = transition.origin(of: attribute, in: entity).flatMap({ values[$0.name] }), !attribute.isTransient,
                !(value is NSNull) || attribute.isOptional
            else { return false }
            let found = FixtureStoreTests.golden(attribute.name, of: object)
            #expect(FixtureStoreTests.isEqual(found, value), "\(now) \(attribute.name): \(found ?? "nil"), not \(value)")
            return true
        }.count
    }
}
