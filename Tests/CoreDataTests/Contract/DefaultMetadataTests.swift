import Foundation
import TestSupport
import Testing

@testable import CoreData

/// An atomic store as Apple's documentation describes one: no `loadMetadata()`. Tags in a property list, with the metadata beside them.
private class TagFile: NSAtomicStore {
    class var storeType: String { "TagFile" }
    override var type: String { Self.storeType }

    fileprivate static func contents(of url: URL) throws -> [String: Any] {
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
        return list as? [String: Any] ?? [:]
    }

    override func load() throws {
        guard let url, FileManager.default.fileExists(atPath: url.path) else { return }
        let contents = try Self.contents(of: url)
        metadata = contents["metadata"] as? [String: Any]
        let tag = try #require(persistentStoreCoordinator?.managedObjectModel.entitiesByName["Tag"])
        for (id, values) in contents["tags"] as? [String: [String: Any]] ?? [:] {
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: tag, withReferenceObject: id))
            node.setValuesForKeys(values)
            addCacheNodes([node])
        }
    }

    override func save() throws {
        var tags: [String: [String: Any]] = [:]
        for node in cacheNodes() { tags["\(referenceObject(for: node.objectID))"] = ["label": node.value(forKey: "label") ?? ""] }
        let contents: [String: Any] = ["metadata": metadata ?? [:], "tags": tags]
        guard let url else { return }
        try PropertyListSerialization.data(fromPropertyList: contents, format: .xml, options: 0).write(to: url)
    }

    override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        node.setValuesForKeys(managedObject.dictionaryWithValues(forKeys: Array(managedObject.entity.attributesByName.keys)))
    }
}

/// The same, which says its metadata without being opened.
private final class KnownTagFile: TagFile {
    override class var storeType: String { "KnownTagFile" }
    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try contents(of: url)["metadata"] as? [String: Any] ?? [:]
    }
}

/// The same, which says what identifies it.
private final class NamedTagFile: TagFile {
    override class var storeType: String { "NamedTagFile" }
    override var identifier: String! {
        get { "Tags" }
        set {}
    }
}

@Suite("An atomic store that leaves its metadata to the framework")
struct DefaultMetadataTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for kind in Self.kinds { NSPersistentStoreCoordinator.registerStoreClass(kind, forStoreType: kind.storeType) }
    }

    private static let kinds = [TagFile.self, KnownTagFile.self, NamedTagFile.self]
    static let types = kinds.map(\.storeType)

    private func add(_ type: String, _ file: String = "Tags", model: NSManagedObjectModel = LibraryModel.make()) throws -> (
        NSPersistentStoreCoordinator, NSPersistentStore
    ) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        return (coordinator, try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file(file)))
    }

    private func labels(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        try Library.context(on: coordinator).fetch(NSFetchRequest<Tag>(entityName: "Tag")).compactMap(\.label).sorted()
    }

    // * A class that overrides what Apple's documentation names, `load()` among it, which sets the metadata that it has read.
    // => It is added, and has its type, an identifier and the versions of the entities.
    @Test("has those that Apple's documentation promises", arguments: types)
    func defaults(_ type: String) throws {
        let (_, store) = try add(type)
        #expect(store.metadata[NSStoreTypeKey] as? String == type && store.metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(store.metadata[NSStoreModelVersionHashesKey] is [String: Data])
    }

    // * The identifier is known when `load()` has read it, or the class is asked before.
    // => A URI of an object is one in the next process.
    @Test("is itself when it is opened again", arguments: types)
    func reopened(_ type: String) throws {
        let (coordinator, store) = try add(type)
        let context = Library.context(on: coordinator)
        let tag = Tag(context: context)
        tag.label = "a"
        store.metadata["note"] = "kept"
        try context.save()
        let (identifier, uri) = (store.identifier, tag.objectID.uriRepresentation())

        let (again, reopened) = try add(type)
        #expect(reopened.identifier == identifier && reopened.metadata[NSStoreUUIDKey] as? String == identifier)
        #expect(reopened.metadata["note"] as? String == "kept")
        let id = try #require(again.managedObjectID(forURIRepresentation: uri))
        let other = Library.context(on: again)
        #expect((other.object(with: id) as? Tag)?.label == "a")
        Tag(context: other).label = "b"
        try other.save()
        #expect(try labels(add(type).0) == ["a", "b"])
    }

    @Test("is refused where it has the identifier of one that is added, which stays as it is", arguments: types)
    func copied(_ type: String) throws {
        let (coordinator, store) = try add(type)
        let context = Library.context(on: coordinator)
        Tag(context: context).label = "a"
        try context.save()
        try FileManager.default.copyItem(at: folder.file("Tags"), to: folder.file("Copy"))
        #expect {
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("Copy"))
        } throws: { ($0 as? CocoaError)?.code == .persistentStoreOpen }
        Tag(context: context).label = "b"
        try context.save()
        #expect(try labels(coordinator) == ["a", "b"] && coordinator.persistentStores == [store])
    }

    @Test("is refused with another version of the model, where its class says its metadata")
    func otherModel() throws {
        let (coordinator, _) = try add(KnownTagFile.storeType)
        let context = Library.context(on: coordinator)
        Tag(context: context).label = "a"
        try context.save()
        let other = LibraryModel.make()
        other.entitiesByName["Tag"]?.versionHashModifier = "2"
        #expect { try add(KnownTagFile.storeType, model: other) } throws: {
            ($0 as? CocoaError)?.code == .persistentStoreIncompatibleVersionHash
        }
    }
}
