import Foundation

/// To-many relationships: unknown with a difference until they are read, then whole.
extension NSManagedObject {
    /// The state of a to-many relationship, made at first use.
    final func contents(_ index: Int) -> ToManyContents {
        checkReading()
        let extras = extras
        if let contents = extras.contents(index) { return contents }
        let contents = ToManyContents(
            index,
            ownerIsNew: !state.isDisjoint(with: [.inserted, .detached]),
            isOrdered: toManyLink(index).isOrdered
        )
        extras.add(contents)
        return contents
    }

    final func existingContents(_ index: Int) -> ToManyContents? { existingExtras?.contents(index) }

    @inline(__always) final func toManyLink(_ index: Int) -> ToManyLink {
        withScope { $0.toManyLinks[index] }
    }

    /// The contents with all members known; one statement where they have not been read.
    final func realizedContents(_ index: Int) -> ToManyContents {
        if state.contains(.fault) { fire() }
        let contents = contents(index)
        if contents.members == nil {
            if let context = registeredContext, !state.contains(.inaccessible) {
                context.realize(scope.shape.toManys[index], index, with: self)
            } else {
                contents.realize([])
            }
        }
        // They may have been read for others.
        if contents.replacement != nil { takeOutReplaced(contents) }
        return contents
    }

    /// The members, in order where the relationship is ordered.
    final func members(of index: Int) -> [NSManagedObject] { realizedContents(index).members?.array ?? [] }

    /// Replaces the members, and updates the inverses of those that leave and come.
    final func setMembers(_ objects: [NSManagedObject], of index: Int) {
        checkQueue()
        let relationship = scope.shape.toManys[index]
        let objects = objects.filter { admit($0, to: relationship) }
        let contents = realizedContents(index)
        let coming = MemberList(objects)
        let leaving = contents.members?.array.filter { !coming.contains($0) } ?? []
        contents.change {
            leaving.forEach { removeMember($0, from: index) }
            objects.forEach { addMember($0, to: index) }
            if relationship.isOrdered, contents.members?.elementsEqual(coming, by: ===) == false { contents.reorder(coming.array) }
        }
        if contents.members == nil { contents.noteReplacement(coming) } else { contents.forgetReplacement() }
        noteToManyChange(index)
    }

    /// Takes out the members of before, where they were replaced and could not be read then.
    final func takeOutReplaced(_ contents: ToManyContents) {
        guard let wanted = contents.replacement, let members = contents.members else { return }
        contents.forgetReplacement()
        let leaving = members.array.filter { !wanted.contains($0) && !contents.added.contains($0) }
        contents.change {
            leaving.forEach { removeMember($0, from: contents.index) }
            let order = wanted.array.filter(members.contains) + members.array.filter { !wanted.contains($0) && contents.added.contains($0) }
            if scope.shape.toManys[contents.index].isOrdered { contents.reorder(order) }
        }
        noteToManyChange(contents.index)
    }

    final func addMember(_ object: NSManagedObject, to index: Int) {
        checkQueue()
        if isNews(object) { return withNotice { addMember(object, to: index) } }
        let relationship = scope.shape.toManys[index]
        guard admit(object, to: relationship) else { return }
        guard contents(index).add(object) else { return }
        noteToManyChange(index)
        carryDeletesAlong(object)
        if let inverse = followedInverse(of: relationship) { object.link(self, along: inverse) }
    }

    /// While values come in nothing is a change. But what a hook has inserted then is to be saved as it is related, or to go with a rollback.
    @inline(__always) private func isNews(_ member: NSManagedObject) -> Bool {
        state.intersection([.loading, .inserted]) == .loading && member.state.contains(.inserted)
    }

    /// - Precondition: the object is not in the relationship.
    final func insertMember(_ object: NSManagedObject, to index: Int, at memberIndex: Int) {
        checkQueue()
        if isNews(object) { return withNotice { insertMember(object, to: index, at: memberIndex) } }
        let relationship = scope.shape.toManys[index]
        guard admit(object, to: relationship) else { return }
        realizedContents(index).insert(object, at: memberIndex)
        noteToManyChange(index)
        carryDeletesAlong(object)
        if let inverse = followedInverse(of: relationship) { object.link(self, along: inverse) }
    }

    /// The inverse, unless this side alone is set: while values come in.
    final func followedInverse(of relationship: NSRelationshipDescription) -> NSRelationshipDescription? {
        state.contains(.loading) ? nil : relationship.inverse
    }

    /// Gives up what is to be saved of the to-many relationships, on both sides. A to-one at the other side is that object's own: it stays,
    /// but for that of this object to itself.
    final func dropToManyEdits() {
        forEachChangedToMany { index, contents in
            guard let inverse = scope.shape.toManys[index].inverse else { return contents.dropEdits() }
            guard let back = inverse.toManyIndex else {
                for member in contents.knownMembers { member.giveUpPosition(along: inverse) }
                contents.dropEdit(of: self)
                return contents.dropOrder()
            }
            for member in contents.added.array + contents.removed.array { member.existingContents(back)?.dropEdit(of: self) }
            contents.dropEdits()
        }
        existingExtras?.forgetStoredMembers()
    }

    /// What others have put in, or taken out, with to-one relationships of theirs is saved with them: a delete must reach them until then.
    final func noteKeptMembers() { forEachChangedToMany { index, _ in noteToManyChange(index) } }

    /// Gives up what others have to save of this object: it refers to whom it referred to before, and they to it.
    ///
    /// - Returns: the to-one relationships of which that can't be, by slot: the other has another partner by now.
    final func dropEditsOfOthers() -> [Int] {
        existingExtras?.forEachToMany { $0.showCommitted() }
        dropToManyEdits()
        guard !state.contains(.rowless), let base = committedRow, let context = registeredContext else { return [] }
        return changedSlots.filter(scope.shape.layout.referenceSlots).filter { slot in
            guard let inverse = scope.shape.toOnes[slot]?.inverse else { return false }
            let former = base.reference(slot).flatMap(context.registeredObject(for:))
            let latest = reference(slot).flatMap(context.registeredObject(for:))
            guard let index = inverse.toManyIndex else { return !goBack(to: former, from: latest, along: inverse) }
            for other in [former, latest] { other?.existingContents(index)?.dropEdit(of: self) }
            return false
        }
    }

    /// Whom a deleted object's unsaved to-one relationships lead to does not refer to it any more: without them, its delete does not come there.
    final func leaveEditedTargets() {
        guard !state.contains(.rowless), let context = registeredContext else { return }
        for slot in changedSlots.filter(scope.shape.layout.referenceSlots) {
            guard let inverse = scope.shape.toOnes[slot]?.inverse, let target = reference(slot).flatMap(context.registeredObject(for:))
            else { continue }
            if let index = inverse.toManyIndex {
                target.existingContents(index)?.dropEdit(of: self)
            } else if target.state.isDisjoint(with: [.rowless, .deleted]) {
                target.unlink(self, along: inverse)
            }
        }
    }

    /// Lets the ends of a one-to-one relationship refer to this object as they did before.
    private func goBack(
        to former: NSManagedObject?,
        from latest: NSManagedObject?,
        along inverse: NSRelationshipDescription
    ) -> Bool {
        // It led elsewhere meanwhile, and leads there again.
        if former === latest { return true }
        if let latest, latest.state.isDisjoint(with: [.rowless, .deleted]) { latest.unlink(self, along: inverse) }
        // What the object has said of itself goes with its own edits.
        guard let former, former !== self, !former.state.contains(.deleted), former.hasLeft(self, along: inverse) else { return true }
        guard case .toOne(let slot, _)? = former.scope.shape.properties[inverse.name], former.target(slot) == nil else { return false }
        former.writeTarget(self, slot)
        former.dropEditThatCameToNothing(slot)
        return true
    }

    /// A relationship that leads again where its row says is no edit: what others have saved of it counts.
    private func dropEditThatCameToNothing(_ slot: Int) {
        guard let base = committedRow, currentRow.equals(base, at: slot) else { return }
        setChangedSlots(changedSlots.subtracting(SlotMask([slot])))
    }

    /// Gives up the object's new position, which was one among members that are others by now. One that was taken out and put back is where it was.
    private func giveUpPosition(along inverse: NSRelationshipDescription) {
        guard case .toOne(let slot, _)? = scope.shape.properties[inverse.name], let position = scope.shape.positionSlots[slot],
            state.contains(.ownRow), isChanged(position)
        else { return }
        if state.contains(.sharedRow) { takeOwnRow() }
        if let base = committedRow, currentRow.equals(base, at: slot) {
            own.assign(position, from: base)
        } else {
            own.storeNull(at: position)
        }
    }

    final func removeMember(_ object: NSManagedObject, from index: Int) {
        checkQueue()
        if isKnownToLack(object, index) { return }
        guard contents(index).remove(object) else { return }
        noteToManyChange(index)
        if let inverse = followedInverse(of: scope.shape.toManys[index]) { object.leaveOwner(self, along: inverse) }
    }

    /// Whether the members have not been read, but the object says that it is none: others may yet put it in.
    private func isKnownToLack(_ object: NSManagedObject, _ index: Int) -> Bool {
        guard let inverse = followedInverse(of: scope.shape.toManys[index]), !inverse.isToMany, contents(index).members == nil else {
            return false
        }
        return object.refersElsewhere(than: self, along: inverse)
    }

    /// Gives all members their positions anew.
    final func restorePositions(_ index: Int) {
        guard let members = existingContents(index)?.members, !members.isEmpty else { return }
        contents(index).reorder(members.array)
        noteToManyChange(index)
    }

    /// Puts a member to another index.
    final func moveMember(_ object: NSManagedObject, of index: Int, to memberIndex: Int) {
        checkQueue()
        realizedContents(index).move(object, to: memberIndex)
        noteToManyChange(index)
    }

    /// Puts an object where a member was.
    final func replaceMember(at memberIndex: Int, with object: NSManagedObject, of index: Int) {
        checkQueue()
        // NB: whoever holds the list while it changes has it copied.
        let contents = realizedContents(index)
        guard let old = contents.members?[memberIndex], old !== object else { return }
        if contents.members?.contains(object) == true {
            // In twice, it stays where it comes first.
            var objects = members(of: index)
            objects[memberIndex] = object
            setMembers(objects, of: index)
        } else {
            removeMember(old, from: index)
            insertMember(object, to: index, at: memberIndex)
        }
    }
}
