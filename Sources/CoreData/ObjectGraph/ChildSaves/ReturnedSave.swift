import Foundation

/// A save that goes back to the context that it came from.
struct ReturnedSave: Sendable {
    let save: ChildSave
    private(set) var changes: ChangeSet
    let error: any Error
    /// The context that gets the changes: the one that saved them, or another where that is gone.
    let target: NSManagedObjectContext
    let keeper: ChildSaveKeeper
    /// The objects that the error names, all of them of the context that met it.
    private let names: [ObjectIdentifier: RowReference]

    /// Nil where nobody can be given the changes: the error is reported then.
    init?(_ save: ChildSave, _ changes: ChangeSet, _ error: any Error, from context: NSManagedObjectContext) {
        guard let keeper = context.childSaveKeeper else { return nil }
        guard let target = save.source ?? keeper.makeContext() else {
            keeper.report(error)
            return nil
        }
        self.init(save, changes, error, target, keeper)
    }

    /// Changes that nobody gets back.
    init(discarded changes: ChangeSet, by context: NSManagedObjectContext, _ keeper: ChildSaveKeeper) {
        self.init(ChildSave(changes, [], from: nil, goesOn: false), changes, CocoaError(.userCancelled), context, keeper)
    }

    private init(_ save: ChildSave, _ changes: ChangeSet, _ error: any Error, _ target: NSManagedObjectContext, _ keeper: ChildSaveKeeper) {
        (self.save, self.changes, self.error, self.target, self.keeper) = (save, changes, error, target, keeper)
        self.changes.outdated.formUnion(ErrorObjects.outdated(in: error))
        var names: [ObjectIdentifier: RowReference] = [:]
        ErrorObjects.forEach(in: error) { names[ObjectIdentifier($0)] = $0.rowReference }
        self.names = names
    }

    /// The error with the target's objects; on its queue, once it has the changes.
    func errorForTarget() -> any Error {
        let references = changes.insertedReferences + changes.updatedReferences + changes.deletedReferences
        let all = references.compactMap(target.registeredObject(for:))
        return ErrorObjects.replace(in: error, affected: all, target) { object in
            names[ObjectIdentifier(object)].map(target.object(for:))
        }
    }
}

/// The objects that an error of Core Data names.
package enum ErrorObjects {
    static func forEach(in error: any Error, _ body: (NSManagedObject) -> Void) {
        let userInfo = (error as NSError).userInfo
        (userInfo[NSValidationObjectErrorKey] as? NSManagedObject).map(body)
        (userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject])?.forEach(body)
        conflicts(userInfo).forEach { body($0.sourceObject) }
        for conflict in constraintConflicts(userInfo) {
            ([conflict.databaseObject].compactMap(\.self) + conflict.conflictingObjects).forEach(body)
        }
        for detail in userInfo[NSDetailedErrorsKey] as? [any Error] ?? [] { forEach(in: detail, body) }
    }

    /// What others have changed since.
    static func outdated(in error: any Error) -> Set<RowReference> {
        Set(conflicts((error as NSError).userInfo).map(\.sourceObject.rowReference))
    }

    private static func conflicts(_ userInfo: [String: Any]) -> [NSMergeConflict] {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
    }

    private static func constraintConflicts(_ userInfo: [String: Any]) -> [NSConstraintConflict] {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
    }

    /// The error without objects, which would keep their context alive, and that its stack.
    package static func removed(from error: any Error) -> any Error {
        let plain = error as NSError
        guard plain.domain == NSCocoaErrorDomain else { return error }
        var userInfo = plain.userInfo
        for key in [
            NSValidationObjectErrorKey, NSAffectedObjectsErrorKey, NSPersistentStoreSaveConflictsErrorKey, NSValidationValueErrorKey,
            returnedContextErrorKey,
        ] { userInfo[key] = nil }
        userInfo[NSDetailedErrorsKey] = (userInfo[NSDetailedErrorsKey] as? [any Error])?.map(removed)
        return CocoaError(CocoaError.Code(rawValue: plain.code), userInfo: userInfo)
    }

    /// The error with other objects for those that it names. An error of the program's own stays as it is.
    static func replace(
        in error: any Error,
        affected: [NSManagedObject],
        _ context: NSManagedObjectContext,
        by other: (NSManagedObject) -> NSManagedObject?
    ) -> any Error {
        let plain = error as NSError
        guard plain.domain == NSCocoaErrorDomain else { return error }
        var userInfo = plain.userInfo
        userInfo[NSValidationObjectErrorKey] = (userInfo[NSValidationObjectErrorKey] as? NSManagedObject).flatMap(other)
        let named = (userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject])?.compactMap(other) ?? []
        userInfo[NSAffectedObjectsErrorKey] = named.isEmpty ? affected : named
        if let details = userInfo[NSDetailedErrorsKey] as? [any Error] {
            userInfo[NSDetailedErrorsKey] = details.map { replace(in: $0, affected: [], context, by: other) }
        }
        let (conflicts, constraintConflicts) = (conflicts(userInfo), constraintConflicts(userInfo))
        if !conflicts.isEmpty {
            userInfo[NSPersistentStoreSaveConflictsErrorKey] = conflicts.compactMap { conflict in
                other(conflict.sourceObject).map { NSMergeConflict(conflict, of: $0) }
            }
        } else if !constraintConflicts.isEmpty {
            userInfo[NSPersistentStoreSaveConflictsErrorKey] = constraintConflicts.map { NSConstraintConflict($0, of: other) }
        }
        userInfo[returnedContextErrorKey] = context
        return CocoaError(CocoaError.Code(rawValue: plain.code), userInfo: userInfo)
    }
}

/// The context that has the changes again of which an error tells.
package let returnedContextErrorKey = "CoreDataStackContextErrorKey"

extension NSMergeConflict {
    fileprivate convenience init(_ conflict: NSMergeConflict, of object: NSManagedObject) {
        self.init(
            source: object,
            newVersion: conflict.newVersionNumber,
            oldVersion: conflict.oldVersionNumber,
            cachedSnapshot: conflict.cachedSnapshot,
            persistedSnapshot: conflict.persistedSnapshot
        )
    }
}

extension NSConstraintConflict {
    fileprivate convenience init(_ conflict: NSConstraintConflict, of other: (NSManagedObject) -> NSManagedObject?) {
        self.init(
            constraint: conflict.constraint,
            database: conflict.databaseObject.flatMap(other),
            databaseSnapshot: conflict.databaseSnapshot,
            conflicting: conflict.conflictingObjects.compactMap(other),
            conflictingSnapshots: conflict.conflictingSnapshots
        )
        keepValues()
    }
}
