import Foundation

/// A store in one file that is read and written as a whole: a property list, binary or as XML, in a format of our own.
///
/// docs/guides/CustomStores.md describes the format. It is not that of Apple's binary and XML stores, whose files are refused.
class DocumentStore: NSAtomicStore {
    class var storeType: String { NSBinaryStoreType }
    class var format: PropertyListSerialization.PropertyListFormat { .binary }

    /// What was read by `loadMetadata()`, until it is loaded.
    private var document: Document?
    private var stamp: FileStamp?
    /// The last number that was given to an object, by root entity.
    private var lastNumbers: [String: Int64] = [:]

    override func loadMetadata() throws {
        guard let url, url.isFileURL else {
            throw CocoaError.coreData(.persistentStoreOpen, "A store of type \(Self.storeType) needs the URL of a file.")
        }
        guard FileManager.default.fileExists(atPath: url.path) else { return try makeMetadata(url) }
        stamp = FileStamp(url)
        let document = try Document(contentsOf: url)
        self.document = document
        metadata = document.metadata
    }

    private func makeMetadata(_ url: URL) throws {
        guard !isReadOnly else {
            throw CocoaError.coreData(
                .fileReadNoSuchFile,
                "There is no store at \(url.path), and it is to be opened read-only.",
                userInfo: [NSFilePathErrorKey: url.path]
            )
        }
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return }
        metadata = StoreMetadata(model: model, configuration: explicitConfigurationName, type: Self.storeType).dictionary
    }

    override func load() throws {
        guard let document else { return try save() }
        self.document = nil
        lastNumbers = document.lastNumbers
        var reading = DocumentReading(document, self)
        try addCacheNodes(Set(reading.all()))
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        lastNumbers[managedObject.entity.rootEntity.name ?? "", default: 0] += 1
        return NSNumber(value: lastNumbers[managedObject.entity.rootEntity.name ?? ""] ?? 0)
    }

    override func save() throws {
        guard let url else { return }
        guard FileStamp(url) == stamp else {
            throw CocoaError.coreData(
                .persistentStoreSave,
                "The file at \(url.path) was changed by others since it was read: remove the store from the coordinator, and add it anew.",
                userInfo: [NSAffectedStoresErrorKey: [self], NSFilePathErrorKey: url.path]
            )
        }
        var written = Document(metadata: currentMetadata, lastNumbers: lastNumbers)
        for node in cacheNodes() { try written.add(node, number(node.objectID), of: self) }
        try AtomicFile.write(written.data(Self.format), to: url)
        stamp = FileStamp(url)
    }

    /// With the versions of the entities that the objects are of now.
    private var currentMetadata: [String: Any] {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return metadata ?? [:] }
        let fresh = StoreMetadata(model: model, configuration: explicitConfigurationName, type: Self.storeType).values
        return (metadata ?? [:]).merging(fresh) { $1 }.filter { $0.key != "_NSAutoVacuumLevel" }
    }

    func number(_ id: NSManagedObjectID) -> Int64 { (referenceObject(for: id) as? NSNumber)?.int64Value ?? 0 }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CocoaError.coreData(.fileReadNoSuchFile, "There is no store at \(url.path).", userInfo: [NSFilePathErrorKey: url.path])
        }
        return try Document(contentsOf: url).metadata
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        var document = try Document(contentsOf: url)
        let own = document.metadata.filter { [NSStoreUUIDKey, NSStoreTypeKey, NSStoreModelVersionHashesKey].contains($0.key) }
        document.metadata = (metadata ?? [:]).merging(own) { $1 }
        try AtomicFile.write(document.data(format), to: url)
    }
}

/// A store in a binary property list.
final class BinaryStore: DocumentStore {}

/// A store in a property list as XML.
final class XMLStore: DocumentStore {
    override class var storeType: String { NSXMLStoreType }
    override class var format: PropertyListSerialization.PropertyListFormat { .xml }
}

extension NSPersistentStoreCoordinator {
    /// The types of stores in documents.
    static var documentKinds: [String: any StoreKind] {
        [NSBinaryStoreType: StoreClass(storeClass: BinaryStore.self), NSXMLStoreType: StoreClass(storeClass: XMLStore.self)]
    }
}
