import CoreData
import Foundation
import SQLiteDriver
import TestSupport
import Testing

@Suite("coredata store, on what a store holds")
struct StoreValueTests {
    private let folder: TemporaryFolder
    private var store: String { folder.store.path }

    init() throws { folder = try TemporaryFolder() }

    private static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.properties = [("any", NSAttributeType.transformableAttributeType), ("time", .dateAttributeType)].map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private func insert(_ value: Any?, _ time: Date? = nil, into context: NSManagedObjectContext) {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        object.setValue(value, forKey: "any")
        object.setValue(time, forKey: "time")
    }

    /// The store, open, with an object for each value.
    private func filled(_ values: [Any]) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let open = try coordinator.addPersistentStore(type: .sqlite, at: folder.store)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for value in values { insert(value, into: context) }
            try context.save()
        }
        return (coordinator, open)
    }

    private func attributes() async throws -> [[String: Any]] {
        let run = try await Run("store", "dump", store)
        return try run.lines.compactMap {
            (try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])?["attributes"] as? [String: Any]
        }
    }

    // * An object has a megabyte of data, in a list too, and a text of as much.
    // => A page of objects is small: it has the sizes of the data, and the beginning of the text.
    @Test("is shown in a browser without the data themselves")
    func browsed() async throws {
        let data = Data(repeating: 7, count: 1_000_000)
        let (coordinator, open) = try filled([data, [data], String(repeating: "é", count: 500_000)])
        try coordinator.remove(open)
        let answer = try await BrowsedStore(store).get("api/rows", ["entity": "Thing"])
        let values = answer.list("objects").map { ($0["attributes"] as? [String: Any])?["any"] }
        #expect(answer.text.utf8.count < 30_000 && values.count == 3, "\(answer.text.utf8.count)")
        #expect(values[0] as? [String: Int] == ["bytes": 1_000_000])
        #expect(values[1] as? [[String: Int]] == [["bytes": 1_000_000]])
        #expect((values[2] as? String)?.hasPrefix("ééé") == true && (values[2] as? String)?.hasSuffix("é…") == true)
    }

    // * The rows of the last save are in the log alone.
    @Test("counts the write-ahead log in the size, and the objects that are in it")
    func log() async throws {
        let (coordinator, open) = try filled((0..<100).map { "thing \($0)" })
        let json = try await Run("store", "info", store, "--json")
        let facts = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let sizes = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: store + $0)).count }
        #expect(sizes[1] > 0 && facts["size"] as? Int == sizes[0] + sizes[1] && facts["logSize"] as? Int == sizes[1], "\(json.output)")
        #expect(facts["objects"] as? [String: Int] == ["Thing": 100] && facts["carriesModel"] as? Bool == true)
        let text = try await Run("store", "info", store)
        #expect(text.output.contains("\(sizes[0] + sizes[1]) bytes, of which \(sizes[1]) in the write-ahead log"), "\(text.output)")
        try coordinator.remove(open)
    }

    @Test("shows transformables as what they hold")
    func transformables() async throws {
        try fillStore(at: folder.store, of: Self.model()) { context in
            insert(["tags": ["a", 1, true], "since": Date(timeIntervalSinceReferenceDate: 0.25)] as NSDictionary, into: context)
        }
        try setRaw("(2, 1, 1, x'00ff')", "(3, 1, 1, NULL)")
        let values = try await attributes().map { $0["any"] }
        let first = try #require(values.first as? [String: Any])
        #expect(first["since"] as? String == "2001-01-01T00:00:00.250000Z")
        #expect(try await Run("store", "dump", store).output.contains("\"tags\":[\"a\",1,true]"), "\(first)")
        #expect((values[1] as? [String: String])?["base64"] == "AP8=" && values[2] is NSNull)
    }

    @Test(
        "shows dates to the microsecond, before 2001 too",
        arguments: [
            (0.123456, "2001-01-01T00:00:00.123456Z"), (-0.000001, "2000-12-31T23:59:59.999999Z"),
            (814_000_000.654321, "2026-10-18T07:06:40.654321Z"),
        ]
    )
    func dates(seconds: Double, text: String) async throws {
        try fillStore(at: folder.store, of: Self.model()) { insert(nil, Date(timeIntervalSinceReferenceDate: seconds), into: $0) }
        #expect(try await attributes().first?["time"] as? String == text)
    }

    @Test("shows dates in the metadata to the microsecond")
    func metadataDates() async throws {
        try fillStore(at: folder.store, of: Self.model()) { context in
            let store = context.persistentStoreCoordinator?.persistentStores.first
            store?.metadata["made"] = Date(timeIntervalSinceReferenceDate: 1.000002)
            insert(nil, into: context)
        }
        #expect(try await Run("store", "info", store).output.contains("2001-01-01T00:00:01.000002Z"))
    }

    @Test("refuses to dump with a model that is not the store's, and names the entity that is another")
    func wrongModel() async throws {
        try fillStore(at: folder.store, of: Self.model()) { insert(nil, into: $0) }
        try Library.write(to: folder.file("Library.xcdatamodeld"))
        for arguments in [["dump"], ["schema"], ["sql", "SELECT * FROM {Book}"]] {
            let rest = [store] + arguments.dropFirst() + ["--model", folder.path("Library.xcdatamodeld")]
            let run = try await Run(["store", arguments[0]] + rest)
            #expect(run.status == 2 && run.output.isEmpty, "\(run.output)")
            #expect(run.errors.contains(store) && run.errors.contains("Entity Book is in the model and not in the store."), "\(run.errors)")
        }
    }

    @Test("says that a store carries no model, and how to name one")
    func noModel() async throws {
        try fillStore(at: folder.store, of: Self.model()) { insert(nil, into: $0) }
        let connection = try Connection(path: store, mode: .readWrite)
        try connection.execute("DELETE FROM Z_MODELCACHE")
        connection.close()
        let run = try await Run("store", "dump", store)
        #expect(run.status == 2 && run.errors.contains(store) && run.errors.contains("--model"), "\(run.errors)")
        #expect(try await Run("store", "verify", store).output == "The store is sound, as far as can be seen without a model.\n")
    }

    private func setRaw(_ rows: String...) throws {
        let connection = try Connection(path: store, mode: .readWrite)
        defer { connection.close() }
        for row in rows { try connection.execute("INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZANY) VALUES \(row)") }
    }
}
