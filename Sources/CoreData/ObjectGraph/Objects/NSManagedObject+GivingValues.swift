import Foundation

/// Attributes that go from one object to another that takes its part, or back to what they were.
extension NSManagedObject {
    /// The slots of a new object that say something: what was set, and what is not as in every new object.
    final var meaningfulSlots: SlotMask {
        let changed = changedSlots
        let others = withScope { $0.shape.propertySlots.subtracting(changed) }
        // Mostly all were set.
        return others.isEmpty ? changed : changed.union(currentRow.differences(from: Row(scope.shape.defaults), among: others))
    }

    /// Writes the attributes among some slots into another object.
    final func giveAttributes(_ slots: SlotMask, to other: NSManagedObject) {
        let shape = scope.shape
        let attributes = slots.intersection(shape.attributeSlots)
        guard !attributes.isEmpty else { return }
        if other.isFault { other.fire() }
        guard other.scope.shape.layout === shape.layout else { return giveByName(attributes, to: other) }
        if !other.state.contains(.ownRow) || other.state.contains(.sharedRow) { other.takeOwnRow() }
        // Mostly few of them differ.
        shape.assign(currentRow.differences(from: other.currentRow, among: attributes), from: currentRow, to: other.own)
        other.noteChange()
        attributes.forEach(other.mark)
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
}
