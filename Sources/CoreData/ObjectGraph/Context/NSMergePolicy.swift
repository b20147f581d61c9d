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

    /// Resolves all conflicts of a save by changing their objects.
    ///
    /// - Throws: where a conflict remains; the save fails with that error, and all changes stay pending.
    open func resolve(mergeConflicts list: [Any]) throws {
        try resolve(optimisticLockingConflicts: list.compactMap { $0 as? NSMergeConflict })
    }

    /// Resolves conflicts with rows that changed or went since they were read.
    ///
    /// - Throws: `CocoaError` 133020 under the error policy, with the conflicts under `conflictList`.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        guard !list.isEmpty else { return }
        if mergeType == .errorMergePolicyType { throw Self.unresolved(list) }
        for conflict in list { MergeResolution(conflict: conflict, policy: mergeType).run() }
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
