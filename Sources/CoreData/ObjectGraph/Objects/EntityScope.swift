/// The objects of one entity, from one store, in one context: what each of them must know, said once.
@usableFromInline final class EntityScope {
    /// Nil for objects in no context.
    let registry: ObjectRegistry?
    /// Where its objects are listed; nil for objects in no context.
    let identity: IdentityTable?
    /// The coordinator's number of the store; 0 before one is chosen.
    let store: Int32
    let shape: EntityShape
    /// Which registry it is, for a comparison that counts no references.
    let registryIdentity: ObjectIdentifier?
    // The shape keeps it.
    nonisolated(unsafe) let toOneLinks: UnsafePointer<ToOneLink>
    // As above.
    nonisolated(unsafe) let toManyLinks: UnsafePointer<ToManyLink>
    /// The row of a new object, which the shape keeps.
    let defaults: Unmanaged<OwnRow>
    let entity: NSEntityDescription
    /// Objects, and errors about them, may outlive everything else: without its model an entity has lost its relatives.
    private let model: NSManagedObjectModel?
    /// The index of the root entity: keys are unique below it.
    let root: Int
    /// The entity's index in the context's model; negative where it is of another.
    let entityIndex: Int32
    @usableFromInline let layoutID: UInt32
    // Tables of the layout, which is never freed.
    @usableFromInline nonisolated(unsafe) let ownOffsets: UnsafePointer<UInt32>
    @usableFromInline nonisolated(unsafe) let batchOffsets: UnsafePointer<UInt32>
    let objectClass: NSManagedObject.Type
    // NB: not checked for exclusive access: used on the context's queue only.
    @exclusivity(unchecked) private var temporaryIDs: IDSpace?
    /// What the IDs of its saved objects have in common; nil where there is no store.
    private let permanentIDs: IDSpace?
    /// The ID of the one object of this scope, where that ID means nothing in the context.
    let foreignID: NSManagedObjectID?
    /// What the initialiser of an object that a row stands behind is handed.
    let construction: ManagedObjectConstruction
    /// Whether validation is more than mandatory values and numbers: predicates, counts, rules of the class.
    let validatesMore: Bool
    /// The hooks around a save that the class overrides.
    let saveHooks: SaveHooks
    /// Whether a delete has to look at relationships: some delete rule is another than No Action, or Deny.
    let propagatesDeletes: Bool
    let deniesDeletes: Bool
    /// Whether some delete rule leaves the other end as it is.
    let leavesReferences: Bool
    /// Whether objects are told that they were fetched.
    let awakensObjects: Bool

    init(
        registry: ObjectRegistry?,
        identity: IdentityTable?,
        store: Int32,
        shape: EntityShape,
        permanentIDs: IDSpace? = nil,
        foreignID: NSManagedObjectID? = nil,
        isOfModel: Bool = true
    ) {
        self.registry = registry
        self.permanentIDs = permanentIDs
        self.foreignID = foreignID
        registryIdentity = registry.map(ObjectIdentifier.init)
        toOneLinks = shape.toOneLinks
        toManyLinks = shape.toManyLinks
        self.identity = identity
        self.store = store
        self.shape = shape
        defaults = Unmanaged.passUnretained(shape.defaults)
        entity = shape.entity
        model = shape.entity.model
        root = shape.entity.rootEntity.index
        entityIndex = isOfModel ? Int32(shape.entity.index) : -1
        layoutID = shape.layout.id
        ownOffsets = shape.layout.ownOffsets
        batchOffsets = shape.layout.batchOffsets
        objectClass = NSManagedObject.objectClass(for: shape.entity)
        construction = ManagedObjectConstruction(entity: shape.entity)
        saveHooks = SaveHooks(of: objectClass)
        validatesMore =
            !shape.restricted.isEmpty || !shape.transformables.isEmpty || shape.limitsToManys
            || OverrideProbe.overridesValidateValue(objectClass)
        let rules = (shape.toManys + shape.toOnes.compactMap { $0 }).map(\.deleteRule)
        propagatesDeletes = foreignID == nil && rules.contains { $0 != .noActionDeleteRule }
        deniesDeletes = foreignID == nil && rules.contains(.denyDeleteRule)
        awakensObjects = registry?.awakensObjects ?? true
        leavesReferences = rules.contains { $0 == .noActionDeleteRule || $0 == .denyDeleteRule }
    }

    var context: NSManagedObjectContext? { registry?.context }

    /// Whether IDs of that space are those of the scope's own saved objects.
    @inline(__always) func hasPermanent(_ space: IDSpace) -> Bool { permanentIDs === space }

    /// Whether the one object of this scope is of no store that the context has.
    @inline(__always) var isForeign: Bool { foreignID != nil }

    /// What the IDs of the scope's objects have in common.
    func ids(temporary: Bool) -> IDSpace { temporary ? idsOfUnsaved : permanentIDs ?? IDSpace(entity, home: nil) }

    private var idsOfUnsaved: IDSpace {
        if let temporaryIDs { return temporaryIDs }
        let made = newIDsOfUnsaved
        temporaryIDs = made
        return made
    }

    /// For use on any thread.
    func unkeptIDs(temporary: Bool) -> IDSpace { temporary ? newIDsOfUnsaved : ids(temporary: false) }

    private var newIDsOfUnsaved: IDSpace { IDSpace(entity, home: nil, tree: context?.identityMap.forwardingTable) }
}

/// Hooks around a save: what no class of a context overrides need not be called on each of its objects.
struct SaveHooks: OptionSet {
    let rawValue: UInt8

    static let willSave = Self(rawValue: 1)
    static let didSave = Self(rawValue: 1 << 1)
    static let validateForInsert = Self(rawValue: 1 << 2)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(of objectClass: NSManagedObject.Type) {
        self = []
        if OverrideProbe.overridesWillSave(objectClass) { insert(.willSave) }
        if OverrideProbe.overridesDidSave(objectClass) { insert(.didSave) }
        if OverrideProbe.overridesValidateForInsert(objectClass) { insert(.validateForInsert) }
    }
}
