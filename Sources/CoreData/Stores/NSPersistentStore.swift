import Foundation

/// One store of a coordinator: a file, or something that behaves like one.
///
/// A kind of store of one's own is a subclass of `NSAtomicStore` or `NSIncrementalStore`, registered with
/// `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)`.
open class NSPersistentStore: NSObject {
    /// The kinds of stores.
    public struct StoreType: Hashable, RawRepresentable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// As `NSXMLStoreType`.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
    }

    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The configuration of the model whose entities are in this store; a fixed name where none was given.
    public let configurationName: String
    public let options: [AnyHashable: Any]?
    open var url: URL?
    /// The store's UUID, part of its objects' URIs. A store of one's own has it from its metadata.
    open var identifier: String! {
        get { knownIdentifier }
        set { knownIdentifier = newValue }
    }
    /// The identifier as the metadata say it, whatever a class makes of `identifier`.
    final var knownIdentifier: String?
    open var isReadOnly: Bool
    /// The name under which the coordinator finds the store's class. Of a store of one's own, what its metadata say.
    open var type: String { metadata?[NSStoreTypeKey] as? String ?? "" }
    /// What the store says of itself; also what the application put there. Changes are written by the next save.
    ///
    /// The `loadMetadata()` of a store of one's own sets it, with `NSStoreTypeKey` and `NSStoreUUIDKey` at least.
    open var metadata: [String: Any]! {
        get { noted.withLock { $0.metadata } }
        set {
            let isEdit = !isWritingHere
            metadataWillBecome(newValue)
            noted.withLock { $0.set(newValue, of: knownIdentifier, isEdit: isEdit) }
        }
    }
    private let noted = Lock(NotedMetadata())
    /// As they were when they were written last.
    final var writtenMetadata: [String: Any]? { noted.withLock { $0.written.metadata } }

    /// The coordinator, which is of a layer above.
    weak var owner: AnyObject?
    /// What the coordinator knows the store as, since it was added.
    final var home: StoreIdentity? {
        didSet {
            number = home?.number ?? 0
            homeDidChange()
        }
    }
    /// The coordinator's number for the store, from 1 on; it is in every row reference.
    // NB: kept beside, for the paths that every value takes.
    package private(set) final var number: Int32 = 0
    /// What the program says that identifies its objects, for a store which chooses that itself.
    final var references: ReferenceTable?

    /// Held while the program's class is asked: the coordinator's, from before the store is one of its own, so that a class is called once at a time and
    /// its hooks may read other stores, as on a Mac. Taken before any turn at a database.
    final var hooks = HookLock()

    /// Makes a store that is not open yet. The coordinator calls this; a program does not.
    public init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?,
        configurationName name: String?,
        at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        configurationName = name ?? Self.defaultConfigurationName
        self.url = url
        self.options = options
        isReadOnly = DatabaseOptions.flag(options?[NSReadOnlyPersistentStoreOption])
        super.init()
        owner = root
    }

    /// Makes the instances that a coordinator needs, of whichever class was registered. Not for callers.
    // NB: required, so that a class is enough to make an instance; subclasses inherit it with the initialiser above, overridden or not.
    public required convenience init(_ construction: StoreConstruction) {
        self.init(
            persistentStoreCoordinator: construction.coordinator,
            configurationName: construction.configurationName,
            at: construction.url,
            options: construction.options
        )
    }

    func homeDidChange() {}

    func metadataWillBecome(_ values: [String: Any]?) {}

    /// The store is no coordinator's any more.
    func leaveOwner() { owner = nil }

    /// Whether a store of this class is at a place.
    class var needsURL: Bool { true }

    /// Whether the class, on this thread, is writing what it has: what it sets meanwhile is written, or is told nobody.
    var isWritingHere: Bool { false }

    /// The metadata as they are, and how often they were set.
    final var metadataEdit: MetadataEdit { MetadataEdit(number: noted.withLock { $0.edits }, metadata: metadata) }
    /// What was set since that edit is still to be written.
    final func didWriteMetadata(_ edit: MetadataEdit) { noted.withLock { $0.written = edit } }
    /// Whether metadata were set since they were written.
    final var hasNewMetadata: Bool { noted.withLock { $0.edits != $0.written.number } }

    /// Whether no configuration was asked for by name.
    final var explicitConfigurationName: String? { configurationName == Self.defaultConfigurationName ? nil : configurationName }

    // The hooks stand here because on Linux a method of an extension cannot be overridden.

    /// Sets `metadata`, with `NSStoreUUIDKey` and `NSStoreTypeKey`: those of the data at `url`, or new ones where there are none yet. Called before
    /// anything else is.
    ///
    /// - Throws: why there is no store at that place that can be opened; the caller of `addPersistentStore` gets it as it is.
    open func loadMetadata() throws {}
    /// The store is one of the coordinator's now.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}
    /// The store is about to be removed from its coordinator, and to let go of what it has open. It is not saved once more.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// The metadata of the store at a place, without opening it.
    ///
    /// - Throws: `CocoaError` 134060 where the class does not say how.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] { throw lacks("metadataForPersistentStore(with:)") }
    /// The class of the managers that migrate stores of this class. The framework migrates by itself only stores of its own types, and those with
    /// `NSMigrationManager`: a program that migrates makes an instance of what its class says.
    open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }
    /// Replaces the metadata of the store at a place, without opening it.
    ///
    /// - Throws: as `metadataForPersistentStore(with:)`.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw lacks("setMetadata(_:forPersistentStoreAt:)")
    }

    private static func lacks(_ method: String) -> CocoaError {
        .coreData(.coreData, "\(self) does not override \(method), so it cannot be asked for that.")
    }
}

/// Metadata at some time.
struct MetadataEdit {
    let number: Int
    let metadata: [String: Any]?
}

/// The metadata of a store as they are and as they were written. Never without what a store cannot be opened without, once that is known.
private struct NotedMetadata {
    private(set) var metadata: [String: Any]?
    /// How often they were set.
    private(set) var edits = 0
    var written = MetadataEdit(number: 0, metadata: nil)

    /// None at all leave what identifies the store, and what its migration goes on with.
    mutating func set(_ values: [String: Any]?, of identifier: String?, isEdit: Bool) {
        if isEdit { edits += 1 }
        guard let identifier else { return metadata = values }
        var kept = values ?? [:]
        kept[NSStoreUUIDKey] = identifier
        for key in [NSStoreTypeKey, DatabaseOptions.stageKey, DatabaseOptions.stagedVersionKey] {
            if let value = metadata?[key] { kept[key] = value }
        }
        metadata = kept
    }
}

/// What `init(_:)` of a store is given when a coordinator makes the instance.
public struct StoreConstruction {
    let coordinator: NSPersistentStoreCoordinator?
    let configurationName: String?
    let url: URL
    let options: [AnyHashable: Any]?
}
