import Foundation

/// What a frozen entity means for rows and objects: which property is which slot, the defaults, what must not be null.
///
/// One per entity; immutable.
// Immutable after init; the descriptions that it refers to are frozen.
final class EntityShape: @unchecked Sendable {
    /// What a property is, and where its value is.
    enum Property {
        case attribute(slot: Int, NSAttributeDescription)
        case toOne(slot: Int, NSRelationshipDescription)
        case toMany(index: Int, NSRelationshipDescription)
        case transient(NSPropertyDescription)
        case fetched(NSFetchedPropertyDescription)

        /// Whether the store knows it.
        var isStored: Bool {
            switch self {
            case .attribute, .toOne, .toMany: true
            case .transient, .fetched: false
            }
        }
    }

    // The entity owns its shape.
    unowned let entity: NSEntityDescription
    let layout: EntityLayout
    let properties: [String: Property]
    /// By slot; nil for the positions in ordered relationships.
    let attributes: [NSAttributeDescription?]
    /// The slots of attributes.
    let attributeSlots: SlotMask
    /// The slots of derived attributes, whose values are the store's.
    let derivedSlots: SlotMask
    /// The slots that belong to properties: all but the positions in ordered relationships.
    let propertySlots: SlotMask
    let toOnes: [NSRelationshipDescription?]
    /// By slot. Lives as long as the shape.
    // Written once, before the shape is shared.
    nonisolated(unsafe) let toOneLinks: UnsafePointer<ToOneLink>
    /// By slot: for a to-one whose inverse is ordered, the slot of the position.
    let positionSlots: [Int?]
    let hasPositions: Bool
    /// In the order of the entity's `toManyRelationships`, so that a subentity's begin with its parent's.
    let toManys: [NSRelationshipDescription]
    /// Parallel to `toManys`. Lives as long as the shape.
    // As `toOneLinks`.
    nonisolated(unsafe) let toManyLinks: UnsafePointer<ToManyLink>
    /// Null bits that a valid object has clear, in words of 32.
    let mandatoryBits: [UInt32]
    let transientAttributes: [NSAttributeDescription]
    /// Whether a to-many relationship must hold some number of objects.
    var limitsToManys: Bool { toManys.contains { $0.minCount > 0 || $0.maxCount > 0 } }
    /// Stored attributes with validation predicates.
    let restricted: [NSPropertyDescription]
    /// Stored attributes whose values a transformer makes of data.
    let transformables: [(slot: Int, attribute: NSAttributeDescription)]
    /// Whether objects may be merged with others that have the same unique values.
    let hasConstraints: Bool
    /// The row of a new object.
    let defaults: OwnRow
    /// The row of an object without values.
    let emptyRow: OwnRow

    init(_ entity: NSEntityDescription) {
        self.entity = entity
        let stored = Self.storedProperties(of: entity)
        layout = .interned(stored.map { EntityLayout.Slot(name: $0.name, kind: $0.kind) })
        attributes = stored.map { $0.property as? NSAttributeDescription }
        attributeSlots = Self.slots(of: stored) { $0.property is NSAttributeDescription }
        derivedSlots = Self.slots(of: stored) { $0.property is NSDerivedAttributeDescription }
        propertySlots = Self.slots(of: stored) { $0.kind != .position }
        toOnes = stored.map { $0.kind == .reference ? $0.property as? NSRelationshipDescription : nil }
        toManys = entity.toManyRelationships
        positionSlots = Self.positionSlots(in: stored)
        hasPositions = positionSlots.contains { $0 != nil }
        toOneLinks = Self.links(toOnes, positionSlots)
        toManyLinks = Self.links(toManys)
        mandatoryBits = Self.mandatoryBits(of: stored)
        transientAttributes = entity.properties.compactMap { $0 as? NSAttributeDescription }.filter(\.isTransient)
        transformables = stored.enumerated().compactMap { slot, stored in
            guard let attribute = stored.property as? NSAttributeDescription else { return nil }
            return attribute.attributeType == .transformableAttributeType ? (slot, attribute) : nil
        }
        restricted = entity.properties.filter { $0 is NSAttributeDescription && !$0.validationPredicates.isEmpty }
        hasConstraints = ([entity.rootEntity] + entity.rootEntity.allSubentities).contains { !$0.constraintNames.isEmpty }
        emptyRow = .empty(layout)
        defaults = .empty(layout)
        // The version that the store gives a new row.
        EntityLayout.setVersion(defaults.bytes, 1)
        properties = Self.properties(stored, toManys, entity)
        for (slot, attribute) in attributes.enumerated() {
            guard let attribute, let value = attribute.defaultValue else { continue }
            defaults.store(SlotValue(value, for: attribute), at: slot)
        }
    }

    /// A new owner needs a new position, also where there was none before and none is known yet.
    @inline(__always) func addPositions(to slots: inout SlotMask) {
        if !hasPositions { return }
        for case let (reference, position?) in positionSlots.enumerated() where slots.contains(reference) { slots.insert(position) }
    }

    /// Lays the values of some slots over a row. A position in an ordered relationship goes with its owner: with another one, it is not known.
    func assign(_ slots: SlotMask, from source: Row, to row: OwnRow) {
        if hasPositions {
            slots.forEach { slot in
                guard let position = positionSlots[slot], Row(row).reference(slot) != source.reference(slot) else { return }
                row.store(.null, at: position)
            }
        }
        slots.forEach { row.assign($0, from: source) }
    }

    deinit {
        toOneLinks.deallocate()
        toManyLinks.deallocate()
    }

    private static func links(_ toManys: [NSRelationshipDescription]) -> UnsafePointer<ToManyLink> {
        let links = UnsafeMutablePointer<ToManyLink>.allocate(capacity: max(toManys.count, 1))
        links.initialize(from: toManys.map(ToManyLink.init), count: toManys.count)
        return UnsafePointer(links)
    }

    private static func links(_ toOnes: [NSRelationshipDescription?], _ positions: [Int?]) -> UnsafePointer<ToOneLink> {
        let links = UnsafeMutablePointer<ToOneLink>.allocate(capacity: max(toOnes.count, 1))
        for (slot, relationship) in toOnes.enumerated() {
            (links + slot).initialize(to: relationship.map { ToOneLink($0, position: positions[slot]) } ?? .none)
        }
        return UnsafePointer(links)
    }

    func isMandatory(_ slot: Int) -> Bool { mandatoryBits[slot / 32] & (1 << UInt32(slot % 32)) != 0 }

    private struct Stored {
        let name: String
        let kind: SlotKind
        let property: NSPropertyDescription
    }

    /// The properties that have slots, a superentity's first, so that a subentity's slots begin with its parent's.
    private static func storedProperties(of entity: NSEntityDescription) -> [Stored] {
        entity.inheritanceChain.flatMap { level -> [Stored] in
            let properties = level.declaredProperties.filter { !$0.isTransient }.sorted { $0.name < $1.name }
            let stored = properties.compactMap { property in
                slotKind(of: property).map { Stored(name: property.name, kind: $0, property: property) }
            }
            let positions = stored.filter { $0.kind == .reference && hasOrderedInverse($0.property) }
                // No property can have this name: a blank is not allowed in one.
                .map { Stored(name: "\($0.name) position", kind: .position, property: $0.property) }
            return stored + positions
        }
    }

    private static func hasOrderedInverse(_ property: NSPropertyDescription) -> Bool {
        guard let inverse = (property as? NSRelationshipDescription)?.inverseRelationship else { return false }
        return inverse.isToMany && inverse.isOrdered
    }

    private static func slotKind(of property: NSPropertyDescription) -> SlotKind? {
        if let relationship = property as? NSRelationshipDescription { return relationship.isToMany ? nil : .reference }
        guard let attribute = property as? NSAttributeDescription else { return nil }
        switch attribute.attributeType {
        case .integer16AttributeType: return .int16
        case .integer32AttributeType: return .int32
        case .integer64AttributeType: return .int64
        case .booleanAttributeType: return .boolean
        case .floatAttributeType: return .float
        case .doubleAttributeType: return .double
        case .dateAttributeType: return .date
        case .decimalAttributeType: return .decimal
        case .stringAttributeType, .URIAttributeType: return .string
        case .binaryDataAttributeType, .transformableAttributeType: return .binary
        case .UUIDAttributeType: return .uuid
        // Declared, and refused when a store is added; until then an object of such an entity simply lacks the value.
        default: return nil
        }
    }

    private static func positionSlots(in stored: [Stored]) -> [Int?] {
        stored.map { property in
            guard property.kind == .reference else { return nil }
            return stored.firstIndex { $0.kind == .position && $0.property === property.property }
        }
    }

    private static func slots(of stored: [Stored], where isIncluded: (Stored) -> Bool) -> SlotMask {
        var slots = SlotMask()
        for (slot, property) in stored.enumerated() where isIncluded(property) { slots.insert(slot) }
        return slots
    }

    private static func mandatoryBits(of stored: [Stored]) -> [UInt32] {
        var bits = [UInt32](repeating: 0, count: (stored.count + 31) / 32)
        for (slot, property) in stored.enumerated() where property.kind != .position && !property.property.isOptional {
            bits[slot / 32] |= 1 << UInt32(slot % 32)
        }
        return bits
    }

    private static func properties(
        _ stored: [Stored],
        _ toManys: [NSRelationshipDescription],
        _ entity: NSEntityDescription
    ) -> [String: Property] {
        var properties: [String: Property] = [:]
        for (slot, property) in stored.enumerated() where property.kind != .position {
            if let attribute = property.property as? NSAttributeDescription {
                properties[property.name] = .attribute(slot: slot, attribute)
            } else if let relationship = property.property as? NSRelationshipDescription {
                properties[property.name] = .toOne(slot: slot, relationship)
            }
        }
        for (index, relationship) in toManys.enumerated() { properties[relationship.name] = .toMany(index: index, relationship) }
        for property in entity.properties {
            if let fetched = property as? NSFetchedPropertyDescription {
                properties[fetched.name] = .fetched(fetched)
            } else if property.isTransient {
                properties[property.name] = .transient(property)
            }
        }
        return properties
    }
}

extension NSEntityDescription {
    /// What the entity means for rows and objects. Freezes nothing by itself: the model must be frozen.
    var shape: EntityShape {
        // An `EntityShape` is the only thing that is ever derived.
        derived { EntityShape($0) } as! EntityShape
    }
}
