/// The relationships of an object whose delete is taken back after it was carried along them: who was led away leads to it again, unless
/// somebody has given him another partner since, or has deleted him.
struct RelationshipReturn {
    enum Origin {
        /// The delete was decided on here: what it has changed is to be changed back.
        case decision
        /// The row was taken for missing, and is there: others never lost the object, and what is read of them says so.
        case foundRow
        /// The row is gone, and is written anew: what led to it has gone with it.
        case newRow
    }

    private let object: NSManagedObject
    private let origin: Origin

    init(of object: NSManagedObject, _ origin: Origin) { (self.object, self.origin) = (object, origin) }

    func run() {
        returnToTargets()
        takeBackMembers()
    }

    func returnToTargets() {
        for case let (slot, relationship?) in object.scope.shape.toOnes.enumerated() { goBack(to: object.target(slot), slot, relationship) }
    }

    /// Those that were known when it was deleted.
    func takeBackMembers() {
        let shape = object.scope.shape
        for (index, relationship) in shape.toManys.enumerated() {
            guard let inverse = relationship.inverse, let contents = object.existingContents(index) else { continue }
            let members = contents.knownMembers
            for member in members {
                if origin == .decision, isStored(member, contents), isLedAway(member, from: inverse) {
                    takeBackStored(member, contents, inverse)
                } else if origin == .foundRow, inverse.isToMany, contents.isPartner(member) {
                    inverse.toManyIndex.flatMap(member.existingContents)?.forgetStored()
                } else if !comesBack(member, along: inverse) {
                    object.unlinkMember(member, index)
                } else if origin == .newRow, contents.restate(member, isIn: true) {
                    // What was written of them went with the row.
                    object.noteToManyChange(index)
                }
            }
            contents.forgetPartners()
            // Members have lost their positions with their owner.
            if relationship.isOrdered { object.restorePositions(index) }
        }
    }

    /// Whether the store had a member in it: not one that was put in since the last save.
    private func isStored(_ member: NSManagedObject, _ contents: ToManyContents) -> Bool {
        !contents.ownerIsNew && !contents.added.contains(member) && member.state.isDisjoint(with: [.deleted, .inserted])
    }

    /// Whether the delete alone has parted the two: the member has got no other owner since.
    private func isLedAway(_ member: NSManagedObject, from inverse: NSRelationshipDescription) -> Bool {
        guard case .toOne(let slot, _)? = member.scope.shape.properties[inverse.name] else { return true }
        return member.target(slot) == nil && member.committedRow != nil
    }

    /// Nothing of what the delete did to a member is to be saved: what the store says of the two counts, where others may have parted them, or
    /// given the member to somebody else.
    private func takeBackStored(_ member: NSManagedObject, _ contents: ToManyContents, _ inverse: NSRelationshipDescription) {
        contents.dropEdit(of: member)
        if let back = inverse.toManyIndex { return _ = member.existingContents(back)?.dropEdit(of: object) }
        guard case .toOne(let slot, _)? = member.scope.shape.properties[inverse.name], let committed = member.committedRow,
            let context = member.registeredContext
        else { return }
        let owner = committed.reference(slot).flatMap { context.object(for: context.forwarded($0)) }
        member.writeTarget(owner, slot)
        if let position = member.scope.shape.positionSlots[slot] { member.write(committed.value(position), position) }
        owner?.existingContents(contents.index)?.forgetStored()
    }

    /// A rollback takes back what was merely told: nothing was changed on either side, but what has been read of the members of others is without
    /// the object, and is read again.
    func forgetWhatOthersRead() {
        let shape = object.scope.shape
        for (index, relationship) in shape.toManys.enumerated() {
            guard let back = relationship.inverse?.toManyIndex, let contents = object.existingContents(index) else { continue }
            for member in contents.knownMembers { member.existingContents(back)?.forgetStored() }
        }
        guard !object.state.contains(.rowless), let base = object.committedRow, let context = object.registeredContext else { return }
        for (slot, relationship) in shape.toOnes.enumerated() {
            guard let back = relationship?.inverse?.toManyIndex, let target = base.reference(slot) else { continue }
            context.registeredObject(for: context.forwarded(target))?.existingContents(back)?.forgetStored()
        }
    }

    private func goBack(to target: NSManagedObject?, _ slot: Int, _ relationship: NSRelationshipDescription) {
        guard let target else { return }
        if isGone(target) { return object.writeTarget(nil, slot) }
        guard let inverse = relationship.inverse else { return }
        if let index = inverse.toManyIndex {
            link(target, index)
        } else if !comesBack(target, along: inverse) {
            object.writeTarget(nil, slot)
        }
    }

    private func link(_ other: NSManagedObject, _ index: Int) {
        // What has been read of it says what was so before the row was gone.
        if origin != .decision { other.existingContents(index)?.forgetStored() }
        other.linkMember(object, index)
    }

    /// Lets the other end lead to the object again; false where that is another's by now.
    private func comesBack(_ other: NSManagedObject, along inverse: NSRelationshipDescription) -> Bool {
        if isGone(other) { return false }
        if let index = inverse.toManyIndex {
            link(other, index)
            return true
        }
        guard case .toOne(let slot, _)? = other.scope.shape.properties[inverse.name] else { return false }
        if let partner = other.target(slot), partner !== object, !other.isChanged(slot) {
            // What has been read of it is older than what others say of it.
            other.registeredContext?.readAnew(other)
        }
        if let partner = other.target(slot) { return partner === object }
        other.writeTarget(object, slot)
        return true
    }

    /// Whether there is nobody to come back to. One of whom nobody can tell counts as there.
    private func isGone(_ other: NSManagedObject) -> Bool {
        guard other.state.isDisjoint(with: [.deleted, .detached]), let context = other.registeredContext else { return true }
        return (try? DeletePropagation(context: context).isGone(other)) ?? false
    }
}
