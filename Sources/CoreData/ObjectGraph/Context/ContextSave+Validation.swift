import Foundation

extension ContextSave {
    /// Every object with changes is validated; all errors are reported at once.
    func validateObjects() throws {
        var errors: [any Error] = []
        let objects = context.tracker.objects
        objects.forEachBorrowed { object in
            do {
                if object.state.contains(.deleted) {
                    // Nobody can refuse a delete that has happened.
                    if !object.state.contains(.rowGone) { try object.validateForDelete() }
                } else if object.state.contains(.inserted) {
                    if !wasValidatedBelow(object) { try object.validateForInsert() }
                } else if object.state.contains(.updated) {
                    // Only relationships were changed: nothing here was decided on its values.
                    if object.state.contains(.fault), object.mayBeStale { try context.bringUpToDate(object) }
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
        object.state.contains(.validated)
            && object.scopeReference._withUnsafeGuaranteedRef { !$0.validatesMore && !$0.saveHooks.contains(.validateForInsert) }
    }
}
