import Foundation

/// A save, in its steps.
extension NSManagedObjectContext {
    private static let maximumRounds = 1000
    private static let maximumConflictRounds = 3
    /// Where a value that one object gives up is met by another, each round resolves the next of them.
    private static let maximumConstraintRounds = 10

    func saveChanges() throws {
        precondition(!isSaving, "save() was called while this context is saving. Save from a block that runs after the save.")
        let parent = parentSource
        catchUp()
        try takeIncoming()
        processPendingChanges()
        isSaving = true
        defer {
            isSaving = false
            do { try takeIncoming() } catch { logFailure("taking what a child context saved during a save", error) }
            if tracker.hasNews { tracker.turn?.changesBegan() }
        }
        post(.NSManagedObjectContextWillSave, [:])
        try prepareObjects()
        guard hasChanges || !tracker.locked.isEmpty else { return try saveNothing(parent) }
        let saved = try saveResolvingConflicts(parent)
        finish(saved, parent)
    }

    /// Changed metadata of a store is written although no object changed, and DidSave tells of no objects.
    private func saveNothing(_ parent: any GraphParent) throws {
        try parent.save(ChangeSet(), willCommit: {}).publish()
        isSaving = false
        let none: Set<NSManagedObject> = []
        post(.NSManagedObjectContextDidSave, [.insertedObjects: none, .updatedObjects: none, .deletedObjects: none])
    }

    /// `willSave` on every object with changes, and again on those that change meanwhile, until none does.
    ///
    /// - Throws: the error that kept a delete from being carried along relationships.
    private func prepareObjects() throws {
        if registry.saveHooks.contains(.willSave) {
            // A hook may add objects, which are asked in the next round.
            let asked = tracker.objects
            asked.forEachBorrowed { if !$0.state.isDisjoint(with: .pending) { $0.willSave() } }
        }
        for _ in 0..<Self.maximumRounds {
            if !tracker.hasTouched, tracker.unpropagated.isEmpty { return }
            let changed = tracker.touched
            endEvent()
            if let failure = tracker.propagationFailure { throw failure }
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
        var outdatedRounds = 0
        for round in 1...Self.maximumConstraintRounds {
            if let failure = tracker.propagationFailure { throw failure }
            try validateObjects()
            takePooledKeys(parent)
            forwardReferences()
            let freezer = ChangeFreezer(tracker, locked: tracker.locked, isForStores: parent.isStoreSide)
            do {
                let receipt = try hand(freezer.changes, to: parent)
                receipt.publish()
                return Saved(freezer: freezer, receipt: receipt)
            } catch let conflicts as SaveConflicts {
                if !conflicts.conflicts.isEmpty { outdatedRounds += 1 }
                let isLast = outdatedRounds == Self.maximumConflictRounds || round == Self.maximumConstraintRounds
                try resolve(conflicts, freezer.groups, isLastRound: isLast)
            }
        }
        misuse("unreachable: the last round returns or throws")
    }

    /// The step that may wait for a file. Child contexts are let in meanwhile; what they save waits in `incoming`.
    private func hand(_ changes: ChangeSet, to parent: any GraphParent) throws -> SaveReceipt {
        guard parent.isStoreSide else { return try parent.save(changes, willCommit: {}) }
        return try queue.lend {
            guard hasHadChildren else { return try parent.save(changes, willCommit: {}) }
            var isPublishing = false
            defer { if isPublishing { identityMap.forwardingTable.endPublishing() } }
            let receipt = try parent.save(changes) {
                isPublishing = true
                identityMap.forwardingTable.beginPublishing()
            }
            identityMap.forwardingTable.record(Self.forwardings(changes, receipt))
            return receipt
        }
    }

    /// The permanent identities that a save has given to objects with temporary keys.
    private static func forwardings(_ changes: ChangeSet, _ receipt: SaveReceipt) -> [(temporary: Int64, permanent: RowReference)] {
        zip(changes.groups, receipt.groups).flatMap { group, receipt in
            zip(group.inserts, receipt.insertedKeys).compactMap { insert, key in
                insert.key < 0
                    ? (insert.key, RowReference(key: key, entity: Int32(group.entity.index), store: receipt.store)) : nil
            }
        }
    }

    /// Every object with changes is validated; all errors are reported at once.
    private func validateObjects() throws {
        var errors: [any Error] = []
        let objects = tracker.objects
        objects.forEachBorrowed { object in
            do {
                if object.state.contains(.deleted) {
                    // Nobody can refuse a delete that has happened.
                    if !object.state.contains(.rowGone) { try object.validateForDelete() }
                } else if object.state.contains(.inserted) {
                    if !wasValidatedBelow(object) { try object.validateForInsert() }
                } else if object.state.contains(.updated) {
                    try object.validateForUpdate()
                }
            } catch {
                errors.append(contentsOf: ValidationErrors.single(error))
            }
        }
        try ValidationErrors.throwIfAny(errors)
    }

    /// Whether a child has checked the very row by the same rules.
    @inline(__always) private func wasValidatedBelow(_ object: NSManagedObject) -> Bool {
        object.state.contains(.unsavedRow)
            && object.scopeReference._withUnsafeGuaranteedRef { !$0.validatesMore && !$0.saveHooks.contains(.validateForInsert) }
    }

    /// The changes are in the store: objects get their keys, rows count as committed, and everybody is told.
    private func finish(_ saved: Saved, _ parent: any GraphParent) {
        let groups = saved.freezer.groups
        let isInStore = parent.isStoreSide
        for (objects, receipt) in zip(groups, saved.receipt.groups) {
            settleInserted(objects, receipt, isInStore)
            objects.updated.forEachBorrowed { settle($0, isInStore) }
            objects.unchanged.forEachBorrowed { settleUnchanged($0) }
            objects.deleted.forEachBorrowed { $0.state.subtract(.unsaved) }
        }
        let announced = tracker.whole
        tracker.removeAll()
        tracker.unlockAll()
        if !identityMap.forwarding.isEmpty { identityMap.forwarding = KeyForwarding() }
        dropForwardings()
        // From here on the save is over: who is told may change objects and save again.
        isSaving = false
        for objects in groups where objects.scope.saveHooks.contains(.didSave) {
            objects.inserted.forEachBorrowed { $0.didSave() }
            objects.updated.forEachBorrowed { $0.didSave() }
            objects.unchanged.forEachBorrowed { $0.didSave() }
            objects.deleted.forEachBorrowed { $0.didSave() }
        }
        post(.NSManagedObjectContextDidSave, (announced ?? ChangedObjects(groups)).userInfo)
        announceIDs(groups)
        tellFollowers(saved.freezer.changes, saved.receipt, parent)
        // Once everybody was told: until then their relationships can be read.
        for objects in groups { objects.deleted.forEachBorrowed { vanish($0, .deleteSaved) } }
    }

    private func settleInserted(_ objects: ChangeFreezer.Objects, _ receipt: SaveReceipt.Group, _ isInStore: Bool) {
        guard !objects.inserted.isEmpty else { return }
        let scope = registry.scope(of: objects.scope.entity, store: receipt.store)
        objects.scope.identity?.move(objects.inserted, to: scope, keys: receipt.insertedKeys)
        objects.inserted.forEachBorrowed { settle($0, isInStore) }
    }

    /// A row that was not written, because its changes came to nothing, is dropped for the one it was copied from.
    private func settleUnchanged(_ object: NSManagedObject) {
        if !object.state.contains(.rowless), let base = object.committedRow { adopt(base, object) }
        settle(object, false)
    }

    private func settle(_ object: NSManagedObject, _ isInStore: Bool) {
        object.state.subtract([.inserted, .updated, .unsavedRow])
        if object.state.contains(.ownRow) {
            // What was saved is in the row cache, or in the parent context: whoever writes next copies it.
            object.state.insert(.sharedRow)
            // In a parent, the row is unsaved, and its base is the parent's.
            if isInStore { object.own.base = nil }
        }
        object.changed = 0
        guard let extras = object.existingExtras else { return }
        extras.highChanges = SlotMask()
        extras.changesBeforeEvent = SlotMask()
        extras.quietChanges = SlotMask()
        extras.changedTransients = []
        extras.forEachToMany { $0.didSave() }
    }
}

extension ChangedObjects {
    /// The objects of a save.
    init(_ groups: [ChangeFreezer.Objects]) {
        self.init()
        inserted = Self.set(groups, \.inserted)
        updated = Self.set(groups, \.updated, \.unchanged)
        deleted = Self.set(groups, \.deleted)
    }

    private static func set(
        _ groups: [ChangeFreezer.Objects],
        _ lists: KeyPath<ChangeFreezer.Objects, ContiguousArray<NSManagedObject>>...
    ) -> Set<NSManagedObject> {
        let count = groups.reduce(0) { count, group in lists.reduce(count) { $0 + group[keyPath: $1].count } }
        var set = Set<NSManagedObject>(minimumCapacity: count)
        for group in groups { for list in lists { for object in group[keyPath: list] { set.insert(object) } } }
        return set
    }
}

/// Validation errors of several objects and properties, in the form that Core Data reports them.
enum ValidationErrors {
    /// The errors that an error stands for: those in it, where it says there are several. Each as it was thrown: a program matches its own.
    static func single(_ error: any Error) -> [any Error] {
        let cocoa = error as NSError
        guard cocoa.domain == NSCocoaErrorDomain, cocoa.code == NSValidationMultipleErrorsError,
            let several = cocoa.userInfo[NSDetailedErrorsKey] as? [any Error]
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
