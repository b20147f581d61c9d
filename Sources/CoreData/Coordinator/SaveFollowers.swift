/// Somebody who wants to know what others save through a coordinator.
protocol SaveFollower: AnyObject, Sendable {
    /// Called after a save, on the queue of whoever saved.
    func follow(_ saved: SavedReferences)
}

/// The followers of a coordinator's saves, as long as they live.
struct SaveFollowers {
    private struct Reference {
        weak var follower: (any SaveFollower)?
    }
    private var references: [Reference] = []

    mutating func add(_ follower: any SaveFollower) {
        references.removeAll { $0.follower == nil || $0.follower === follower }
        references.append(Reference(follower: follower))
    }

    mutating func remove(_ follower: any SaveFollower) { references.removeAll { $0.follower === follower } }

    func others(than saver: AnyObject) -> [any SaveFollower] { references.compactMap(\.follower).filter { $0 !== saver } }
}
