/// What setting a to-one relationship needs to know of the model, in plain numbers: descriptions are shared by many, and counting
/// references to them costs more than the rest of a setter.
struct ToOneLink {
    /// The entities that a target may be of, by index.
    let destination: Range<Int32>
    /// The inverse's index among the target's to-many relationships; negative where the inverse is none.
    let inverseToMany: Int32
    let hasInverse: Bool
    /// The slot of the position in the inverse's order; negative without one.
    let position: Int32

    /// A slot that is no to-one.
    static let none = ToOneLink(destination: 0..<0, inverseToMany: -1, hasInverse: false, position: -1)

    init(destination: Range<Int32>, inverseToMany: Int32, hasInverse: Bool, position: Int32) {
        (self.destination, self.inverseToMany, self.hasInverse, self.position) = (destination, inverseToMany, hasInverse, position)
    }

    init(_ relationship: NSRelationshipDescription, position: Int?) {
        let subtree = relationship.destination.map { Int32($0.subtree.lowerBound)..<Int32($0.subtree.upperBound) }
        let inverse = relationship.inverse
        self.init(
            destination: subtree ?? 0..<0,
            inverseToMany: Int32(inverse?.toManyIndex ?? -1),
            hasInverse: inverse != nil,
            position: Int32(position ?? -1)
        )
    }
}
