import Foundation

/// To-one relationships: a key in the row, an object when it is read, an inverse when it is set.
extension NSManagedObject {
    /// The object at the other end, a fault where nobody has it yet.
    final func target(_ slot: Int) -> NSManagedObject? {
        guard let reference = reference(slot) else { return uninsertedTarget(slot) }
        let target = related(reference)
        if let target, target.state.contains(.rowless) { noteUnread(slot) }
        return target
    }

    /// The target is read with those of the neighbours, if it is used.
    @inline(never) private func noteUnread(_ slot: Int) {
        if !state.contains(.ownRow), batch.count > 1 { registeredContext?.readAhead.note(batch, slot) }
    }

    /// The object of a reference in the row. For one that has left its context: where the other is still in it.
    final func related(_ reference: RowReference) -> NSManagedObject? {
        if let context = registeredContext { return context.object(for: reference) }
        guard let context = withScope({ $0.context }), context.isUsableHere else { return nil }
        return context.registeredObject(for: reference)
    }

    /// Whether the object was in a context once, and is in none now: what it refers to has nothing to do with it any more.
    final var isAbandoned: Bool { registeredContext == nil && !isUninserted }

    /// Sets the other end, and the inverse of the old and of the new one.
    final func setTarget(_ target: NSManagedObject?, _ slot: Int) {
        checkQueue()
        let link = withScope { $0.toOneLinks[slot] }
        if let target, !isLinkable(target, link), !admit(target, to: toOneRelationship(slot)) { return setTarget(nil, slot) }
        // Without an end in a context, and while values come in, only this side is set.
        guard link.hasInverse, !state.contains(.loading), !isAbandoned else { return writeTarget(target, slot) }
        let old = self.target(slot)
        guard old !== target else { return noteUnchangedTarget(slot) }
        writeTarget(target, slot)
        if link.inverseToMany < 0 { return relink(old, target, slot) }
        old?.unlinkMember(self, Int(link.inverseToMany))
        target?.linkMember(self, Int(link.inverseToMany))
    }

    /// The object counts as updated, as after any setter; but a relationship that stays as it was follows later changes from above.
    ///
    /// Of a new object it counts as set: an upsert writes it, as everything that a setter wrote.
    private func noteUnchangedTarget(_ slot: Int) {
        if state.contains(.fault) { fire() }
        if state.contains(.inserted) {
            var slots = changedSlots
            slots.insert(slot)
            setChangedSlots(slots)
        }
        noteChange()
    }

    /// Whether `check` has nothing to say.
    @inline(__always) private func isLinkable(_ target: NSManagedObject, _ link: ToOneLink) -> Bool {
        state.union(target.state).isDisjoint(with: .detached)
            && withScope(\.registryIdentity) == target.withScope(\.registryIdentity)
            && target.withScope { link.destination.contains($0.entityIndex) }
    }

    private func relink(_ old: NSManagedObject?, _ target: NSManagedObject?, _ slot: Int) {
        guard let inverse = toOneRelationship(slot).inverse else { return }
        old?.leave(self, along: inverse)
        target?.link(self, along: inverse)
    }

    /// Sets this side only.
    final func writeTarget(_ target: NSManagedObject?, _ slot: Int) {
        if isUninserted { return keepTarget(target, slot) }
        let position = withScope { Int($0.toOneLinks[slot].position) }
        // The position in an ordered relationship belongs to the owner: with another one, it is not known yet.
        if position >= 0, !isNull(position), forwardedReference(slot) != target?.rowReference { writeNull(position) }
        write(target?.rowReference, slot)
    }

    /// The reference, which may have been written before its target had a permanent ID.
    func forwardedReference(_ slot: Int) -> RowReference? {
        reference(slot).map { registeredContext?.forwarded($0) ?? $0 }
    }

    private func toOneRelationship(_ slot: Int) -> NSRelationshipDescription {
        // The slot is that of a to-one relationship: callers look it up as one.
        scope.shape.toOnes[slot]!
    }

    final var rowReference: RowReference {
        withScope { RowReference(key: key, entity: $0.entityIndex, store: $0.store) }
    }

    /// Lets an object into a relationship. Where one of the two was never inserted, it is inserted into the context of the other.
    ///
    /// - Returns: false where the context has lost one of the two with a save that was refused: as that loses every reference to it. It may have
    ///   been there when the program's block began.
    final func admit(_ target: NSManagedObject, to relationship: NSRelationshipDescription) -> Bool {
        if state.union(target.state).contains(.returned) { return false }
        meet(target)
        precondition(
            isInSameContext(as: target),
            """
            \(scope.entity.name ?? "?").\(relationship.name) was set to an object of another context, or one that was deleted. Look it up in \
            this one: context.object(with: other.objectID).
            """
        )
        if let destination = relationship.destination, destination !== target.scope.entity {
            precondition(
                target.scope.entity.isKindOf(entity: destination),
                "\(scope.entity.name ?? "?").\(relationship.name) takes \((destination.name ?? "?").withArticle), not \((target.scope.entity.name ?? "?").withArticle)."
            )
        }
        return true
    }

    private func isInSameContext(as other: NSManagedObject) -> Bool {
        if isUninserted, other.isUninserted { return true }
        return !state.contains(.detached) && !other.state.contains(.detached) && scope.registry === other.scope.registry
            && scope.context != nil
    }
}

/// The two halves of keeping an inverse: each changes one side and returns.
extension NSManagedObject {
    /// The other side now refers to `object` along `relationship`, one of this object's.
    final func link(_ object: NSManagedObject, along relationship: NSRelationshipDescription) {
        if let index = relationship.toManyIndex {
            linkMember(object, index)
            guard relationship.inverse?.isToMany == true else { return }
            // Either end may be forgotten, or never be read: a delete finds who has the object among his members nevertheless.
            state.insert(.readAsMember)
            object.state.insert(.readAsMember)
        } else if case .toOne(let slot, let relationship)? = scope.shape.properties[relationship.name] {
            // A to-one end has one partner: the one it had loses this object.
            let previous = target(slot)
            guard previous !== object else { return restateTarget(slot, isDenied: object.knowsMembers(of: relationship.inverse)) }
            writeTarget(object, slot)
            carryDeletesAlong(object)
            if let inverse = relationship.inverse { previous?.leave(self, along: inverse) }
        }
    }

    /// The other side no longer refers to `object` along `relationship`, one of this object's. False where a to-one relationship did not.
    @discardableResult final func unlink(_ object: NSManagedObject, along relationship: NSRelationshipDescription) -> Bool {
        if let index = relationship.toManyIndex {
            unlinkMember(object, index)
        } else if case .toOne(let slot, _)? = scope.shape.properties[relationship.name] {
            guard refers(to: object, slot) else { return false }
            writeTarget(nil, slot)
        }
        return true
    }

    /// As `unlink`, of a member whose owner did have it.
    final func leaveOwner(_ owner: NSManagedObject, along relationship: NSRelationshipDescription) {
        if unlink(owner, along: relationship) || !state.isDisjoint(with: [.inserted, .deleted, .detached]) || isUninserted { return }
        if case .toOne(let slot, _)? = scope.shape.properties[relationship.name] { restateTarget(slot, isDenied: true) }
    }

    /// This end of a relationship is as it should be, which the other end was not: one of the two is out of date, and both are to be as they are from
    /// now on. Where the other end was not read, nobody has said otherwise: only a store finds out, and no parent is told.
    private func restateTarget(_ slot: Int, isDenied: Bool) {
        guard !isUninserted, let context = registeredContext else { return }
        write(reference(slot), slot)
        if isDenied || context.parentSource.isStoreSide { context.noteDisagreement(of: self) }
    }

    /// Whether the objects at the other end are known. True of a to-one relationship, whose row has been read.
    private func knowsMembers(of relationship: NSRelationshipDescription?) -> Bool {
        guard let index = relationship?.toManyIndex else { return true }
        return existingContents(index)?.members != nil
    }

    /// As `unlink`, of one end of a one-to-one relationship whose other end says that there was one. A parent knows no more than this end does.
    fileprivate func leave(_ object: NSManagedObject, along relationship: NSRelationshipDescription) {
        guard !unlink(object, along: relationship), let context = registeredContext else { return }
        guard !context.parentSource.isStoreSide, case .toOne(let slot, _)? = scope.shape.properties[relationship.name] else {
            return context.noteDisagreement(of: self)
        }
        restateTarget(slot, isDenied: true)
    }

    /// Whether this end of a one-to-one relationship was set here, and not to `object`.
    final func hasLeft(_ object: NSManagedObject, along relationship: NSRelationshipDescription) -> Bool {
        guard case .toOne(let slot, _)? = scope.shape.properties[relationship.name], !state.contains(.rowless) else { return false }
        return isChanged(slot) && !refers(to: object, slot)
    }

    /// As `hasLeft`, where it does not lead again to whom its row says: such an edit came to nothing, and what others have saved counts.
    final func hasGoneElsewhere(than object: NSManagedObject, along relationship: NSRelationshipDescription) -> Bool {
        guard hasLeft(object, along: relationship), case .toOne(let slot, _)? = scope.shape.properties[relationship.name]
        else { return false }
        return committedRow.map { !currentRow.equals($0, at: slot) } ?? true
    }

    /// Whether a to-one relationship leads to where the committed row says.
    final func leadsAsRead(_ relationship: NSRelationshipDescription) -> Bool {
        guard case .toOne(let slot, _)? = scope.shape.properties[relationship.name], let committed = committedRow else { return false }
        return currentRow.equals(committed, at: slot)
    }

    /// Whether a to-one relationship of this object, which is read for it, leads elsewhere than to `object`, or nowhere.
    final func refersElsewhere(than object: NSManagedObject, along relationship: NSRelationshipDescription) -> Bool {
        guard case .toOne(let slot, _)? = scope.shape.properties[relationship.name] else { return false }
        return !refers(to: object, slot)
    }

    private func refers(to object: NSManagedObject, _ slot: Int) -> Bool {
        isUninserted ? uninsertedTarget(slot) === object : forwardedReference(slot) == object.rowReference
    }

    /// Whether this object is known to refer to `object` along `relationship`, one of its own. Reads nothing.
    final func isLinked(to object: NSManagedObject, along relationship: NSRelationshipDescription) -> Bool {
        if let index = relationship.toManyIndex {
            guard let contents = existingContents(index) else { return false }
            return (contents.members ?? contents.added).contains(object)
        }
        guard !state.contains(.rowless), case .toOne(let slot, _)? = scope.shape.properties[relationship.name],
            let reference = currentRow.reference(slot)
        else { return false }
        return (registeredContext?.forwarded(reference) ?? reference) == object.rowReference
    }

    @inline(__always) final func linkMember(_ object: NSManagedObject, _ index: Int) {
        guard contents(index).add(object) else { return restate(object, index, isIn: true) }
        noteToManyChange(index)
        carryDeletesAlong(object)
    }

    /// The other end of a many-to-many relationship was changed, and this one, which is the one that is saved, is as it should be: what has been
    /// read of it is out of date.
    @inline(never) private func restate(_ object: NSManagedObject, _ index: Int, isIn: Bool) {
        if toManyLink(index).writesLinks, contents(index).restate(object, isIn: isIn) { noteToManyChange(index) }
    }

    /// A delete that has been carried along relationships already has not seen one that is made now.
    @inline(__always) final func carryDeletesAlong(_ other: NSManagedObject) {
        if state.union(other.state).isDisjoint(with: .propagated) { return }
        carryDeletesAgain(other)
    }

    @inline(never) private func carryDeletesAgain(_ other: NSManagedObject) {
        for object in [self, other] where object.state.contains(.propagated) { registeredContext?.propagateAgain(object) }
    }

    @inline(__always) final func unlinkMember(_ object: NSManagedObject, _ index: Int) {
        guard contents(index).remove(object) else {
            // Of one that no store has there is nothing to take out.
            if object.state.isDisjoint(with: [.inserted, .rowGone]) { restate(object, index, isIn: false) }
            return
        }
        noteToManyChange(index)
    }

    /// A to-many relationship changed: the object counts as updated although its row did not change.
    final func noteToManyChange(_ index: Int) {
        noteChange()
        extras.toManysOfEvent.insert(index)
        // A child that has saved it knows it otherwise.
        if state.intersection([.inserted, .sharedRow, .insertedNow]) == [.inserted, .sharedRow] { state.insert(.amended) }
    }
}
