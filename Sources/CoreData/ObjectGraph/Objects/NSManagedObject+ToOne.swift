import Foundation

/// To-one relationships: a key in the row, an object when it is read, an inverse when it is set.
extension NSManagedObject {
    /// The object at the other end, a fault where nobody has it yet.
    final func target(_ slot: Int) -> NSManagedObject? {
        guard let reference = reference(slot) else { return nil }
        return requiredContext.object(for: reference)
    }

    /// The context, for what only an object in one can do.
    final var requiredContext: NSManagedObjectContext {
        guard let context = registeredContext else {
            fatalError(
                """
                A \(scope.entity.name ?? "?") that is in no context was asked for a related object. Insert it first; and keep the context alive \
                as long as its objects.
                """
            )
        }
        return context
    }

    /// Sets the other end, and the inverse of the old and of the new one.
    final func setTarget(_ target: NSManagedObject?, _ slot: Int) {
        let relationship = toOneRelationship(slot)
        check(target, for: relationship)
        guard let inverse = relationship.inverse else { return writeTarget(target, slot) }
        let old = self.target(slot)
        writeTarget(target, slot)
        guard old !== target else { return }
        old?.unlink(self, along: inverse)
        target?.link(self, along: inverse)
    }

    /// Sets this side only.
    final func writeTarget(_ target: NSManagedObject?, _ slot: Int) {
        // The place in an ordered relationship belongs to the owner: with another one, it is not known yet.
        if let position = scope.shape.positionSlots[slot], forwardedReference(slot) != target?.rowReference { writeNull(position) }
        write(target?.rowReference, slot)
    }

    /// The reference, which may have been written before its target had a permanent ID.
    private func forwardedReference(_ slot: Int) -> RowReference? {
        reference(slot).map { registeredContext?.forwarded($0) ?? $0 }
    }

    private func toOneRelationship(_ slot: Int) -> NSRelationshipDescription {
        // The slot is that of a to-one relationship: callers look it up as one.
        scope.shape.toOnes[slot]!
    }

    final var rowReference: RowReference {
        scopeReference._withUnsafeGuaranteedRef { RowReference(key: key, entity: $0.entityIndex, store: $0.store) }
    }

    final func check(_ target: NSManagedObject?, for relationship: NSRelationshipDescription) {
        guard let target else { return }
        precondition(
            isInSameContext(as: target),
            """
            \(scope.entity.name ?? "?").\(relationship.name) was set to an object of another context. Look it up in this one: \
            context.object(with: other.objectID).
            """
        )
        if let destination = relationship.destination, destination !== target.scope.entity {
            precondition(
                target.scope.entity.isKindOf(entity: destination),
                "\(scope.entity.name ?? "?").\(relationship.name) takes a \(destination.name ?? "?"), not a \(target.scope.entity.name ?? "?")."
            )
        }
    }

    private func isInSameContext(as other: NSManagedObject) -> Bool {
        !state.contains(.detached) && !other.state.contains(.detached) && scope.registry === other.scope.registry && scope.context != nil
    }
}

/// The two halves of keeping an inverse: each changes one side and returns.
extension NSManagedObject {
    /// The other side now refers to `object` along `relationship`, one of this object's.
    final func link(_ object: NSManagedObject, along relationship: NSRelationshipDescription) {
        if let index = relationship.toManyIndex {
            if contents(index).add(object) { noteToManyChange(index) }
        } else if case .toOne(let slot, let relationship)? = scope.shape.places[relationship.name] {
            // A to-one end has one partner: the one it had loses this object.
            let previous = target(slot)
            guard previous !== object else { return }
            writeTarget(object, slot)
            if let inverse = relationship.inverse { previous?.unlink(self, along: inverse) }
        }
    }

    /// The other side no longer refers to `object` along `relationship`, one of this object's.
    final func unlink(_ object: NSManagedObject, along relationship: NSRelationshipDescription) {
        if let index = relationship.toManyIndex {
            if contents(index).remove(object) { noteToManyChange(index) }
        } else if case .toOne(let slot, _)? = scope.shape.places[relationship.name], forwardedReference(slot) == object.rowReference {
            writeTarget(nil, slot)
        }
    }

    /// A to-many relationship changed: the object counts as updated although its row did not change.
    final func noteToManyChange(_ index: Int) {
        noteChange()
        extras.toManysOfEvent.insert(index)
    }
}
