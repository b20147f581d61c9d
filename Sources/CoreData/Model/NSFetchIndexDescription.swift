/// An index that speeds up fetches of an entity.
///
/// Not part of the version hash: adding or removing one needs no migration.
// Sendable: as for NSPropertyDescription.
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        adoptElements()
    }

    public var name: String { willSet { requireEditable() } }
    /// What the index sorts by, the first element first.
    public var elements: [NSFetchIndexElementDescription] {
        willSet { requireEditable() }
        didSet { adoptElements() }
    }
    /// Limits the index to the rows that satisfy it.
    public var partialIndexPredicate: NSPredicate? { willSet { requireEditable() } }
    /// The entity that has this index; nil before it is in an entity's `indexes`.
    public internal(set) weak var entity: NSEntityDescription?

    private var isFrozen = false
    func freeze() {
        isFrozen = true
        elements.forEach { $0.freeze() }
    }

    private func requireEditable() {
        if isFrozen { misuse(frozenSentence("index \(name)")) }
    }

    /// Whether it sorts all rows by a property alone.
    final func isOver(_ property: NSPropertyDescription) -> Bool {
        partialIndexPredicate == nil && elements.map(\.propertyName) == [property.name] && elements[0].collationType == .binary
    }

    private func adoptElements() { elements.forEach { $0.indexDescription = self } }

    /// An editable copy with copies of the elements; they name the same properties.
    open func copy(with zone: NSZone? = nil) -> Any { copy(resolving: { $0 }) }

    func copy(resolving property: (NSPropertyDescription) -> NSPropertyDescription) -> NSFetchIndexDescription {
        let copy = NSFetchIndexDescription(name: name, elements: elements.map { $0.copy(resolving: property) })
        copy.partialIndexPredicate = partialIndexPredicate
        return copy
    }
}

/// How an element of an index is ordered.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// By value.
    case binary = 0
    /// By containment in ranges.
    case rTree = 1
}

/// A property, and the direction in which an index sorts it.
// Sendable: as for NSPropertyDescription.
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
    }

    public let property: NSPropertyDescription?
    public var propertyName: String? { property?.name }
    public var collationType: NSFetchIndexElementType { willSet { requireEditable() } }
    public var isAscending = true { willSet { requireEditable() } }
    public internal(set) weak var indexDescription: NSFetchIndexDescription?

    private var isFrozen = false
    func freeze() { isFrozen = true }

    private func requireEditable() {
        if isFrozen { misuse(frozenSentence("an element of index \(indexDescription?.name ?? "")")) }
    }

    open func copy(with zone: NSZone? = nil) -> Any { copy(resolving: { $0 }) }

    func copy(resolving resolve: (NSPropertyDescription) -> NSPropertyDescription) -> NSFetchIndexElementDescription {
        // The only initialiser asks for a property, so there is one.
        let copy = NSFetchIndexElementDescription(property: resolve(property!), collationType: collationType)
        copy.isAscending = isAscending
        return copy
    }
}
