import Foundation
import TestSupport
import Testing

@Suite("coredata store, on stores that Apple's Core Data wrote", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
struct GoldenTests {
    /// A store, and the version of the model that it was written with.
    static let stores = [
        ("samplemodel/SampleModel_V1.sqlite", "samplemodel/SampleModel.momd"),
        ("samplemodel/SampleModel_V2.sqlite", "samplemodel/SampleModel.xcdatamodeld/SampleModel2.xcdatamodel"),
        ("testmodel-m2m/TestModel.sqlite", "testmodel-m2m/Sample.xcdatamodeld/TestModel.xcdatamodel"),
        ("moody/Moody.moody", "moody/Moody.xcdatamodeld/Moody.xcdatamodel"),
        ("moody/Moody 2.moody", "moody/Moody.xcdatamodeld/Moody 2.xcdatamodel"),
        ("moody/Moody 4.moody", "moody/Moody.xcdatamodeld/Moody 4.xcdatamodel"),
        ("bookmarks/Bookmarks_V1.sqlite", "bookmarks/BookmarksModel.xcdatamodeld/BookmarksModel.xcdatamodel"),
        ("bookmarks/Bookmarks_V3.sqlite", "bookmarks/BookmarksModel.xcdatamodeld/BookmarksModel 3.xcdatamodel"),
        ("bookmarks/Bookmarks_V4.sqlite", "bookmarks/BookmarksModel.xcdatamodeld/BookmarksModel 4.xcdatamodel"),
        ("wire/store2-60-0.wiredatabase", "wire/zmessaging.xcdatamodeld"),
    ]

    @Test("they are sound and fit their models", arguments: stores)
    func sound(store: String, model: String) async throws {
        let folder = try TemporaryFolder()
        let run = try await Run("store", "verify", Self.copy(store, to: folder), "--model", Fixtures.url(model).path)
        #expect(run.status == 0 && run.output == "The store is sound.\n", "\(run.output)\(run.errors)")
    }

    @Test("dump, with the model that the store carries, prints what it prints with the model's file", arguments: stores)
    func carried(store: String, model: String) async throws {
        let folder = try TemporaryFolder()
        let copy = try Self.copy(store, to: folder)
        let named = try await Run("store", "dump", copy, "--model", Fixtures.url(model).path)
        let run = try await Run("store", "dump", copy)
        #expect(run.status == 0 && run.output == named.output, "\(run.errors)")
        let verified = try await Run("store", "verify", copy)
        #expect(verified.output == "The store is sound.\n", "\(verified.output)\(verified.errors)")
    }

    @Test("dump prints every object, with the values and targets that it has", arguments: stores)
    func dump(store: String, model: String) async throws {
        let folder = try TemporaryFolder()
        let run = try await Run("store", "dump", Self.copy(store, to: folder), "--model", Fixtures.url(model).path)
        #expect(run.status == 0, "\(run.errors)")
        let lines = try run.lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
        let golden = try #require(try JSONSerialization.jsonObject(with: Fixtures.data("\(store).golden.json")) as? [String: Any])
        let entities = try #require(golden["entities"] as? [String: [String: Any]])
        let counts = Dictionary(grouping: lines) { $0["entity"] as? String ?? "" }.mapValues(\.count)
        #expect(counts == entities.compactMapValues { $0["count"] as? Int }.filter { $0.value > 0 })
        let dumped = Dictionary(lines.map { ($0["id"] as? String ?? "", $0) }) { first, _ in first }
        for expected in entities.values.flatMap({ $0["objects"] as? [[String: Any]] ?? [] }) {
            let id = try #require(expected["objectID"] as? String)
            try Self.expect(dumped[id], toBe: expected, id)
        }
    }

    private static func expect(_ found: [String: Any]?, toBe expected: [String: Any], _ id: String) throws {
        let found = try #require(found)
        #expect(found["version"] as? Int == expected["version"] as? Int)
        for (name, value) in expected["attributes"] as? [String: Any] ?? [:] {
            let mine = try #require((found["attributes"] as? [String: Any])?[name], "\(id) \(name)")
            // What archives hold is shown, and the golden file has their size; others are shown as the data that they are.
            if let rootClass = (value as? [String: Any])?["archivedRootClass"] as? String {
                #expect((mine as? [String: Any])?["base64"] == nil && !(mine is NSNull), "\(id) \(name): \(rootClass)")
                continue
            }
            #expect(text(of: mine) == text(of: value), "\(id) \(name)")
        }
        for (name, value) in expected["relationships"] as? [String: Any] ?? [:] {
            let mine = try #require((found["relationships"] as? [String: Any])?[name], "\(id) \(name)")
            guard let many = value as? [String: Any], let targets = many["targets"] as? [String] else {
                #expect(mine as? String == value as? String, "\(id) \(name)")
                continue
            }
            #expect((mine as? [String])?.count == many["count"] as? Int && (mine as? [String])?.prefix(12) == targets[...], "\(id) \(name)")
        }
    }

    /// A value in one form, from either of the two that files have; data by their length.
    private static func text(of value: Any) -> String {
        // JSON has one form for 26 and another for 26.0, or one for both.
        if let number = value as? NSNumber { return "\(number.doubleValue)" }
        guard let value = value as? [String: Any] else { return "\(value)" }
        if let part = value["date"] ?? value["uuid"] { return "\(part)" }
        if let part = value["transformable"] { return text(of: part) }
        if let base64 = value["base64"] as? String { return "\(Data(base64Encoded: base64)?.count ?? -1) bytes" }
        return "\(value["bytes"] ?? "?") bytes"
    }

    private static func copy(_ store: String, to folder: TemporaryFolder) throws -> String {
        try Fixtures.copyStore(store, to: folder.store)
        return folder.store.path
    }
}
