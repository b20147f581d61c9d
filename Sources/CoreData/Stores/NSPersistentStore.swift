import Foundation

/// One store of a coordinator: a file, or something that behaves like one.
open class NSPersistentStore: NSObject {
    /// The kinds of stores.
    public struct StoreType: Hashable, RawRepresentable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    }

    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The configuration of the model whose entities are in this store; a fixed name where none was given.
    public let configurationName: String
    public let options: [AnyHashable: Any]?
    public var url: URL?
    /// The store's UUID, part of its objects' URIs.
    public var identifier: String!
    public var isReadOnly: Bool
    open var type: String { "" }
    /// What the store says of itself; also what the application put there. Changes are written by the next save.
    open var metadata: [String: Any]!

    /// The coordinator, which is of a layer above.
    weak var owner: AnyObject?
    /// What the coordinator knows the store as, since it was added.
    final var home: StoreIdentity? {
        didSet { number = home?.number ?? 0 }
    }
    /// The coordinator's number for the store, from 1 on; it is in every row reference.
    // NB: kept beside, for the paths that every value takes.
    private(set) final var number: Int32 = 0

    init(configurationName: String?, url: URL?, options: [AnyHashable: Any]?) {
        self.configurationName = configurationName ?? Self.defaultConfigurationName
        self.url = url
        self.options = options
        isReadOnly = DatabaseOptions.flag(options?[NSReadOnlyPersistentStoreOption])
        super.init()
    }

    /// Whether the store keeps objects of an entity.
    func holds(_ entity: NSEntityDescription) -> Bool { false }
}
