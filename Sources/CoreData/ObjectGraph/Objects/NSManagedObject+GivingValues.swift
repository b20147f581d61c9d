import Foundation

/// Attributes that go from one object to another that takes its part, or back to what they were.
extension NSManagedObject {
    final var allSlots: SlotMask {
        let layout = scope.shape.layout
        var all = SlotMask()
        for slot in 0..<layout.count where layout.kinds[slot] != .position { all.insert(slot) }
        return all
    }

    /// The slots of a new object that say something: what was set, and what is not as in every new object.
    final var meaningfulSlots: SlotMask {
        changedSlots.union(currentRow.differences(from: Row(scope.shape.defaults), among: allSlots))
    }

    /// Writes the attributes among some slots into another object.
    final func giveAttributes(_ slots: SlotMask, to other: NSManagedObject) {
        let shape = scope.shape
        var attributes = SlotMask()
        for slot in shape.attributes.indices where shape.attributes[slot] != nil && slots.contains(slot) { attributes.insert(slot) }
        guard !attributes.isEmpty else { return }
        if other.isFault { other.fire() }
        guard other.scope.shape.layout === shape.layout else { return giveByName(attributes, to: other) }
        if !other.state.contains(.ownRow) || other.state.contains(.sharedRow) { other.takeOwnRow() }
        shape.assign(attributes, from: currentRow, to: other.own)
        other.setChangedSlots(other.changedSlots.union(attributes))
        other.noteChange()
    }

    /// To an object of another entity of the tree, which may lack some of the properties.
    private func giveByName(_ attributes: SlotMask, to other: NSManagedObject) {
        let (own, others) = (scope.shape, other.scope.shape)
        attributes.forEach { slot in
            guard case .attribute(let target, _)? = others.properties[own.layout.slots[slot].name],
                others.layout.kinds[target] == own.layout.kinds[slot]
            else { return }
            other.write(currentRow.value(slot), target)
        }
    }

    /// Gives a property the value that it has in the store; inverses follow.
    final func revert(_ slot: Int, to committed: Row) {
        switch scope.shape.layout.kinds[slot] {
        case .position: break
        case .reference: setTarget(committed.reference(slot).flatMap { registeredContext?.object(for: $0) }, slot)
        default: write(committed.value(slot), slot)
        }
    }

    /// To-many relationships have the members that they have in the store; inverses follow.
    final func revertMembers() {
        forEachChangedToMany { index, contents in
            let (added, removed) = (contents.added.array, contents.removed.array)
            for member in added { removeMember(member, from: index) }
            for member in removed { addMember(member, to: index) }
        }
    }
}
