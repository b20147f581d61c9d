import Foundation

/// The identity of an object, good in every context of a coordinator and, once permanent, for ever.
///
/// Two IDs are equal when they name the same row of the same store, or the same unsaved object. Hashing and comparing are O(1).
open class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {
    // Sendable: everything is immutable but the weak reference, whose loads the runtime makes atomic.
    let reference: RowReference
    private let entityDescription: NSEntityDescription
    private let root: Int
    private let storeIdentifier: String?
    private weak var store: NSPersistentStore?

    init(_ reference: RowReference, entity: NSEntityDescription, store: NSPersistentStore?) {
        self.reference = reference
        // An unsaved object may have been assigned to a store; that is no part of its identity.
        let store = reference.key < 0 ? nil : store
        self.store = store
        entityDescription = entity
        root = entity.rootEntity.index
        storeIdentifier = store?.identifier
    }

    /// The entity of the object itself, not the one that a fetch named.
    public var entity: NSEntityDescription { entityDescription }
    /// The store that holds the object; nil for a temporary ID, and when the store is gone.
    public var persistentStore: NSPersistentStore? { store }
    /// Whether the object has never been saved. The save replaces its ID by a permanent one.
    public var isTemporaryID: Bool { reference.key < 0 }

    /// `x-coredata://STORE-UUID/Entity/p1`, or `x-coredata:///Entity/tUUID` for a temporary ID. Only the first can be turned back.
    public func uriRepresentation() -> URL {
        let name = entityDescription.name ?? ""
        let text =
            isTemporaryID
            ? "x-coredata:///\(name)/t\(Self.temporaryUUID(reference.key))"
            : "x-coredata://\(storeIdentifier ?? "")/\(name)/p\(reference.key)"
        // Entity names are letters, digits and underscores; others are escaped, after which every text of these forms is a URL.
        return URL(string: text) ?? URL(string: text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? "x-coredata:///")!
    }

    private static let session = UUID().uuid

    /// A UUID from the process and the temporary key, so that two processes never name two objects alike.
    private static func temporaryUUID(_ key: Int64) -> String {
        var uuid = session
        withUnsafeMutableBytes(of: &uuid) { $0.storeBytes(of: key.magnitude.bigEndian, toByteOffset: 8, as: UInt64.self) }
        return UUID(uuid: uuid).uuidString
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        if self === other { return true }
        return reference.key == other.reference.key && root == other.root && storeIdentifier == other.storeIdentifier
            && entityDescription.rootEntity.name == other.entityDescription.rootEntity.name
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(reference.key)
        hasher.combine(root)
        return hasher.finalize()
    }

    /// IDs are immutable: the copy is the ID itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override var description: String { "0x\(String(reference.key, radix: 16)) <\(uriRepresentation().absoluteString)>" }
}

/// Something that stands for a row, in a predicate: an object ID, or an object of any layer above.
protocol RowIdentifying {
    var identifiedRow: RowReference { get }
}

extension NSManagedObjectID: RowIdentifying {
    var identifiedRow: RowReference { reference }
}
