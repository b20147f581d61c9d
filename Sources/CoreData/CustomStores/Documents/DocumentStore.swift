import Foundation

/// A store in one file that is read and written as a whole: a property list, binary or as XML, in a format of our own.
///
/// docs/guides/CustomStores.md describes the format. It is not that of Apple's binary and XML stores, whose files are refused.
class DocumentStore: NSAtomicStore {
    class var storeType: String { NSBinaryStoreType }
    override class var migratesItself: Bool { true }
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
        guard try FileManager.default.hasItem(at: url) else { return try make(url) }
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw Document.corrupt(url, "is a directory, not a document")
        }
        stamp = FileStamp(url)
        if stamp?.isEmpty == true { return try make(url) }
        let document = try Self.document(at: url)
        guard (document.metadata[NSStoreUUIDKey] as? String)?.isStoreIdentifier == true else {
            throw Document.corrupt(url, "is damaged: its metadata have no identifier (\(NSStoreUUIDKey)) that a store can have")
        }
        self.document = document
        metadata = document.metadata
    }

    /// Several may make the document at once: one does, the others read it.
    private func make(_ url: URL) throws {
        try makeMetadata(url)
        do { try save() } catch let error as CocoaError where error.code == .persistentStoreSave { return try loadMetadata() }
        document = Document(metadata: metadata, lastNumbers: [:])
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
        guard let document else { return }
        self.document = nil
        var reading = DocumentReading(document, self)
        try addCacheNodes(Set(reading.all()))
        lastNumbers = reading.lastNumbers
        if let root = lastNumbers.first(where: { $0.value > Self.greatestNumber })?.key {
            throw Document.corrupt(url, "has an object below \(root) whose number leaves none for others")
        }
    }

    /// Nobody has made as many objects.
    private static let greatestNumber = Int64.max / 2

    /// A number that no coordinator of the process has given to another object.
    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        let root = managedObject.entity.rootEntity.name ?? ""
        let number = references?.nextNumber(after: lastNumbers[root] ?? 0, root: root) ?? .max
        lastNumbers[root] = number
        return NSNumber(value: number)
    }

    override func save() throws {
        guard let url else { return }
        stamp = try AtomicFile.write(document(metadata).data(Self.format), to: url) { try requireUnchanged($0, url) }
    }

    /// All objects, with metadata that say the versions of the entities that they are of now.
    func document(_ metadata: [String: Any]?) throws -> Document {
        var document = Document(metadata: current(metadata ?? [:]), lastNumbers: lastNumbers)
        // In the same order each time, for whoever compares two states of a file.
        let numbered = nodes.all.map { (node: $0, number: number($0.objectID)) }.sorted { $0.number < $1.number }
        for (node, number) in numbered { try document.add(node, number, of: self) }
        return document
    }

    /// Where there is no file any more, nothing of others is lost.
    private func requireUnchanged(_ current: FileStamp?, _ url: URL) throws {
        guard let current, current != stamp else { return }
        throw CocoaError.coreData(
            .persistentStoreSave,
            "The file at \(url.path) was changed by others since it was read: remove the store from the coordinator, and add it anew.",
            userInfo: [NSAffectedStoresErrorKey: [self], NSFilePathErrorKey: url.path]
        )
    }

    private func current(_ metadata: [String: Any]) -> [String: Any] {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return metadata }
        let fresh = StoreMetadata(model: model, configuration: explicitConfigurationName, type: Self.storeType).values
        return metadata.merging(fresh) { $1 }.filter { $0.key != "_NSAutoVacuumLevel" }
    }

    func number(_ id: NSManagedObjectID) -> Int64 { (referenceObject(for: id) as? NSNumber)?.int64Value ?? 0 }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        guard try FileManager.default.hasItem(at: url) else {
            throw CocoaError.coreData(.fileReadNoSuchFile, "There is no store at \(url.path).", userInfo: [NSFilePathErrorKey: url.path])
        }
        return try document(at: url).metadata
    }

    /// - Throws: `CocoaError` 134010 for a document of the other type, 259 for one that says none.
    private class func document(at url: URL) throws -> Document {
        let document = try Document(contentsOf: url)
        guard let type = document.metadata[NSStoreTypeKey] as? String else {
            throw Document.corrupt(url, "is damaged: its metadata do not say of which type it is (\(NSStoreTypeKey))")
        }
        if type == storeType { return document }
        throw CocoaError.coreData(
            .persistentStoreTypeMismatch,
            "The store at \(url.path) is of type \(type), not \(storeType).",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }

    /// What the library itself notes of a store and its model stays.
    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        let stamp = FileStamp(url)
        var document = try document(at: url)
        var own = document.metadata.filter { $0.key == NSStoreTypeKey || $0.key.hasPrefix("NSStoreModelVersion") }
        own[NSStoreUUIDKey] = metadata?[NSStoreUUIDKey] as? String ?? document.metadata[NSStoreUUIDKey]
        document.metadata = (metadata ?? [:]).merging(own) { $1 }
        try AtomicFile.write(document.data(format), to: url) { current in
            if current != stamp { throw Document.corrupt(url, "was changed by others while its metadata were set") }
        }
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
