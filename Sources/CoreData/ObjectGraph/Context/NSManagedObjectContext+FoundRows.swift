import Foundation

extension NSManagedObjectContext {
    /// Looks once more for the rows of objects that have none: a context above, or others, may have taken back meanwhile what they had deleted.
    ///
    /// An object that counted as deleted for nothing else is there again, whom that delete has led away from it leads to it again, and no save
    /// tells of it. One whose delete was decided on here is deleted now, in a child; what others have put into a store under its key is theirs.
    /// One that was to be written as a new row under the key that it had is a change of the row that is there: in the topmost context a conflict.
    ///
    /// - Complexity: one statement at most for those of an entity.
    func returnFoundRows() {
        var missing: [RowReference] = []
        tracker.objects.forEachBorrowed { object in
            if object.state.isSuperset(of: [.deleted, .rowGone, .inaccessible]) || object.isWrittenAnew {
                missing.append(object.rowReference)
            }
        }
        for group in Dictionary(grouping: missing, by: { [$0.entity, $0.store] }).values {
            do {
                for (reference, row) in zip(group, try parentSource.rows(for: group)) {
                    if let row, let object = registeredObject(for: reference) { found(row, of: object) }
                }
            } catch {
                // As with a row that nobody looks for again.
                logFailure("looking again for rows that were missing", error)
            }
        }
    }

    /// - Returns: whether a row was found for an object that counts as deleted because it had none.
    func returnFoundRow(of object: NSManagedObject) -> Bool {
        do {
            guard let row = try parentSource.row(for: object.rowReference), row.layout === object.scope.shape.layout else { return false }
            takeBackDelete(of: object, row)
            return true
        } catch {
            logFailure("looking for the row of \(object.objectID)", error)
            return false
        }
    }

    func found(_ row: Row, of object: NSManagedObject) {
        guard row.layout === object.scope.shape.layout else { return }
        if object.state.contains(.inserted) { return layOver(row, object) }
        guard object.state.contains(.deletedByDecision) else { return takeBackDelete(of: object, row) }
        if parentSource.isStoreSide { return }
        adopt(row, object)
        object.state.subtract([.rowGone, .deletedByDecision, .inaccessible])
        propagateAgain(object)
    }

    private func takeBackDelete(of object: NSManagedObject, _ row: Row) {
        let isUntold = object.state.contains(.deletedNow)
        let relationships = object.state.contains(.propagated) ? RelationshipReturn(of: object, .foundRow) : nil
        tracker.forget(object)
        // Before what is known of them is read again.
        relationships?.takeBackMembers()
        adopt(row, object)
        object.state.remove(.inaccessible)
        object.state.insert(.fault)
        object.existingExtras?.forgetStoredMembers()
        // Whom it refers to may have been deleted meanwhile.
        DeletePropagation(context: self).run(to: object)
        if object.state.contains(.deleted) { return }
        relationships?.returnToTargets()
        // What was put into it while nothing of it was known.
        object.forEachChangedToMany { index, _ in object.noteToManyChange(index) }
        if isUntold { tracker.noteRefresh(of: object) } else { tracker.noteArrival(of: object) }
    }

    /// All values of the object go over a row that somebody has put under its key.
    private func layOver(_ row: Row, _ object: NSManagedObject) {
        tracker.forget(object)
        // Nobody knows what was changed on which side.
        if parentSource.isStoreSide, (mergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyStoreTrumpMergePolicyType {
            return update(object, to: row, keeping: SlotMask(), .mergePolicy)
        }
        object.takeOwnRow()
        object.own.base = parentSource.isStoreSide ? object.rowReadBefore(row) : row
        object.setChangedSlots(object.scope.shape.propertySlots)
        object.noteChange()
    }
}

extension NSManagedObject {
    /// Whether the object counts as deleted for nothing else than that it was used and no row was found, which may have been too early.
    final var isMissing: Bool {
        state.intersection([.deleted, .rowGone, .inaccessible, .deletedByDecision]) == [.deleted, .rowGone, .inaccessible]
    }

    /// Whether it is to come back as a new row under the key of one that was gone.
    fileprivate var isWrittenAnew: Bool {
        state.intersection([.inserted, .deleted]) == .inserted && key > 0 && EntityLayout.version(row) > 1
    }

    /// What stands in for the row that the object came from, which is not kept: with a version that is not the store's.
    fileprivate func rowReadBefore(_ stored: Row) -> Row {
        let copy = OwnRow.copy(of: stored, replacing: -1)
        copy.base = nil
        let version = EntityLayout.version(row)
        EntityLayout.setVersion(copy.bytes, version == stored.version ? version - 1 : version)
        return Row(copy)
    }
}
