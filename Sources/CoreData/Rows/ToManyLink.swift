/// What changing a to-many relationship needs to know of the model, in plain numbers: as for a to-one.
struct ToManyLink {
    let isOrdered: Bool
    /// Whether the owner's side says what the members' rows do not, and is the side that writes it.
    let writesLinks: Bool

    init(_ relationship: NSRelationshipDescription) {
        isOrdered = relationship.isOrdered
        writesLinks = Self.writesLinks(relationship)
    }

    private static func writesLinks(_ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverse else { return true }
        guard inverse.isToMany else { return false }
        // Both sides of a many-to-many know each link; one of them writes it.
        let (own, other) = (relationship.entity, inverse.entity)
        if own.index != other.index { return own.index < other.index }
        return relationship.name <= inverse.name
    }
}
