import Foundation
import Synchronization

/// What a context knows of identity: which object is which row, and where references to objects lead that were unsaved.
///
/// Belongs to one context, which it does not know, and is used on its queue.
// NB: not checked for exclusive access: no access spans a call to user code.
final class IdentityMap {
    /// The objects; nil until the context has a coordinator or a parent.
    @exclusivity(unchecked) var registry: ObjectRegistry?
    /// Permanent identities of objects that are known here by temporary keys: one table for all contexts of a tree.
    @exclusivity(unchecked) private(set) var forwardingTable: ForwardingTable
    /// What of its keys this context may still name.
    @exclusivity(unchecked) private(set) var names: TemporaryNames.Holder
    /// What of the table has been followed.
    @exclusivity(unchecked) var followedForwardings = 0
    /// Where references to unsaved objects lead since their IDs became permanent, until the next save.
    @exclusivity(unchecked) var forwarding = KeyForwarding()
    /// Objects for IDs that may come to mean something else.
    @exclusivity(unchecked) var awaited = AwaitedObjects()
    /// What this context has saved, where it is topmost and has children.
    @exclusivity(unchecked) var savedVersions = SavedVersions()
    /// What was read for objects that are likely to be used next.
    let readAhead = ReadAhead()
    /// All objects, where the context keeps them alive.
    @exclusivity(unchecked) var retained: Set<NSManagedObject> = []
    @exclusivity(unchecked) var retainsObjects = false
    /// The class of results that the latest fetch of objects was found to give, and of which entity.
    @exclusivity(unchecked) private var checkedResults: (type: ObjectIdentifier, entity: NSEntityDescription)?
    @exclusivity(unchecked) private var entitiesByClass: [ObjectIdentifier: NSEntityDescription] = [:]
    /// The latest few of these, which `init(context:)` looks through without counting references.
    @exclusivity(unchecked) private var recentClasses: ContiguousArray<RecentClass> = []
    /// What the entities need of which objects were inserted last.
    @exclusivity(unchecked) private var recentScopes: ContiguousArray<RecentScope> = []
    /// Keys for unsaved objects that may be given out: from `next` down to above `end`.
    @exclusivity(unchecked) private var temporaryKeys: (next: Int64, end: Int64) = (0, 0)

    init() {
        forwardingTable = ForwardingTable()
        names = forwardingTable.names.join()
    }

    deinit { forwardingTable.names.leave(names) }

    /// The context becomes one of a tree.
    func join(_ table: ForwardingTable) {
        forwardingTable.names.leave(names)
        forwardingTable = table
        names = table.names.join()
        temporaryKeys = (0, 0)
    }

    /// Whether there has been no object yet.
    var isUnused: Bool { registry?.isUnused ?? true }

    var objects: [NSManagedObject] { registry?.objects ?? [] }
}

/// Temporary keys.
extension IdentityMap {
    // NB: counts down, process-wide, so that no two unsaved objects of any two contexts have one key. Contexts take keys by the block.
    private static let lastTemporaryKey = Atomic<Int64>(-1)
    private static let keysPerBlock: Int64 = 1024

    @inline(__always) func nextTemporaryKey() -> Int64 {
        if temporaryKeys.next == temporaryKeys.end { reserveTemporaryKeys() }
        temporaryKeys.next -= 1
        return temporaryKeys.next + 1
    }

    /// The key of an object that is in no context, which it keeps in the one that it is inserted into.
    static func temporaryKeyOfUninserted() -> Int64 { lastTemporaryKey.wrappingSubtract(1, ordering: .relaxed).oldValue }

    @inline(never) private func reserveTemporaryKeys() {
        let first = Self.lastTemporaryKey.wrappingSubtract(Self.keysPerBlock, ordering: .relaxed).oldValue
        temporaryKeys = (first, first - Self.keysPerBlock)
        forwardingTable.names.add(first - Self.keysPerBlock + 1...first, to: names)
    }

    /// The keys that are still to be given out.
    var temporaryKeysLeft: ClosedRange<Int64>? {
        temporaryKeys.next > temporaryKeys.end ? temporaryKeys.end + 1...temporaryKeys.next : nil
    }
}

/// The scopes of new objects.
extension IdentityMap {
    /// What an entity was inserted with, which may be another model's; for a search that counts no references.
    private struct RecentScope {
        let entity: ObjectIdentifier
        let reference: Unmanaged<EntityScope>
        private let kept: (NSEntityDescription, EntityScope)

        init(_ entity: NSEntityDescription, _ scope: EntityScope) {
            self.entity = ObjectIdentifier(entity)
            reference = Unmanaged.passUnretained(scope)
            kept = (entity, scope)
        }
    }

    /// The scope that new objects of an entity got before, which the registry keeps.
    @inline(__always) fileprivate func recentScope(of entity: NSEntityDescription) -> Unmanaged<EntityScope>? {
        for index in recentScopes.indices where recentScopes[index].entity == ObjectIdentifier(entity) {
            return recentScopes[index].reference
        }
        return nil
    }

    func noteInsertion(of entity: NSEntityDescription, into scope: EntityScope) {
        recentScopes = [RecentScope(entity, scope)] + recentScopes.prefix(7)
    }
}

extension NSManagedObjectContext {
    /// The scope of new objects of an entity, which the registry keeps.
    @inline(__always) func scopeForInsertion(of entity: NSEntityDescription) -> Unmanaged<EntityScope> {
        checkQueue("init(context:)")
        return identityMap.recentScope(of: entity) ?? Unmanaged.passUnretained(findScopeForInsertion(of: entity))
    }
}

/// The entities of classes.
extension IdentityMap {
    /// Whether the objects of an entity, and of those below it, are known to be of a class.
    func gives(_ type: Any.Type, _ entity: NSEntityDescription) -> Bool {
        guard let checkedResults else { return false }
        return checkedResults.entity === entity && checkedResults.type == ObjectIdentifier(type)
    }

    func note(that entity: NSEntityDescription, gives type: Any.Type) { checkedResults = (ObjectIdentifier(type), entity) }

    private typealias RecentClass = (objectClass: ObjectIdentifier, entity: Unmanaged<NSEntityDescription>)

    @inline(__always) func recentEntity(of objectClass: ObjectIdentifier) -> NSEntityDescription? {
        // What is in this list, `entitiesByClass` keeps.
        for index in recentClasses.indices where recentClasses[index].objectClass == objectClass {
            return recentClasses[index].entity.takeUnretainedValue()
        }
        return nil
    }

    /// - Parameter find: for a class that nobody has asked for yet.
    func entity(of objectClass: ObjectIdentifier, _ find: () -> NSEntityDescription) -> NSEntityDescription {
        let entity = entitiesByClass[objectClass] ?? find()
        entitiesByClass[objectClass] = entity
        recentClasses = [(objectClass, Unmanaged.passUnretained(entity))] + recentClasses.prefix(7)
        return entity
    }
}
