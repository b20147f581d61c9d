import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("What is the matter with a store is said of that store")
struct NamedCauseTests {
    private static let documents = [NSBinaryStoreType, NSXMLStoreType]
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("Store")
    }

    @discardableResult
    private func open(_ type: String, options: [AnyHashable: Any]? = nil) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
        return coordinator
    }

    private func make(_ type: String) throws {
        let coordinator = try open(type)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func error(_ body: () throws -> Void) throws -> (code: Int, text: String, path: String?) {
        let error = try #require(#expect(throws: CocoaError.self, performing: body))
        return (error.errorCode, error.localizedDescription, error.userInfo[NSFilePathErrorKey] as? String)
    }

    // * A document is added with the option for a history, and asked for one.
    // => Who has asked learns that its type has none, and is not told to do what he has done.
    @Test("a document without a history does not ask for the option that it was opened with", arguments: documents)
    func history(_ type: String) throws {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = try open(type, options: [NSPersistentHistoryTrackingKey: true])
        let found = try error { _ = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)) }
        #expect(found.code == 134091)
        #expect(found.text.contains("stores of type \(type) keep none") && !found.text.contains(NSPersistentHistoryTrackingKey))
    }

    @Test("a document of the other type is named by its place", arguments: zip(documents, documents.reversed()))
    func otherType(_ type: String, _ other: String) throws {
        try make(type)
        let found = try error { try open(other) }
        #expect(found.code == 134010 && found.path == url.path && found.text.contains(url.path))
    }

    // * Something has damaged what a document says of itself.
    @Test("a document whose metadata are damaged is named by its place", arguments: documents, [NSStoreTypeKey, NSStoreUUIDKey])
    func damage(_ type: String, _ key: String) throws {
        try make(type)
        let whole = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
        var document = try #require(whole as? [String: Any])
        var metadata = try #require(document["metadata"] as? [String: Any])
        metadata[key] = nil
        document["metadata"] = metadata
        try PropertyListSerialization.data(fromPropertyList: document, format: .binary, options: 0).write(to: url)
        let found = try error { try open(type) }
        #expect(found.code == CocoaError.fileReadCorruptFile.rawValue && found.path == url.path)
        #expect(found.text.contains(url.path) && found.text.contains(key))
    }

    // * It would be in the URIs of all objects, and no document with one like that could be opened any more.
    @Test(
        "an identifier that no store can have is not set, and the store stays as it is",
        arguments: documents + [NSSQLiteStoreType],
        ["a/b", "", "é"]
    )
    func identifier(_ type: String, _ identifier: String) throws {
        try make(type)
        let before = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        let values: [String: Any] = [NSStoreUUIDKey: identifier, "note": 1]
        let found = try error { try NSPersistentStoreCoordinator.setMetadata(values, forPersistentStoreOfType: type, at: url) }
        #expect(found.code == 134070 && found.path == url.path && found.text.contains(NSStoreUUIDKey))
        let after = try open(type).persistentStores[0].metadata ?? [:]
        #expect(after["note"] == nil && after[NSStoreUUIDKey] as? String == before[NSStoreUUIDKey] as? String)
    }
}
