/// To-many relationships: members, orders and positions.
extension ChangeFreezer {
    mutating func noteToManys(of object: NSManagedObject) {
        guard object.state.contains(.extras) else { return }
        if isForStores { noteChangedToManys(of: object) } else { noteTransients(of: object) }
        object.forEachChangedToMany { index, contents in
            let link = object.toManyLink(index)
            if link.isOrdered, !object.state.contains(.deleted) { noteOrder(of: object, contents) }
            let relationship = object.scope.shape.toManys[index]
            if link.writesLinks {
                noteLinks(object, relationship, contents)
            } else if contents.hasUnplacedAdditions, !object.state.contains(.deleted), relationship.inverse?.isToMany == true {
                note(relationship, object, added: contents.added.array, removed: [])
            }
        }
    }

    private mutating func noteChangedToManys(of object: NSManagedObject) {
        guard object.state.isDisjoint(with: [.inserted, .deleted]), object.key > 0 else { return }
        var relationships = SlotMask()
        object.forEachChangedToMany { index, _ in relationships.insert(index) }
        if relationships.isEmpty { return }
        changes.changedToManys.append(ChangeSet.ToManyChange(owner: object.rowReference, relationships: relationships))
    }

    private mutating func noteTransients(of object: NSManagedObject) {
        guard let extras = object.existingExtras, !extras.transientsBefore.isEmpty, !object.state.contains(.deleted) else { return }
        let values = extras.transients.filter { extras.transientsBefore[$0.key] != nil }
        changes.transients.append(ChangeSet.TransientChange(object: object.rowReference, values: values))
    }

    private mutating func noteOrder(of owner: NSManagedObject, _ contents: ToManyContents) {
        if isForStores { assignPositions(of: owner, contents) }
        if tellsOrders { noteWholeOrder(of: owner, contents) }
    }

    private mutating func noteLinks(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription, _ contents: ToManyContents) {
        let added = owner.state.contains(.deleted) ? [] : (contents.ownerIsNew ? contents.members?.array ?? [] : contents.added.array)
        // Where there is no order here, who was taken out and put in again just stays in: its place in the other end's order is there.
        let removed = contents.removed.array.filter { relationship.isOrdered || !contents.added.contains($0) }
        guard isForStores, relationship.isOrdered, relationship.inverse === relationship else {
            return note(relationship, owner, added: added.filter { !isPlaced($0, with: owner, relationship) }, removed: removed)
        }
        let links = added.filter { !$0.state.contains(.deleted) }.map(\.rowReference)
        notePairs(of: relationship) { $0.addNew(links, of: owner.rowReference) }
        note(relationship, owner, added: [], removed: removed)
    }

    /// Whether a member's own end writes the pair: what was added to an order that nobody has read comes at its end, one after the other.
    private func isPlaced(_ member: NSManagedObject, with owner: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverse, inverse.isOrdered, inverse !== relationship,
            !member.state.isDisjoint(with: .pending), !member.state.contains(.deleted),
            let contents = inverse.toManyIndex.flatMap(member.existingContents)
        else { return false }
        return contents.hasUnplacedAdditions && contents.added.contains(owner)
    }

    private mutating func note(
        _ relationship: NSRelationshipDescription,
        _ owner: NSManagedObject,
        added: [NSManagedObject],
        removed: [NSManagedObject]
    ) {
        let added = added.filter { !$0.state.contains(.deleted) }.map(\.rowReference)
        guard !added.isEmpty || !removed.isEmpty else { return }
        changes.links.append(
            ChangeSet.LinkChange(relationship: relationship, owner: owner.rowReference, added: added, removed: removed.map(\.rowReference))
        )
    }

    /// Both ends of a pair share one position: in which order pairs are added is known once all ends are.
    private mutating func notePairs(of relationship: NSRelationshipDescription, _ note: (inout PairOrder) -> Void) {
        note(&pairOrders[ObjectIdentifier(relationship), default: PairOrder(relationship)])
    }

    /// The order as a context takes it, and who keeps no positions.
    private mutating func noteWholeOrder(of owner: NSManagedObject, _ contents: ToManyContents) {
        let relationship = owner.scope.shape.toManys[contents.index]
        // Without a to-one inverse the order of the additions is that of the links.
        let isWhole = contents.isReordered || relationship.inverse?.isToMany != false
        let members = isWhole ? contents.members : contents.ownerIsNew ? contents.members : contents.added
        guard let members, !members.isEmpty else { return }
        changes.orders.append(
            ChangeSet.OrderChange(
                relationship: relationship,
                owner: owner.rowReference,
                members: members.array.filter { !$0.state.contains(.deleted) }.map(\.rowReference),
                isWhole: isWhole
            )
        )
    }

    /// New positions for the members that need one: in their own rows where those are written anyway, else beside them.
    private mutating func assignPositions(of owner: NSManagedObject, _ contents: ToManyContents) {
        let relationship = owner.scope.shape.toManys[contents.index]
        if relationship.inverse === relationship {
            let members = (contents.members ?? contents.added).array.filter { !$0.state.contains(.deleted) }.map(\.rowReference)
            return notePairs(of: relationship) { $0.add(members, of: owner.rowReference, isReordered: contents.isReordered) }
        }
        guard let members = contents.members else { return append(contents.added, owner, contents.index) }
        let slots = slots(of: members, owner, contents.index)
        var inRows = ChangeSet.RowPositions(owner: owner.rowReference, slot: slots?.position ?? 0)
        var beside: [(member: RowReference, position: Int64)] = []
        let new = contents.newPositions { member, position, isSaved in
            // A row that is written anyway says its position, even the one it had: setting its owner has erased that.
            if let slots, Self.writesPosition(member, slots) { return inRows.rows.append((writableRow(of: member), position)) }
            if !isSaved { beside.append((member.rowReference, position)) }
        }
        effects.orders.append((contents, new))
        if !inRows.rows.isEmpty { changes.rowPositions.append(inRows) }
        guard !beside.isEmpty else { return }
        changes.positions.append(ChangeSet.PositionChange(relationship: relationship, owner: owner.rowReference, positions: beside))
    }

    /// Not read: what was added has no position yet. The store puts it at the end, in the order of the additions rather than of the rows.
    private mutating func append(_ members: MemberList, _ owner: NSManagedObject, _ index: Int) {
        guard members.count > 1, owner.scope.shape.toManys[index].inverse?.isToMany == false else { return }
        for member in members.array where member.state.contains(.ownRow) {
            if member.state.intersection([.sharedRow, .unsavedRow]) == .sharedRow { continue }
            changes.appends.append(ChangeSet.Append(row: writableRow(of: member), member: member.rowReference))
        }
    }

    typealias MemberSlots = (owner: Int, position: Int)

    /// The slots of a member that say its owner and its position there: the same in all members, also in those of subentities.
    private mutating func slots(of members: MemberList, _ owner: NSManagedObject, _ index: Int) -> MemberSlots? {
        guard let member = members.firstMember else { return nil }
        let shape = owner.withScope { ObjectIdentifier($0.shape) }
        if let known = memberSlots.first(where: { $0.shape == shape && $0.index == index }) { return known.slots }
        let slots = Self.slots(member, owner.scope.shape.toManys[index])
        memberSlots.append((shape, index, slots))
        return slots
    }

    private static func slots(_ member: NSManagedObject, _ relationship: NSRelationshipDescription) -> MemberSlots? {
        guard let inverse = relationship.inverse, case .toOne(let owner, _)? = member.scope.shape.properties[inverse.name],
            let position = member.scope.shape.positionSlots[owner]
        else { return nil }
        return (owner, position)
    }

    /// Whether the member's row is written, with the slot of its position.
    @inline(__always) private static func writesPosition(_ member: NSManagedObject, _ slots: MemberSlots) -> Bool {
        guard member.state.intersection([.sharedRow, .unsavedRow]) != .sharedRow else { return false }
        return member.state.contains(.inserted) || changesPosition(member, slots)
    }

    private static func changesPosition(_ member: NSManagedObject, _ slots: MemberSlots) -> Bool {
        guard member.state.isSuperset(of: [.updated, .ownRow]) else { return false }
        let changed = member.changedSlots
        guard changed.contains(slots.owner) else { return false }
        guard let base = member.committedRow else { return true }
        return !member.currentRow.equals(base, at: slots.owner)
            || (changed.contains(slots.position) && !member.currentRow.equals(base, at: slots.position))
    }

    /// The row of a member that is written: its own, or one in place of what it shares with other contexts.
    @inline(__always) private mutating func writableRow(of member: NSManagedObject) -> Row {
        member.state.contains(.sharedRow) ? Row(writableCopy(of: member)) : member.currentRow
    }

    private mutating func writableCopy(of member: NSManagedObject) -> OwnRow {
        if let known = replacedRow(of: member) { return known }
        let copy = replaceRow(of: member)
        replacedRows[ObjectIdentifier(member)] = copy
        return copy
    }
}
