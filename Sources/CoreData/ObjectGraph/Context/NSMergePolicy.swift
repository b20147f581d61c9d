import Foundation

/// The policies that come with the framework.
public enum NSMergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// What happens when a save meets rows that others have changed.
///
/// A subclass overrides a `resolve` method, calls super, and adjusts the objects of the conflicts.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    // Sendable: one immutable value; a subclass keeps it so.
    public let mergeType: NSMergePolicyType

    public init(merge type: NSMergePolicyType) { mergeType = type }

    /// The save fails with the conflicts.
    public class var error: NSMergePolicy { errorPolicy }
    /// The changes of conflicting objects are dropped.
    public class var rollback: NSMergePolicy { rollbackPolicy }
    /// The objects' values are written, also the unchanged ones.
    public class var overwrite: NSMergePolicy { overwritePolicy }
    /// Property by property; where both sides changed one, the object's value is written.
    public class var mergeByPropertyObjectTrump: NSMergePolicy { objectTrumpPolicy }
    /// Property by property; where both sides changed one, the store's value stays.
    public class var mergeByPropertyStoreTrump: NSMergePolicy { storeTrumpPolicy }

    private static let errorPolicy = NSMergePolicy(merge: .errorMergePolicyType)
    private static let rollbackPolicy = NSMergePolicy(merge: .rollbackMergePolicyType)
    private static let overwritePolicy = NSMergePolicy(merge: .overwriteMergePolicyType)
    private static let objectTrumpPolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    private static let storeTrumpPolicy = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)

    /// Resolves all conflicts of a save by changing their objects: first rows that others have changed, then broken uniqueness constraints.
    ///
    /// - Throws: where a conflict remains; the save fails with that error, and all changes stay pending.
    open func resolve(mergeConflicts list: [Any]) throws {
        var (outdated, duplicates): ([NSMergeConflict], [NSConstraintConflict]) = ([], [])
        for conflict in list {
            if let duplicate = conflict as? NSConstraintConflict {
                duplicates.append(duplicate)
            } else if let conflict = conflict as? NSMergeConflict {
                outdated.append(conflict)
            }
        }
        try resolve(optimisticLockingConflicts: outdated)
        try resolve(constraintConflicts: duplicates)
    }

    /// Resolves conflicts with rows that changed or went since they were read.
    ///
    /// - Throws: `CocoaError` 133020 under the error policy, with the conflicts under `conflictList`.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        guard !list.isEmpty else { return }
        if mergeType == .errorMergePolicyType { throw Self.unresolved(list) }
        for conflict in list { MergeResolution(conflict: conflict, policy: mergeType).run() }
    }

    /// Resolves broken uniqueness constraints, so that one object has the values.
    ///
    /// The row that is in the store keeps its identity: a new object with its values goes, and what referred to that refers to the row's object.
    /// With object trump, the values that were set on the new object are written into the row, with overwrite all of them, with store trump
    /// and rollback none. An object that is in the store too, and was changed to have the values, takes the other one's place with object trump
    /// and overwrite, whose row is deleted; with store trump it gets its former values of the constraint back, with rollback all of them.
    ///
    /// - Throws: `CocoaError` 133021 under the error policy, with the conflicts under `conflictList`.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        guard !list.isEmpty else { return }
        if mergeType == .errorMergePolicyType { throw Self.unresolved(list) }
        ConstraintResolution(mergeType).run(list)
    }

    static func unresolved(_ conflicts: [NSConstraintConflict]) -> CocoaError {
        conflicts.forEach { $0.keepValues() }
        let first = conflicts.first.map { " \($0.text)" } ?? ""
        return .coreData(
            .managedObjectConstraintMerge,
            "Uniqueness constraints would be broken: \(conflicts.count).\(first)",
            userInfo: ["conflictList": conflicts, NSAffectedObjectsErrorKey: conflicts.flatMap(\.conflictingObjects)]
        )
    }

    static func unresolved(_ conflicts: [NSMergeConflict]) -> CocoaError {
        .coreData(
            .managedObjectMerge,
            "Could not merge changes: \(conflicts.count) object(s) were changed by others since they were read.",
            userInfo: ["conflictList": conflicts, NSAffectedObjectsErrorKey: conflicts.map(\.sourceObject)]
        )
    }
}

// The names of older code.
public let NSErrorMergePolicy: AnyObject & Sendable = NSMergePolicy.error
public let NSMergeByPropertyStoreTrumpMergePolicy: AnyObject & Sendable = NSMergePolicy.mergeByPropertyStoreTrump
public let NSMergeByPropertyObjectTrumpMergePolicy: AnyObject & Sendable = NSMergePolicy.mergeByPropertyObjectTrump
public let NSOverwriteMergePolicy: AnyObject & Sendable = NSMergePolicy.overwrite
public let NSRollbackMergePolicy: AnyObject & Sendable = NSMergePolicy.rollback
