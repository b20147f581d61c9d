import Foundation

/// What hand-written accessors call around the primitive value.
extension NSManagedObject {
    /// Announces that a property is about to be read: fires a fault. With nil, fires it whatever is read.
    public final func willAccessValue(forKey key: String?) {
        checkReading()
        guard state.contains(.fault) else { return }
        switch key.flatMap({ scope.shape.properties[$0] }) {
        case .attribute(let slot, _), .toOne(let slot, _): fire(toRead: slot)
        default: fire()
        }
    }

    /// Announces that a property has been read.
    public final func didAccessValue(forKey key: String?) {}

    /// Announces that a property is about to be set with `setPrimitiveValue(_:forKey:)`.
    ///
    /// For a property of the class that is not in the model this does nothing, unless `contextShouldIgnoreUnmodeledPropertyChanges` is false:
    /// then the object counts as changed.
    public final func willChangeValue(forKey key: String) {
        guard let property = scope.shape.properties[key] else { return noteUnmodelledChange() }
        checkQueue()
        fireToWrite()
        switch property {
        case .toOne(let slot, _): extras.valuesBeforeChange[key] = target(slot) ?? NSNull()
        case .toMany(let index, _): extras.valuesBeforeChange[key] = members(of: index)
        default: break
        }
        // The row as it is now becomes the base of the change.
        if !state.contains(.ownRow) || state.contains(.sharedRow) { takeOwnRow() }
        noteChange()
    }

    /// Announces that a property has been set: the object counts as changed, and inverses follow.
    public final func didChangeValue(forKey key: String) {
        guard let property = scope.shape.properties[key] else { return }
        checkQueue()
        let before = existingExtras?.valuesBeforeChange.removeValue(forKey: key)
        switch property {
        case .attribute(let slot, _): noteSlotChange(slot)
        case .toOne(let slot, let relationship):
            noteSlotChange(slot)
            let (old, new) = (before as? NSManagedObject, target(slot))
            guard old !== new, let inverse = followedInverse(of: relationship) else { return }
            old?.unlink(self, along: inverse)
            new?.link(self, along: inverse)
        case .toMany(let index, let relationship):
            noteToManyChange(index)
            guard let inverse = followedInverse(of: relationship) else { return }
            let (old, new) = (MemberList(before as? [NSManagedObject] ?? []), MemberList(members(of: index)))
            old.forEach { if !new.contains($0) { $0.unlink(self, along: inverse) } }
            new.forEach { if !old.contains($0) { $0.link(self, along: inverse) } }
        case .transient, .fetched: break
        }
    }

    private func noteUnmodelledChange() {
        checkQueue()
        if type(of: self).contextShouldIgnoreUnmodeledPropertyChanges { return }
        if state.contains(.fault) { fire() }
        noteChange()
    }

    private func noteSlotChange(_ slot: Int) {
        existingExtras?.quietChanges.remove(slot)
        mark(slot)
    }
}
