import Foundation
import Predicates

/// A row, or an unsaved object, of whichever coordinator: what an ID and its object have in common.
struct RowIdentity: Hashable, Sendable {
    /// Its numbers mean something under the coordinator of the space only.
    let reference: RowReference
    let space: IDSpace

    init(_ reference: RowReference, in space: IDSpace) { (self.reference, self.space) = (reference, space) }

    /// Negative while it is temporary, and then unique in the process.
    var key: Int64 { reference.key }

    /// Where an ID was made before its store had the object: what the store has the object under.
    var arrived: RowIdentity {
        guard key > 0, let references = space.references else { return self }
        let key = references.arrived(at: key, root: space.rootName)
        return key == self.key ? self : RowIdentity(RowReference(key: key, entity: reference.entity, store: reference.store), in: space)
    }

    static func == (left: RowIdentity, right: RowIdentity) -> Bool {
        left.key == right.key && (left.key < 0 || left.space === right.space || left.space == right.space)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// What the IDs of one entity's objects in one store, or before a store has them, have in common.
final class IDSpace: Equatable, Sendable {
    let entity: NSEntityDescription
    let entityName: String
    // Kept here: an ID may outlive the model, which the root entity does not.
    let rootName: String
    /// The store of permanent IDs; nil for temporary ones: an object may have been assigned to a store, but that is no part of its identity.
    let home: StoreIdentity?
    /// What the keys stand for, which stays as long as anybody has one; nil where they are the store's own.
    let references: ReferenceTable?
    private let currentTree: Lock<ForwardingTable?>

    init(_ entity: NSEntityDescription, home: StoreIdentity?, tree: ForwardingTable? = nil) {
        self.entity = entity
        self.home = home
        references = home?.references
        currentTree = Lock(tree)
        entityName = entity.name ?? ""
        rootName = entity.rootEntity.name ?? ""
    }

    /// The tree of contexts in which temporary IDs mean something; nil for one of an object that was never inserted.
    var tree: ForwardingTable? { currentTree.withLock { $0 } }

    /// The object is inserted now.
    func enter(_ tree: ForwardingTable) { currentTree.withLock { $0 = tree } }

    /// Whether equal keys mean the same row in both.
    static func == (left: IDSpace, right: IDSpace) -> Bool {
        guard let home = left.home, let other = right.home else { return false }
        return (home === other || home.identifier == other.identifier) && left.rootName == right.rootName
    }

    /// The entity of that name in a model, which may be another than the one that the ID was made with.
    func entity(in model: NSManagedObjectModel) -> NSEntityDescription? {
        if let index = entity.facts?.index, model.entitiesInIndexOrder.indices.contains(index),
            model.entitiesInIndexOrder[index] === entity
        {
            return entity
        }
        return model.entitiesByName[entityName]
    }
}

/// A store as one coordinator knows it. Outlives the store: added once more, it is the same.
final class StoreIdentity: Sendable {
    /// The store's UUID.
    let identifier: String
    /// The coordinator's number for it.
    let number: Int32
    private let choosesReferences: Bool
    private let current = Lock(Weak())
    /// What the store had when it was removed, where it is one that is read as a whole.
    let formerRows = Lock<FormerRows?>(nil)

    private struct Weak {
        weak var store: NSPersistentStore?
    }

    init(_ identifier: String, number: Int32, choosesReferences: Bool = false) {
        (self.identifier, self.number, self.choosesReferences) = (identifier, number, choosesReferences)
    }

    /// What the store's own IDs stand for; nil where they are keys. Not kept here: it goes with the store and the last ID.
    var references: ReferenceTable? { choosesReferences ? .of(identifier) : nil }

    /// Nil while the coordinator has not got it.
    var store: NSPersistentStore? {
        get { current.withLock { $0.store } }
        set { current.withLock { $0.store = newValue } }
    }
}

/// What an ID, an object or a URI that comes from outside is in a context or under a coordinator.
enum Identification {
    /// Made here: its numbers are good.
    case own(RowReference)
    /// Of another coordinator that has the same store: these are the numbers here.
    case translated(RowReference)
    /// Of a store that is not here, of an entity that is not in the model, or a temporary one of other contexts.
    case foreign

    var reference: RowReference? {
        switch self {
        case .own(let reference), .translated(let reference): reference
        case .foreign: nil
        }
    }
}

/// Something that stands for a row, in a predicate: an object ID, or an object of any layer above.
protocol RowIdentifying: StandIn, SortStandIn {
    var identity: RowIdentity { get }
}

extension RowIdentifying {
    /// The key: rows that are unsaved come behind all others, the older first, as they will have keys.
    public var sortValue: Any? {
        let key = identity.key
        return key < 0 ? UInt64(Int64.max) + key.magnitude : UInt64(key)
    }

    public var standsFor: AnyHashable { identity }
}

extension RowIdentity: RowIdentifying {
    var identity: RowIdentity { self }
}

extension NSManagedObjectID: RowIdentifying {}
