import Foundation

/// A save, in its steps.
extension NSManagedObjectContext {
    private static let maximumRounds = 1000
    private static let maximumConflictRounds = 3

    func saveChanges() throws {
        precondition(!isSaving, "save() was called while this context is saving. Save from a block that runs after the save.")
        let parent = parentSource
        processPendingChanges()
        guard hasChanges || !lockedObjects.isEmpty else {
            // Changed metadata of a store is written although no object changed.
            _ = try parent.save(ChangeSet())
            return
        }
        isSaving = true
        defer { isSaving = false }
        post(.NSManagedObjectContextWillSave, [:])
        prepareObjects()
        let saved = try saveResolvingConflicts(parent)
        finish(saved)
    }

    /// `willSave` on every object with changes, and again on those that change meanwhile, until none does.
    private func prepareObjects() {
        // By index: a hook may add objects, which are asked in the next round.
        for index in 0..<tracker.objects.count {
            let object = tracker.objects[index]
            if !object.state.isDisjoint(with: .pending) { object.willSave() }
        }
        for _ in 0..<Self.maximumRounds {
            let changed = tracker.touched
            if changed.isEmpty && tracker.unpropagated.isEmpty { return }
            endEvent()
            for object in changed where !object.state.isDisjoint(with: .pending) { object.willSave() }
        }
        misuse(
            "willSave() changes its object every time it is called. Set a value there only where it differs, or set the primitive value."
        )
    }

    private struct Saved {
        let freezer: ChangeFreezer
        let receipt: SaveReceipt
    }

    private func saveResolvingConflicts(_ parent: any GraphParent) throws -> Saved {
        for round in 1...Self.maximumConflictRounds {
            try validateObjects()
            forwardReferences()
            let freezer = ChangeFreezer(tracker.objects, locked: lockedObjects)
            do {
                return Saved(freezer: freezer, receipt: try parent.save(freezer.changes))
            } catch let conflicts as SaveConflicts {
                try resolve(conflicts, isLastRound: round == Self.maximumConflictRounds)
            }
        }
        misuse("unreachable: the last round returns or throws")
    }

    /// References that were set before their targets got permanent IDs become permanent too.
    private func forwardReferences() {
        guard !forwarding.isEmpty else { return }
        for object in tracker.objects where object.state.contains(.ownRow) && !object.state.contains(.sharedRow) {
            for slot in object.scope.shape.layout.referenceSlots {
                if let reference = object.currentRow.reference(slot), reference.key < 0, let permanent = forwarding[reference.key] {
                    object.own.store(.reference(permanent), at: slot)
                }
            }
        }
    }

    /// Every object with changes is validated; all errors are reported at once.
    private func validateObjects() throws {
        var errors: [any Error] = []
        for object in tracker.objects {
            do {
                if object.state.contains(.deleted) {
                    try object.validateForDelete()
                } else if object.state.contains(.inserted) {
                    try object.validateForInsert()
                } else if object.state.contains(.updated) {
                    try object.validateForUpdate()
                }
            } catch {
                errors.append(contentsOf: ValidationErrors.single(error))
            }
        }
        try ValidationErrors.throwIfAny(errors)
    }

    /// The changes are in the store: objects get their keys, rows count as committed, and everybody is told.
    private func finish(_ saved: Saved) {
        let groups = saved.freezer.groups
        for (objects, receipt) in zip(groups, saved.receipt.groups) {
            settleInserted(objects, receipt)
            for object in objects.updated { settleUpdated(object) }
            for object in objects.deleted { object.state.subtract([.inserted, .updated, .deleted, .propagated]) }
        }
        tracker.removeAll()
        unlockObjects()
        if !forwarding.isEmpty { forwarding = [:] }
        // From here on the save is over: who is told may change objects and save again.
        isSaving = false
        for objects in groups {
            for object in objects.inserted { object.didSave() }
            for object in objects.updated { object.didSave() }
            for object in objects.deleted { object.didSave() }
        }
        announce(groups)
        for objects in groups { for object in objects.deleted { dismiss(object) } }
    }

    /// A deleted object leaves once everybody was told: until then its relationships can be read.
    private func dismiss(_ object: NSManagedObject) {
        tracker.forget(object)
        unregister(object)
    }

    private func settleInserted(_ objects: ChangeFreezer.Objects, _ receipt: SaveReceipt.Group) {
        guard !objects.inserted.isEmpty else { return }
        let scope = registry.scope(of: objects.scope.entity, store: receipt.store)
        objects.scope.identity?.move(objects.inserted, to: scope, keys: receipt.insertedKeys)
        for object in objects.inserted { settle(object) }
    }

    private func settleUpdated(_ object: NSManagedObject) {
        // A row that was not written, because its changes came to nothing, is dropped for the one it was copied from.
        if object.state.contains(.ownRow), let base = object.own.base, base.version == object.currentRow.version { adopt(base, object) }
        settle(object)
    }

    private func settle(_ object: NSManagedObject) {
        object.state.subtract([.inserted, .updated])
        if object.state.contains(.ownRow) {
            // What was saved is in the row cache: whoever writes next copies it.
            object.state.insert(.sharedRow)
            object.own.base = nil
        }
        object.changed = 0
        guard let extras = object.existingExtras else { return }
        extras.highChanges = SlotMask()
        extras.changesBeforeEvent = SlotMask()
        for contents in extras.toMany { contents?.didSave() }
    }

    private func announce(_ groups: [ChangeFreezer.Objects]) {
        var sets: [NotificationKey: Any] = [:]
        sets[.insertedObjects] = Self.set(groups, \.inserted, or: latestSets.inserted)
        sets[.updatedObjects] = Self.set(groups, \.updated, or: latestSets.updated)
        sets[.deletedObjects] = Self.set(groups, \.deleted, or: latestSets.deleted)
        latestSets = ([], [], [])
        post(.NSManagedObjectContextDidSave, sets)
    }

    /// The objects as a set; the very set that ObjectsDidChange carried, where all of them changed in the latest event.
    private static func set(
        _ groups: [ChangeFreezer.Objects],
        _ list: KeyPath<ChangeFreezer.Objects, ContiguousArray<NSManagedObject>>,
        or latest: Set<NSManagedObject>
    ) -> Set<NSManagedObject>? {
        let count = groups.reduce(0) { $0 + $1[keyPath: list].count }
        guard count > 0 else { return nil }
        // What the latest event changed is being saved, or another event would have followed; so equal counts mean equal sets.
        if count == latest.count { return latest }
        var set = Set<NSManagedObject>(minimumCapacity: count)
        for group in groups { for object in group[keyPath: list] { set.insert(object) } }
        return set
    }
}

/// Validation errors of several objects and properties, in the form that Core Data reports them.
enum ValidationErrors {
    /// The errors that an error stands for: those in it, where it says there are several.
    static func single(_ error: any Error) -> [any Error] {
        let error = error as NSError
        guard error.domain == NSCocoaErrorDomain, error.code == NSValidationMultipleErrorsError,
            let several = error.userInfo[NSDetailedErrorsKey] as? [any Error]
        else { return [error] }
        return several
    }

    static func throwIfAny(_ errors: [any Error]) throws {
        guard let first = errors.first else { return }
        if errors.count == 1 { throw first }
        throw CocoaError.coreData(
            .validationMultipleErrors,
            "Multiple validation errors occurred: \(errors.count).",
            userInfo: [NSDetailedErrorsKey: errors]
        )
    }
}
