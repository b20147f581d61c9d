import Foundation

/// Carries deletes along relationships, by the rule at the deleted object's end.
///
/// Works in waves, so that each relationship is read with one statement for all objects deleted in a wave.
struct DeletePropagation {
    let context: NSManagedObjectContext

    /// Where a relationship cannot be read, its deletes wait, and the tracker says why.
    func run() {
        let tracker = context.tracker
        let outer = tracker.isPropagating
        tracker.isPropagating = true
        defer { tracker.isPropagating = outer }
        tracker.propagationFailure = nil
        while !tracker.unpropagated.isEmpty, tracker.propagationFailure == nil {
            let wave = tracker.unpropagated
            tracker.unpropagated = []
            var groups: [ObjectIdentifier: [NSManagedObject]] = [:]
            var gone: [NSManagedObject] = []
            wave.forEachBorrowed { object in
                guard object.isDeleted, !object.state.contains(.propagated) else { return }
                if !object.state.hasRow { return gone.append(object) }
                object.state.insert(.propagated)
                object.withScope { scope in
                    if scope.propagatesDeletes { groups[ObjectIdentifier(scope), default: []].append(object) }
                }
            }
            runWhereKnown(gone)
            for objects in groups.values {
                do { try propagate(objects) } catch { postpone(objects, error) }
            }
        }
    }

    private func postpone(_ objects: [NSManagedObject], _ error: any Error) {
        objects.forEach { $0.state.remove(.propagated) }
        context.tracker.unpropagated += objects
        context.tracker.propagationFailure = error
    }

    /// Carries one delete along what is known of its relationships, reading nothing.
    func runWithoutReading(_ object: NSManagedObject) {
        object.state.insert(.propagated)
        let shape = object.scope.shape
        for (index, relationship) in shape.toManys.enumerated() where relationship.deleteRule != .noActionDeleteRule {
            guard let contents = object.existingContents(index) else { continue }
            apply(relationship, to: contents.knownMembers, of: object)
        }
        guard !object.state.contains(.rowless) else { return }
        do { try propagateToOnes([object], shape) } catch { postpone([object], error) }
    }

    /// Carries deletes of objects whose rows are gone to those that refer to them here. What a store knew of them, whoever deleted the rows has
    /// seen to; what this context has read may be out of date.
    func runWhereKnown(_ objects: [NSManagedObject]) {
        UnreadPartners.note(for: objects, in: context)
        for object in objects { runWhereKnown(object) }
    }

    private func runWhereKnown(_ object: NSManagedObject) {
        object.state.insert(.propagated)
        forEachKnownTarget(of: object) { relationship, targets in
            // Those that are gone as well may come back together.
            let stillThere = targets.filter { target in
                target.state.hasRow && relationship.inverse.map { target.isLinked(to: object, along: $0) } ?? true
            }
            apply(relationship, to: stillThere, of: object)
            // Whatever the rule: what has been read must not show an object that is gone.
            guard let index = relationship.inverse?.toManyIndex else { return }
            for target in stillThere { target.existingContents(index)?.remove(object) }
        }
    }

    /// Takes an object that was never saved out of all relationships, whatever their delete rules.
    func withdraw(_ object: NSManagedObject) {
        forEachKnownTarget(of: object) { relationship, targets in
            guard let inverse = relationship.inverse else { return }
            for target in targets { target.unlink(object, along: inverse) }
        }
    }

    /// Takes back what leads to an object that was never saved, and is not saved itself.
    func withdrawEdits(leadingTo object: NSManagedObject) {
        forEachKnownTarget(of: object) { relationship, targets in
            guard let inverse = relationship.inverse else { return }
            for target in targets {
                guard case .toOne(let slot, _)? = target.scope.shape.properties[inverse.name], target.changedSlots.contains(slot) else {
                    continue
                }
                target.unlink(object, along: inverse)
            }
        }
    }

    /// Who leads to an object by a to-one relationship, as far as it is known here.
    func knownReferrers(to object: NSManagedObject) -> [NSManagedObject] {
        var referrers: [NSManagedObject] = []
        forEachKnownTarget(of: object) { relationship, targets in
            guard let inverse = relationship.inverse, !inverse.isToMany else { return }
            referrers += targets.filter { !$0.isFault && $0.isLinked(to: object, along: inverse) }
        }
        return referrers
    }

    private func forEachKnownTarget(of object: NSManagedObject, _ body: (NSRelationshipDescription, [NSManagedObject]) -> Void) {
        let shape = object.scope.shape
        for (index, relationship) in shape.toManys.enumerated() {
            guard let contents = object.existingContents(index) else { continue }
            body(relationship, contents.knownMembers)
        }
        guard !object.state.contains(.rowless) else { return }
        for case let (slot, relationship?) in shape.toOnes.enumerated() {
            guard let reference = object.currentRow.reference(slot), let target = context.registeredObject(for: reference) else { continue }
            body(relationship, [target])
        }
    }

    private func propagate(_ deleted: [NSManagedObject]) throws {
        let shape = deleted[0].scope.shape
        for object in deleted where object.isFault { try object.fireThrowing() }
        runWhereKnown(deleted.filter { $0.state.contains(.rowGone) })
        let objects = deleted.filter { !$0.state.contains(.rowGone) }
        for (index, relationship) in shape.toManys.enumerated() where relationship.deleteRule != .noActionDeleteRule {
            try context.read(relationship, index, of: objects.filter { $0.existingContents(index)?.members == nil })
            for object in objects { apply(relationship, to: object.members(of: index), of: object) }
        }
        try propagateToOnes(objects, shape)
    }

    private func propagateToOnes(_ objects: [NSManagedObject], _ shape: EntityShape) throws {
        for (slot, relationship) in shape.toOnes.enumerated() {
            guard let relationship, relationship.deleteRule != .noActionDeleteRule else { continue }
            for object in objects {
                if let target = object.target(slot), try !isGone(target) { apply(relationship, to: [target], of: object) }
            }
        }
    }

    /// Whether nobody has the object any more: it was never saved, and given up here, or dropped by a context above while this one referred to it.
    func isGone(_ target: NSManagedObject) throws -> Bool {
        guard target.key < 0, target.state.contains(.rowless), target.state.isDisjoint(with: .pending) else { return false }
        return try context.parentSource.row(for: target.rowReference) == nil
    }

    /// An object came up to date, and refers to others that are deleted here: they could not carry their deletes to it before. Or to one that is
    /// in a one-to-one relationship with somebody else by now.
    func run(to object: NSManagedObject) {
        guard !object.state.contains(.deleted) else { return }
        for case let (slot, relationship?) in object.scope.shape.toOnes.enumerated() {
            guard let inverse = relationship.inverse, let reference = object.currentRow.reference(slot),
                let target = context.registeredObject(for: reference), !target.state.isDisjoint(with: .pending)
            else { continue }
            if target.state.contains(.deleted) {
                // Where the delete is taken back, it leads there again.
                inverse.toManyIndex.flatMap(target.existingContents)?.noteStored(object)
                apply(inverse, to: [object], of: target)
            } else if target.hasGoneElsewhere(than: object, along: inverse) {
                object.writeTarget(nil, slot)
            }
        }
    }

    private func apply(_ relationship: NSRelationshipDescription, to targets: [NSManagedObject], of object: NSManagedObject) {
        switch relationship.deleteRule {
        case .cascadeDeleteRule:
            for target in targets where !target.state.contains(.deleted) { context.delete(target) }
        // Others have deleted it: nobody can deny that any more.
        case .denyDeleteRule where !object.state.hasRow, .nullifyDeleteRule:
            guard let inverse = relationship.inverse else { return }
            // An object that was never saved leaves nothing that even a deleted one could refer to.
            for target in targets where !target.state.contains(.deleted) || object.state.contains(.inserted) || !object.state.hasRow {
                let hasLeft = target.unlink(object, along: inverse)
                // Its row may be older than the other end's, and the file's refer to what is deleted.
                if !hasLeft || (object.key > 0 && target.leadsAsRead(inverse)) { context.noteDisagreement(of: target) }
            }
        // Deny is a matter of validation: at the save, by which time the other end may be deleted too.
        case .denyDeleteRule, .noActionDeleteRule: break
        }
    }
}
