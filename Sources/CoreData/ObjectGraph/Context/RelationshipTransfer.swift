import Foundation

/// Moves what refers to one object over to another, which takes its part.
struct RelationshipTransfer {
    private let object: NSManagedObject
    private let survivor: NSManagedObject

    init(from object: NSManagedObject, to survivor: NSManagedObject) { (self.object, self.survivor) = (object, survivor) }

    /// Whose own row leads to one of the two.
    var partners: [NSManagedObject] {
        [object, survivor].flatMap { object in
            object.scope.shape.toOnes.enumerated().compactMap { $1?.inverse?.isToMany == false ? object.target($0) : nil }
        }
    }

    /// Moves all relationships that have an inverse.
    ///
    /// - Parameters:
    ///   - takesTargets: whether the survivor refers to what the object refers to, rather than to what it referred to itself.
    ///   - all: whether that holds for relationships too that lead nowhere.
    func moveAll(takingTargets takesTargets: Bool, all: Bool) {
        let shape = object.scope.shape
        for index in shape.toManys.indices { moveMembers(index, shape.toManys[index], takesTargets) }
        for (slot, relationship) in shape.toOnes.enumerated() {
            if let relationship { moveTarget(slot, relationship, takesTargets, all) }
        }
    }

    private func moveMembers(_ index: Int, _ relationship: NSRelationshipDescription, _ takesTargets: Bool) {
        guard relationship.inverse != nil || takesTargets else { return }
        // A new object that nobody has put anything into has nothing to read.
        if object.state.contains(.inserted), object.existingContents(index) == nil { return }
        let members = object.members(of: index)
        for member in members.reversed() { object.removeMember(member, from: index) }
        guard case .toMany(let target, let own)? = survivor.scope.shape.properties[relationship.name], isSame(own, relationship) else {
            return
        }
        for member in members where !member.state.contains(.deleted) {
            survivor.addMember(member === object ? survivor : member, to: target)
        }
    }

    private func moveTarget(_ slot: Int, _ relationship: NSRelationshipDescription, _ takesTargets: Bool, _ all: Bool) {
        let target = object.target(slot)
        guard case .toOne(let other, let own)? = survivor.scope.shape.properties[relationship.name], isSame(own, relationship) else {
            if target != nil { object.setTarget(nil, slot) }
            return
        }
        guard let target else {
            if takesTargets, all || object.isChanged(slot), !survivor.isNull(other) { survivor.setTarget(nil, other) }
            return
        }
        object.setTarget(nil, slot)
        // A partner that referred to the object refers to the survivor, if that has none.
        let isPartner = relationship.inverse?.isToMany == false
        guard takesTargets || (isPartner && survivor.target(other) == nil), !target.state.contains(.deleted) else { return }
        survivor.setTarget(target === object ? survivor : target, other)
    }

    /// Whether both are one relationship, declared by an entity that both objects are of.
    private func isSame(_ left: NSRelationshipDescription, _ right: NSRelationshipDescription) -> Bool {
        left === right || (left.entity === right.entity && left.name == right.name)
    }

    /// In a context whose saved objects refer to the survivor already: moves only what still refers to the object, which is unsaved. Reads
    /// nothing.
    func moveUnsaved() {
        for (index, relationship) in object.scope.shape.toManys.enumerated() {
            guard let contents = object.existingContents(index), let inverse = relationship.inverse else { continue }
            for member in contents.members?.array ?? contents.added.array {
                guard case .toOne(let slot, _)? = member.scope.shape.properties[inverse.name], !member.state.contains(.deleted),
                    !member.state.contains(.rowless), member.target(slot) === object
                else { continue }
                member.setTarget(survivor, slot)
            }
        }
    }
}
