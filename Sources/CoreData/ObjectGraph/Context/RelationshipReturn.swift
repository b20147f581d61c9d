/// The relationships of an object whose delete is taken back after it was carried along them: who was led away leads to it again, unless
/// somebody has given him another partner since, or has deleted him.
struct RelationshipReturn {
    private let object: NSManagedObject

    init(of object: NSManagedObject) { self.object = object }

    func run() {
        let shape = object.scope.shape
        for case let (slot, relationship?) in shape.toOnes.enumerated() { goBack(to: object.target(slot), slot, relationship) }
        for (index, relationship) in shape.toManys.enumerated() {
            guard let inverse = relationship.inverse, let members = object.existingContents(index)?.members?.array else { continue }
            for member in members where !comesBack(member, along: inverse) { object.unlinkMember(member, index) }
            // Members have lost their positions with their owner.
            if relationship.isOrdered { object.restorePositions(index) }
        }
    }

    private func goBack(to target: NSManagedObject?, _ slot: Int, _ relationship: NSRelationshipDescription) {
        guard let target else { return }
        if target.state.contains(.deleted) { return object.writeTarget(nil, slot) }
        guard let inverse = relationship.inverse else { return }
        if let index = inverse.toManyIndex {
            target.linkMember(object, index)
        } else if !comesBack(target, along: inverse) {
            object.writeTarget(nil, slot)
        }
    }

    /// Lets the other end lead to the object again; false where that is another's by now.
    private func comesBack(_ other: NSManagedObject, along inverse: NSRelationshipDescription) -> Bool {
        if other.state.contains(.deleted) { return false }
        if let index = inverse.toManyIndex {
            other.linkMember(object, index)
            return true
        }
        guard case .toOne(let slot, _)? = other.scope.shape.properties[inverse.name] else { return false }
        if let partner = other.target(slot) { return partner === object }
        other.writeTarget(object, slot)
        return true
    }
}
