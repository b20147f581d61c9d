/// The orders that a child has given to the members of relationships.
extension ChangeReception {
    /// Whom the child has led away from its owner and back to it, or to one that has it here already, has no position any more: the orders say where
    /// it is, and a save must write that.
    ///
    /// - Parameter former: what the references of the update were here.
    mutating func noteReturns(of object: NSManagedObject, _ update: ChangeSet.Update, _ former: [(slot: Int, reference: RowReference?)]) {
        let shape = object.scope.shape
        guard shape.hasPositions else { return }
        for case let (slot, position?) in shape.positionSlots.enumerated() {
            guard update.slots.contains(position), update.row.isNull(position), let inverse = shape.toOnes[slot]?.inverse,
                let owner = object.forwardedReference(slot), update.row.reference(slot).map(context.forwarded) == owner,
                former.allSatisfy({ $0.slot != slot || $0.reference.map(context.forwarded) == owner })
            else { continue }
            var changed = object.changedSlots
            changed.insert(slot)
            object.setChangedSlots(changed)
            returned.append((object, inverse, owner))
        }
    }

    func takeOutReturned() { for (object, inverse, owner) in returned { existing(owner)?.unlink(object, along: inverse) } }

    func putInReturned() { for (object, inverse, owner) in returned { existing(owner)?.link(object, along: inverse) } }

    /// Members that were put at the end, in the order in which they were. One that leads elsewhere here was put there later.
    func append(_ order: ChangeSet.OrderChange) {
        guard let (owner, index) = owner(order.owner, order.relationship), let inverse = order.relationship.inverse else { return }
        for member in members(order.members) where !member.state.contains(.deleted) {
            if member.refersElsewhere(than: owner, along: inverse) { continue }
            if owner.contents(index).add(member) { owner.noteToManyChange(index) }
        }
    }

    /// The child's order, for the members that are in here; those that the child did not know stay behind them.
    func arrange(_ order: ChangeSet.OrderChange) {
        guard let (owner, index) = owner(order.owner, order.relationship) else { return }
        let known = owner.realizedContents(index)
        let current = known.members?.array ?? []
        let asked = MemberList(members(order.members))
        let here = MemberList(current)
        let order = asked.array.filter(here.contains) + current.filter { !asked.contains($0) }
        // Members that were only added are in order already.
        guard !order.elementsEqual(current, by: ===) else { return }
        known.reorder(order)
        owner.noteToManyChange(index)
    }
}
