import Foundation

/// A store that is read and written as a whole: a subclass says how, the framework does everything else.
///
/// A subclass overrides `loadMetadata()`, `load()`, `save()` and `newReferenceObject(for:)`; `newCacheNode(for:)` and `updateCacheNode(_:from:)` where
/// its nodes are more than values by name. What is fetched, and what a save would break, is found out as for an SQLite store.
///
/// ```swift
/// NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: "CSV")
/// try coordinator.addPersistentStore(ofType: "CSV", configurationName: nil, at: url)
/// ```
///
/// Somebody else who writes the file meanwhile is not noticed by itself: two coordinators on one place do not see each other's saves.
///
/// > Concurrency: the framework calls the hooks one at a time in each coordinator, on the queue of whoever adds the store or saves. A hook must use
/// no context but that of the object that it is given, and that only to read.
open class NSAtomicStore: NSPersistentStore {
    final let nodes = CacheNodes()
    /// Nil before the store is loaded, and once it is closed.
    final let mirror = Lock<StoreMirror?>(nil)
    /// Whether a save is under way; with `hooks` held.
    final var isSaving = false
    /// Whether a hook of the save under way has had the store removed; with `hooks` held.
    final var closesAfterSave = false
    /// A node that a hook of the save under way has added, of an object that the store does not have; with `hooks` held.
    final var strayNode: NSAtomicStoreCacheNode?
    /// Whether the class is asked to write; with `hooks` held.
    final var isWriting = false
    /// Whether the identifier was made up, and `load()` may have read another; with `hooks` held.
    final var isUnnamed = false
    /// Why the identifier that `load()` has read cannot be the store's.
    final var refusal: (any Error)?

    /// Whether a store of another version of the model is brought to this one before it is loaded.
    class var migratesItself: Bool { false }

    // The hooks stand here because on Linux a method of an extension cannot be overridden.

    /// Sets `metadata`, but for what the initialiser has set: those that `metadataForPersistentStore(with:)` says of the data at `url`; new ones, with
    /// an identifier and the versions of the entities, where there are no data yet or the class does not say. `load()` may set others, with the
    /// identifier that it has read, before it makes IDs.
    ///
    /// - Throws: what `metadataForPersistentStore(with:)` throws.
    open override func loadMetadata() throws { try setDefaultMetadata() }

    /// Reads everything: makes a node for each object, and gives them to `addCacheNodes(_:)`. IDs are made by
    /// `objectID(for:withReferenceObject:)`.
    ///
    /// - Throws: why the store cannot be read; adding it fails then.
    open func load() throws {}

    /// Writes everything: all `cacheNodes()`, and the metadata. Where it throws, the nodes become what they were before, and the changes stay
    /// unsaved. Called once more, with the nodes as they were before, where another store of the coordinator fails afterwards.
    open func save() throws {}

    /// A node for a new object, whose `objectID` it must have. The framework fills it with `updateCacheNode(_:from:)`.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    }

    /// Brings a node up to date with an object that was inserted or changed. All values, unless it is overridden.
    ///
    /// All nodes of new objects are there when the first of them is updated, so that `cacheNode(for:)` finds the ends of relationships.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        copyValues(from: managedObject, to: node)
    }

    /// The objects of these nodes are deleted; the nodes go after this call.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    /// What identifies a new object in the store for ever: a text that is not empty, or a whole number, that no other object of its root entity has.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    final override var isWritingHere: Bool { hooks.isMine && isWriting }

    final override func metadataWillBecome(_ values: [String: Any]?) { takeIdentifier(values) }

    final override func homeDidChange() { mirror.withLock { $0?.rows.home = home } }
}

extension NSAtomicStore {
    /// The nodes of all objects.
    public final func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.all) }

    /// The nodes that `load()` has made. A node of an ID that is known already takes the place of the other one. What is added later is found by
    /// no fetch: where `save()` does it, the save fails.
    public final func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        let isSaved = hooks.isMine && isSaving
        for node in cacheNodes {
            if isSaved, nodes[node.identity] == nil { strayNode = node } else { nodes.add(node) }
        }
    }

    /// The node of an object; nil where the store has none.
    public final func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes[objectID.identity] }

    /// The ID of the object that a text or a number identifies. The same ID for the same entity and reference object, in every coordinator.
    ///
    /// - Precondition: the entity is one of the coordinator's model; `data` is a text or a number.
    public final func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        makeID(for: entity, data)
    }

    /// What identifies an object of this store.
    public final func referenceObject(for objectID: NSManagedObjectID) -> Any { referenceValue(of: objectID) }

    final func copyValues(from object: NSManagedObject, to node: NSAtomicStoreCacheNode) {
        for property in object.entity.properties where !property.isTransient {
            if let relationship = property as? NSRelationshipDescription {
                let ends = object.objectIDs(forRelationshipNamed: relationship.name).compactMap(cacheNode(for:))
                node.setValue(Self.value(of: relationship, ends), forKey: relationship.name)
            } else if property is NSAttributeDescription {
                node.setValue(object.value(forKey: property.name), forKey: property.name)
            }
        }
    }

    static func value(of relationship: NSRelationshipDescription, _ ends: [NSAtomicStoreCacheNode]) -> Any? {
        if !relationship.isToMany { return ends.first }
        return relationship.isOrdered ? NSOrderedSet(array: ends) : NSSet(array: ends)
    }
}

/// The nodes of an atomic store, by what identifies their objects.
final class CacheNodes: @unchecked Sendable {
    // Sendable: the lock orders access to the table; nodes belong to the store, whose hooks run one at a time.
    private let table = Lock<[RowIdentity: NSAtomicStoreCacheNode]>([:])

    var all: [NSAtomicStoreCacheNode] { table.withLock { Array($0.values) } }
    subscript(_ identity: RowIdentity) -> NSAtomicStoreCacheNode? { table.withLock { $0[identity] } }
    func add(_ node: NSAtomicStoreCacheNode) { table.withLock { $0[node.identity] = node } }
    func remove(_ node: NSAtomicStoreCacheNode) { table.withLock { $0[node.identity] = nil } }
    func removeAll() { table.withLock { $0 = [:] } }
}
