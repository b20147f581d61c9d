import Foundation

/// How the members of a set change: Foundation's, which Linux does not have.
@available(
    *,
    unavailable,
    message: "There is no key-value observing on Linux: change a relationship with mutableSetValue(forKey:) or its accessors."
)
public enum NSKeyValueSetMutationKind: UInt {
    case union = 1
    case minus = 2
    case intersect = 3
    case set = 4
}

extension NSManagedObject {
    @available(*, unavailable, message: "Change a relationship with mutableSetValue(forKey:) or its accessors, which notify by themselves.")
    public func willChangeValue(
        forKey inKey: String,
        withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) { absent() }

    @available(*, unavailable, message: "Change a relationship with mutableSetValue(forKey:) or its accessors, which notify by themselves.")
    public func didChangeValue(
        forKey inKey: String,
        withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) { absent() }

    /// Key-value coding's mutable array. On a Mac, too, Core Data keeps no arrays in relationships.
    @available(
        *,
        unavailable,
        message: "Relationships are sets: mutableOrderedSetValue(forKey:) changes an ordered one, mutableSetValue(forKey:) another."
    )
    public func mutableArrayValue(forKey key: String) -> NSMutableArray { absent() }
}
