import Foundation

/// The identity of an object, good in every context of a coordinator and, once permanent, for ever.
///
/// Two IDs are equal when they name the same row of the same store, or the same unsaved object; stores are told apart by their UUIDs, so that an ID
/// is good under every coordinator that has the store. Hashing and comparing are O(1). An ID never changes: a temporary one that is kept
/// stays temporary and keeps its URI when its object is saved. It is equal then to the permanent one, with the same hash, and leads to the
/// same object; `objectID` of the object gives the permanent one.
/// To keep one outside the process, encode it (`Codable`), or its `uriRepresentation()`.
public final class NSManagedObjectID: NSObject, NSCopying, Sendable {
    /// What the ID says of itself.
    private let origin: RowIdentity
    private let succession: IDSuccession?

    init(_ identity: RowIdentity) {
        origin = identity
        succession = identity.key < 0 ? .of(temporaryKey: identity.key) : .of(identity)
    }

    /// What the ID leads to: once its object has a permanent identity, that one.
    var identity: RowIdentity { origin.key > 0 ? origin : succession?.permanent ?? origin }

    var space: IDSpace { origin.space }

    /// The entity of the object itself, not the one that a fetch named.
    public var entity: NSEntityDescription { origin.space.entity }
    /// The store that holds the object; nil for a temporary ID, and when the store is gone.
    public var persistentStore: NSPersistentStore? { origin.space.home?.store }
    /// Whether the object had never been saved, nor got a permanent ID, when this ID was made.
    public var isTemporaryID: Bool { origin.key <= 0 }

    /// `x-coredata://STORE-UUID/Entity/p1`, or `x-coredata:///Entity/tUUID` for a temporary ID. Only the first can be turned back.
    public func uriRepresentation() -> URL {
        let name = origin.space.entityName
        let text =
            isTemporaryID
            ? "x-coredata:///\(name)/t\(Self.temporaryUUID(origin.key))"
            : "x-coredata://\(origin.space.home?.identifier ?? "")/\(name)/p\(place)"
        // Entity names are letters, digits and underscores; others are escaped, after which every text of these forms is a URL.
        return URL(string: text) ?? URL(string: text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? "x-coredata:///")!
    }

    private var place: String {
        origin.space.references?.reference(of: origin.key, root: origin.space.rootName)?.escapedName ?? String(origin.key)
    }

    private static let session = UUID().uuid

    /// A UUID from the process and the temporary key, so that two processes never name two objects alike.
    private static func temporaryUUID(_ key: Int64) -> String {
        var uuid = session
        withUnsafeMutableBytes(of: &uuid) { $0.storeBytes(of: key.magnitude.bigEndian, toByteOffset: 8, as: UInt64.self) }
        return UUID(uuid: uuid).uuidString
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        if self === other || (succession != nil && succession === other.succession) { return true }
        return identity == other.identity
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(succession?.temporaryKey ?? origin.key)
        hasher.combine(origin.space.rootName)
        return hasher.finalize()
    }

    /// IDs are immutable: the copy is the ID itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String { "0x\(String(origin.key, radix: 16)) <\(uriRepresentation().absoluteString)>" }
}
