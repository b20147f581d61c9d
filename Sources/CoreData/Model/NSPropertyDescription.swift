/// What attributes, relationships, fetched properties and expressions have in common.
///
/// An entity owns its properties; a property refers back to the entity that declares it.
///
/// > Concurrency: build a model on one thread; from its first use by a coordinator on, it never changes and any thread may read it.
// Sendable: every setter but the one behind a lock traps once the model is frozen, and freezing happens before the model is shared.
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
    public required override init() {}

    /// The name, unique among the properties of the entity and of its superentities.
    public var name = "" { willSet { requireEditable() } }
    /// Whether nil is valid at a save. True unless set.
    public var isOptional = true { willSet { requireEditable() } }
    /// Whether the property is left out of the store. Changes of it are tracked and validated like others.
    public var isTransient = false { willSet { requireEditable() } }
    /// Whether an index of its own speeds up fetches by the property. On a Mac deprecated for `NSEntityDescription.indexes`, which says more; an index
    /// that stands there takes the place of this one. Of properties that are in the store, but for to-many relationships, which need none.
    public var isIndexed = false { willSet { requireEditable() } }
    /// Kept, and without effect: there is no Spotlight.
    public var isIndexedBySpotlight = false { willSet { requireEditable() } }
    /// What the program notes of the property; empty, not nil, where it has noted nothing. May be changed while the model is in use.
    public var userInfo: [AnyHashable: Any]? {
        get { notes.withLock { $0 } }
        set { notes.withLock { $0 = newValue ?? [:] } }
    }
    private let notes = Lock<[AnyHashable: Any]>([:])
    /// Text that makes the version hash another one, for a change of meaning that the model does not show.
    public var versionHashModifier: String? { willSet { requireEditable() } }

    /// The name that an older version of the model used; the current name unless set.
    public var renamingIdentifier: String? {
        get { explicitRenamingIdentifier ?? (name.isEmpty ? nil : name) }
        set { explicitRenamingIdentifier = newValue }
    }
    private var explicitRenamingIdentifier: String? { willSet { requireEditable() } }

    public private(set) var validationPredicates: [NSPredicate] = []
    /// What goes with each predicate: a text, or an error code as text.
    public private(set) var validationWarnings: [Any] = []

    /// Sets the predicates that a value must satisfy, and a warning for each.
    ///
    /// - Precondition: as many warnings as predicates, and the model is not frozen.
    public func setValidationPredicates(_ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?) {
        requireEditable()
        let predicates = validationPredicates ?? []
        let warnings = validationWarnings ?? []
        guard predicates.count == warnings.count else {
            misuse("\(path) gets \(predicates.count) predicates but \(warnings.count) warnings: give one warning for each predicate.")
        }
        self.validationPredicates = predicates
        self.validationWarnings = warnings
    }

    /// The entity that declares this property.
    ///
    /// - Precondition: the property has been put into an entity's `properties`.
    public var entity: NSEntityDescription {
        guard let owner else { misuse("Property \(name) belongs to no entity yet: add it to an entity's properties first.") }
        return owner
    }

    /// The declaring entity, nil before there is one.
    weak var owner: NSEntityDescription?

    /// 32 bytes that change whenever the property's stored form does.
    public var versionHash: Data { Data(hashBytes) }

    /// The input of `versionHash`'s owner: overridden by the kinds of property that are stored.
    var hashBytes: [UInt8] { VersionHash.base(of: self) }

    private(set) var isFrozen = false
    func freeze() { isFrozen = true }

    final func requireEditable() {
        if isFrozen { misuse(frozenSentence("property \(path)")) }
    }

    /// `Entity.property`, for messages.
    final var path: String { (owner?.name).map { "\($0).\(name)" } ?? name }

    /// An editable copy that belongs to no entity. A relationship's copy has the same destination and inverse.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).init()
        copy.takeState(of: self)
        return copy
    }

    /// Overridden by each kind of property to copy what it adds.
    func takeState(of other: NSPropertyDescription) {
        name = other.name
        isOptional = other.isOptional
        isTransient = other.isTransient
        isIndexed = other.isIndexed
        isIndexedBySpotlight = other.isIndexedBySpotlight
        userInfo = other.userInfo
        versionHashModifier = other.versionHashModifier
        explicitRenamingIdentifier = other.explicitRenamingIdentifier
        validationPredicates = other.validationPredicates
        validationWarnings = other.validationWarnings
    }

    open override var description: String { "\(type(of: self)) \(path)" }

    /// Properties are equal when they are of one kind and say the same of what is stored: name and version hash. A copy is equal to its original.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyDescription else { return false }
        return self === other || (type(of: self) == type(of: other) && name == other.name && saysTheSame(as: other))
    }
    open override var hash: Int { name.hashValue }

    /// Overridden where the version hash does not cover what the property is.
    func saysTheSame(as other: NSPropertyDescription) -> Bool { hashBytes == other.hashBytes }
}

func frozenSentence(_ what: String) -> String {
    "The model is in use by a coordinator, so \(what) cannot be changed: copy the model, change the copy and make a new coordinator with it."
}
