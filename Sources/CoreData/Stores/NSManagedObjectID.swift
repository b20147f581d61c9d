import Foundation
import Predicates

/// The identity of an object, good in every context of a coordinator and, once permanent, for ever.
///
/// Two IDs are equal when they name the same row of the same store, or the same unsaved object. Hashing and comparing are O(1). A temporary
/// ID that is kept becomes permanent with its object: it stays equal to every other ID of it, and its hash does not change.
/// To keep one outside the process, encode it (`Codable`), or its `uriRepresentation()`.
public final class NSManagedObjectID: NSObject, NSCopying, Sendable {
    private let firstReference: RowReference
    private let firstSpace: IDSpace
    private let succession: IDSuccession?

    init(_ reference: RowReference, in space: IDSpace) {
        firstReference = reference
        firstSpace = space
        succession = reference.key < 0 ? .of(temporaryKey: reference.key) : .of(reference, space)
    }

    var reference: RowReference { firstReference.key > 0 ? firstReference : succession?.permanent?.reference ?? firstReference }
    var space: IDSpace { firstReference.key > 0 ? firstSpace : succession?.permanent?.space ?? firstSpace }

    convenience init(_ reference: RowReference, entity: NSEntityDescription, store: NSPersistentStore?) {
        self.init(reference, in: IDSpace(entity, reference.key < 0 ? nil : store))
    }

    /// The entity of the object itself, not the one that a fetch named.
    public var entity: NSEntityDescription { space.entity }
    /// The store that holds the object; nil for a temporary ID, and when the store is gone.
    public var persistentStore: NSPersistentStore? { space.store }
    /// Whether the object has never been saved, nor asked for a permanent ID. Becomes false with the save, also for an ID that was kept.
    public var isTemporaryID: Bool { reference.key < 0 }

    /// `x-coredata://STORE-UUID/Entity/p1`, or `x-coredata:///Entity/tUUID` for a temporary ID. Only the first can be turned back.
    public func uriRepresentation() -> URL {
        let name = space.entity.name ?? ""
        let text =
            isTemporaryID
            ? "x-coredata:///\(name)/t\(Self.temporaryUUID(reference.key))"
            : "x-coredata://\(space.storeIdentifier ?? "")/\(name)/p\(reference.key)"
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

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        if self === other || (succession != nil && succession === other.succession) { return true }
        let (reference, space) = (reference, space)
        return reference.key == other.reference.key && (space === other.space || space == other.space)
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(succession?.temporaryKey ?? firstReference.key)
        hasher.combine(firstSpace.root)
        return hasher.finalize()
    }

    /// IDs are immutable: the copy is the ID itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String { "0x\(String(reference.key, radix: 16)) <\(uriRepresentation().absoluteString)>" }
}

/// What the IDs of one entity's objects in one store have in common.
// Sendable: everything is immutable but the weak reference, whose loads the runtime makes atomic.
final class IDSpace: Equatable, @unchecked Sendable {
    let entity: NSEntityDescription
    let root: Int
    // Kept here: an ID may outlive the model, which the root entity does not.
    private let rootName: String?
    let storeIdentifier: String?
    private(set) weak var store: NSPersistentStore?

    /// - Parameter store: nil for temporary IDs: an unsaved object may have been assigned to a store, but that is no part of its identity.
    init(_ entity: NSEntityDescription, _ store: NSPersistentStore?) {
        self.entity = entity
        self.store = store
        root = entity.rootEntity.index
        rootName = entity.rootEntity.name
        storeIdentifier = store?.identifier
    }

    /// Whether equal keys mean the same row in both.
    static func == (left: IDSpace, right: IDSpace) -> Bool {
        left.root == right.root && left.storeIdentifier == right.storeIdentifier
            && left.rootName == right.rootName
    }
}

/// Something that stands for a row, in a predicate: an object ID, or an object of any layer above.
protocol RowIdentifying: StandIn {
    var identifiedRow: RowReference { get }
    /// The root entity of the row's, by its index.
    var identifiedRoot: Int { get }
}

extension RowIdentifying {
    public var standsFor: AnyHashable { IdentifiedRow(identifiedRow, identifiedRoot) }
}

/// What an object and its IDs have in common: not the entity, which an ID may name one of above.
private struct IdentifiedRow: Hashable {
    let key: Int64
    let root: Int
    let store: Int32

    init(_ row: RowReference, _ root: Int) { (key, self.root, store) = (row.key, root, row.key < 0 ? 0 : row.store) }
}

extension NSManagedObjectID: RowIdentifying {
    var identifiedRow: RowReference { reference }
    var identifiedRoot: Int { space.root }
}
