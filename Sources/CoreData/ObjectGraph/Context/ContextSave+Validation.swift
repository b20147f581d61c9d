import Foundation

/// What the objects of a save are checked for.
enum SaveValidation {
    /// The rules of the model and of their classes.
    case full
    /// Only whether a store can hold their values: they are not finished yet, and somebody validates them later.
    case storageOnly
}

extension ContextSave {
    /// Every object with changes is validated, and what that changes is carried along relationships and validated in turn, until nothing changes.
    func validateChanges() throws {
        let tracker = context.tracker
        if validation == .storageOnly { return try requireStorable(tracker.objects) }
        try validate(tracker.objects)
        // As they were when they were validated again.
        var validated: [ObjectIdentifier: Row] = [:]
        for _ in 0..<Self.maximumRounds {
            if !tracker.hasTouched, tracker.unpropagated.isEmpty { return }
            context.propagateDeletes()
            let changed = ContiguousArray(tracker.touched.filter { isChanged($0, since: validated[ObjectIdentifier($0)]) })
            context.endEvent()
            if let failure = tracker.propagationFailure { throw failure }
            for object in changed { validated[ObjectIdentifier(object)] = object.shareRow() }
            try validate(changed)
        }
        misuse("A validation changes objects every time it is called. Set a value there only where it differs, or set the primitive value.")
    }

    /// Whether the current event has changed the object more than by setting what it had.
    private func isChanged(_ object: NSManagedObject, since row: Row?) -> Bool {
        guard !object.state.isDisjoint(with: .pending) else { return false }
        guard let row, object.state.isDisjoint(with: [.insertedNow, .deletedNow]) else { return true }
        return !object.changes(from: row).isEmpty || object.existingExtras?.toManysOfEvent.isEmpty == false
    }

    private func requireStorable(_ objects: ContiguousArray<NSManagedObject>) throws {
        var errors: [any Error] = []
        objects.forEachBorrowed { if !$0.state.contains(.deleted) { errors += $0.storageErrors() } }
        try ValidationErrors.throwIfAny(errors)
    }

    /// All errors are reported at once.
    private func validate(_ objects: ContiguousArray<NSManagedObject>) throws {
        var errors: [any Error] = []
        try objects.forEachBorrowed { object in
            // Only relationships were changed: nothing here was decided on its values.
            if object.state.intersection([.fault, .deleted, .inserted, .updated]) == [.fault, .updated], object.mayBeStale {
                try context.bringUpToDate(object)
            }
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
        do { try ValidationErrors.throwIfAny(errors) } catch { throw ValidationFailure(error: error) }
    }

    /// Whether a child has checked the very row by the same rules.
    @inline(__always) private func wasValidatedBelow(_ object: NSManagedObject) -> Bool {
        object.state.contains(.validated)
            && object.withScope { !$0.validatesMore && !$0.saveHooks.contains(.validateForInsert) }
    }
}
