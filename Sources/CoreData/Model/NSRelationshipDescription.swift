/// What deleting an object does to the objects at the other end of one of its relationships.
public enum NSDeleteRule: UInt, Sendable {
    /// Nothing; the other end keeps pointing at what is no more.
    case noActionDeleteRule = 0
    /// The other end no longer points here.
    case nullifyDeleteRule = 1
    /// The objects at the other end are deleted too.
    case cascadeDeleteRule = 2
    /// The object cannot be deleted while there is an object at the other end.
    case denyDeleteRule = 3
}

/// References from the objects of one entity to those of another.
// Sendable: as for NSPropertyDescription.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    /// The entity of the objects at the other end. Not retained: the model owns it.
    public weak var destinationEntity: NSEntityDescription? { willSet { requireEditable() } }
    /// The relationship that leads back, which must name this one as its own inverse. Not retained.
    public weak var inverseRelationship: NSRelationshipDescription? { willSet { requireEditable() } }
    /// The most objects allowed: 1 makes a to-one relationship, 0 (the default) sets no limit.
    public var maxCount = 0 { willSet { requireEditable() } }
    /// The fewest objects allowed where there are any.
    public var minCount = 0 { willSet { requireEditable() } }
    public var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { requireEditable() } }
    public var isOrdered = false { willSet { requireEditable() } }
    public var isToMany: Bool { maxCount != 1 }

    /// `destinationEntity` of a frozen model, without the cost of a weak load.
    // A frozen model has one for each relationship; unowned because the model owns the entities.
    private(set) unowned var destination: NSEntityDescription!
    /// `inverseRelationship` of a frozen model, without the cost of a weak load.
    private(set) unowned var inverse: NSRelationshipDescription?
    /// In a frozen model, the index among the `toManyRelationships` of the entity and of all that inherit from it; nil for a to-one and for
    /// a transient one.
    var toManyIndex: Int?

    override func freeze() {
        super.freeze()
        destination = destinationEntity
        inverse = inverseRelationship
    }

    override var hashBytes: [UInt8] { VersionHash.relationship(self) }

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        guard let other = other as? NSRelationshipDescription else { return }
        destinationEntity = other.destinationEntity
        inverseRelationship = other.inverseRelationship
        maxCount = other.maxCount
        minCount = other.minCount
        deleteRule = other.deleteRule
        isOrdered = other.isOrdered
    }
}
