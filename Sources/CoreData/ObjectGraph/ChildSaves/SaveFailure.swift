import Foundation

/// The two kinds of failures of a save.
package enum SaveFailure {
    /// Whether the data themselves are why a save failed, so that it would fail again: they are not valid, break a constraint, conflict with
    /// what others have saved, lead into another store, or belong to one that was removed. Everything else is the world's doing, such as a full
    /// disk, and may pass.
    package static func isOfData(_ error: any Error) -> Bool {
        if error is SaveConflicts || error is ValidationFailure { return true }
        let error = error as NSError
        switch error.domain {
        case NSCocoaErrorDomain: return isOfData(code: error.code, error.userInfo)
        case NSPOSIXErrorDomain, NSSQLiteErrorDomain, NSOSStatusErrorDomain, NSURLErrorDomain: return false
        // The program's own.
        default: return true
        }
    }

    /// The error that a program is told, of one that has come through the layers.
    package static func reported(_ error: any Error) -> any Error {
        switch error {
        case let conflicts as SaveConflicts: unsavedAndGone(conflicts)
        case let failure as ValidationFailure: failure.error
        default: error
        }
    }

    /// What a save builds on was dropped above before it was in the store.
    private static func unsavedAndGone(_ conflicts: SaveConflicts) -> any Error {
        CocoaError.coreData(
            .managedObjectMerge,
            "Could not merge changes: \(conflicts.conflicts.count) object(s) that were changed have gone before they were saved."
        )
    }

    /// What a save refers to was never saved itself, and dropped above.
    static func referenceToDropped() -> any Error {
        CocoaError.coreData(.managedObjectMerge, "Could not merge changes: they refer to an object that was dropped before it was saved.")
    }

    private static func isOfData(code: Int, _ userInfo: [String: Any]) -> Bool {
        switch code {
        case NSManagedObjectValidationError...NSValidationStringPatternMatchingError: true
        case NSManagedObjectReferentialIntegrityError...NSManagedObjectConstraintMergeError: true
        // No store takes the entity; where one is named, it is read-only.
        case NSPersistentStoreSaveError: userInfo[NSAffectedStoresErrorKey] == nil
        // What concerns a store that is gone.
        case NSPersistentStoreOperationError: (userInfo[NSAffectedStoresErrorKey] as? [Any])?.isEmpty == true
        case NSSQLiteError: isRefusedValue(userInfo)
        default: false
        }
    }

    /// Whether SQLite refuses a value: it is too big, or breaks a constraint of the tables.
    private static func isRefusedValue(_ userInfo: [String: Any]) -> Bool {
        guard let underlying = userInfo[NSUnderlyingErrorKey] as? NSError, underlying.domain == NSSQLiteErrorDomain else { return false }
        return [18, 19, 20, 25].contains(underlying.code & 0xFF)
    }
}

/// What the validation of objects has thrown, on its way to who saves: a matter of the data, whatever the domain that the program chose.
package struct ValidationFailure: Error {
    package let error: any Error
}
