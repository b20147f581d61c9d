/// A kind of object: its name, its class, its properties, and its place in a tree of entities.
///
/// A model owns its entities, an entity its properties and subentities; references that lead upwards are not retained.
///
/// > Concurrency: build a model on one thread; from its first use by a coordinator on, it never changes and any thread may read it.
// Sendable: every setter but the one behind a lock traps once the model is frozen, and freezing happens before the model is shared.
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
    public required override init() {}

    /// The name, unique in the model.
    public var name: String? { willSet { requireEditable() } }
    /// The class of the entity's objects. Setting nil brings back the default, `NSManagedObject`.
    public var managedObjectClassName: String! = NSEntityDescription.defaultClassName {
        willSet { requireEditable() }
        didSet { if managedObjectClassName == nil { managedObjectClassName = Self.defaultClassName } }
    }
    /// Whether the entity has no objects of its own, only those of its subentities.
    public var isAbstract = false { willSet { requireEditable() } }
    /// What the program notes of the entity; empty, not nil, where it has noted nothing. May be changed while the model is in use.
    public var userInfo: [AnyHashable: Any]? {
        get { notes.withLock { $0 } }
        set { notes.withLock { $0 = newValue ?? [:] } }
    }
    private let notes = Lock<[AnyHashable: Any]>([:])
    /// Text that makes the version hash another one, for a change of meaning that the model does not show.
    public var versionHashModifier: String? { willSet { requireEditable() } }

    /// The name that an older version of the model used; the current name unless set.
    public var renamingIdentifier: String? {
        get { explicitRenamingIdentifier ?? name }
        set { explicitRenamingIdentifier = newValue }
    }
    var explicitRenamingIdentifier: String? { willSet { requireEditable() } }

    /// The indexes declared here, without those of superentities; once the model is in use, also those of attributes that say themselves that they
    /// are indexed.
    public var indexes: [NSFetchIndexDescription] = [] {
        willSet { requireEditable() }
        didSet {
            oldValue.forEach { $0.entity = nil }
            indexes.forEach { $0.entity = self }
        }
    }

    /// The names in `uniquenessConstraints`.
    var constraintNames: [[String]] = [] { willSet { requireEditable() } }
    /// The properties declared here, without those of superentities.
    var declaredProperties: [NSPropertyDescription] = [] { willSet { requireEditable() } }
    var ownSubentities: [NSEntityDescription] = [] { willSet { requireEditable() } }
    weak var parent: NSEntityDescription? { willSet { requireEditable() } }
    weak var model: NSManagedObjectModel? { willSet { requireEditable() } }

    /// What follows from the frozen model; nil before.
    private(set) var facts: EntityFacts?

    private let derivation = Lock<AnyObject?>(nil)

    /// What an upper layer derives from the frozen entity: made at first use, kept with the entity, one for all.
    func derived(_ make: (NSEntityDescription) -> AnyObject) -> AnyObject {
        derivation.withLock { derived in
            if let derived { return derived }
            let made = make(self)
            derived = made
            return made
        }
    }

    /// Freezes the entity's model: an object of it is about to exist.
    func prepareForUse() {
        if facts == nil { managedObjectModel.freeze() }
    }

    func freeze(_ facts: EntityFacts) {
        indexes += indexesOfProperties
        declaredProperties.forEach { $0.freeze() }
        indexes.forEach { $0.freeze() }
        self.facts = facts
    }

    /// Those of properties that say themselves that they are indexed, where none that is named here does the same.
    private var indexesOfProperties: [NSFetchIndexDescription] {
        let names = Set(indexes.map(\.name))
        return declaredProperties.filter { property in
            property is NSAttributeDescription && property.isIndexed && !property.isTransient && !indexes.contains { $0.isOver(property) }
        }.map { property in
            let name = names.contains(property.name) ? "\(property.name)_indexed" : property.name
            return NSFetchIndexDescription(
                name: name,
                elements: [NSFetchIndexElementDescription(property: property, collationType: .binary)]
            )
        }
    }

    final func requireEditable() {
        if facts != nil { misuse(frozenSentence("entity \(name ?? "")")) }
    }

    /// An editable copy, together with copies of the subentities, that belongs to no model.
    ///
    /// Relationships between the copied entities lead to the copies, others where the originals lead.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copies = EntityCopies(of: [self] + subentitiesOfAllLevels)
        return copies[self] ?? self
    }

    private static let defaultClassName = "NSManagedObject"

    open override var description: String { "\(type(of: self)) \(name ?? "")" }

    /// Entities are equal when they say the same of what is stored and of the class of their objects: name, class and version hash.
    ///
    /// - Complexity: O(1) in frozen models, else O(properties).
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityDescription else { return false }
        return self === other
            || (name == other.name && managedObjectClassName == other.managedObjectClassName && versionHash == other.versionHash)
    }
    open override var hash: Int { name.hashValue }
}
