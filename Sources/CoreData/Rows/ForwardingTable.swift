import Synchronization

/// The permanent identities of objects that contexts of one tree know by temporary keys. One table per root context.
///
/// A save that gives out keys changes what the file holds and what the keys mean; readers who look at both use `consistently`.
final class ForwardingTable: Sendable {
    private let keys = Lock(Keys())
    /// What has to stay in the table.
    let names = TemporaryNames()
    /// From how many keys on it is worth looking for some that nobody names.
    private let limit = Atomic(0)
    /// Never for fewer than these. Tests have a smaller one.
    let smallestLimit = Atomic(4096)
    private let recorded = Atomic(0)
    /// Odd while a commit is under way whose keys are not recorded yet.
    private let publications = Atomic(0)
    private let publishing = Mutex()
    private let dropped = Atomic(false)
    private let replacements = Lock(RowReplacements())
    private let hasReplacements = Atomic(false)
    /// Objects under permanent keys whose saves have gone back.
    private let droppedReferences = Lock(Set<RowReference>())
    let returned = ReturnedReferences()

    typealias Forwarding = (temporary: Int64, permanent: RowReference)

    private struct Keys {
        var forwarding = KeyForwarding()
        /// The latest, for those who follow.
        var latest: ContiguousArray<Forwarding> = []
        /// How many were recorded before them.
        var earlier = 0

        private static let limit = 4096

        mutating func record(_ forwardings: [Forwarding]) {
            for (temporary, permanent) in forwardings { forwarding.insert(permanent, for: temporary) }
            if latest.count + forwardings.count > Self.limit { forgetLatest() }
            if forwardings.count > Self.limit { earlier += forwardings.count } else { latest += forwardings }
        }

        mutating func forgetLatest() { (earlier, latest) = (earlier + latest.count, []) }
    }

    /// Grows with every key recorded.
    var generation: Int { recorded.load(ordering: .acquiring) }

    /// The permanent identity of a temporary key, once there is one.
    subscript(_ temporary: Int64) -> RowReference? { keys.withLock { $0.forwarding[temporary] } }

    func record(_ forwardings: [Forwarding]) {
        guard !forwardings.isEmpty else { return }
        keys.withLock { keys in
            keys.record(forwardings)
            recorded.add(forwardings.count, ordering: .releasing)
        }
    }

    /// What was recorded since the table was of a generation, and which generation it is of now; nil where that is too much to say.
    func recorded(since generation: Int) -> (forwardings: ContiguousArray<Forwarding>.SubSequence?, generation: Int) {
        keys.withLock { keys in
            let known = generation - keys.earlier
            return (known < 0 ? nil : keys.latest[known...], keys.earlier + keys.latest.count)
        }
    }

    var count: Int { keys.withLock { $0.forwarding.count } }

    /// Nobody knows any of the keys.
    func removeAll() {
        keys.withLock { keys in
            if !keys.forwarding.isEmpty { keys.forwarding = KeyForwarding() }
            keys.forgetLatest()
        }
    }

    /// Drops the keys that no context names any more, once there are many.
    ///
    /// - Complexity: O(1) for each key that was ever recorded: where it finds few, the next call that looks is that with twice as many.
    func removeUnnamed() {
        let count = count
        let smallest = smallestLimit.load(ordering: .relaxed)
        guard count > max(smallest, limit.load(ordering: .relaxed)) else { return }
        if hasReplacements.load(ordering: .acquiring) { replacements.withLock { $0.update(newest) } }
        let remaining = names.withAll { named in
            returned.removeUnnamed(named)
            return keys.withLock { keys in
                let kept = keys.forwarding.filter(named.contains)
                // Where most of them stay, they stay where they are found fastest.
                if kept.count <= keys.forwarding.count / 2 { keys.forwarding = kept }
                return kept.count
            }
        }
        limit.store(2 * remaining, ordering: .relaxed)
        if remaining >= smallest / 2 { names.askAnew() }
    }

    private func newest(_ reference: RowReference) -> RowReference { reference.key < 0 ? self[reference.key] ?? reference : reference }

    /// Whether a context of the tree may have dropped an object that a child takes for saved.
    var hasDroppedInsertions: Bool { dropped.load(ordering: .acquiring) }

    func noteDroppedInsertions() { dropped.store(true, ordering: .releasing) }

    /// A merge policy has merged an object into another one; contexts that have not heard of it may still refer to it.
    func noteReplacement(of lost: RowReference, by survivor: RowReference) {
        replacements.withLock { $0.insert(survivor, for: lost) }
        hasReplacements.store(true, ordering: .releasing)
    }

    /// What an object was merged into.
    func replacement(of reference: RowReference) -> RowReference? {
        guard hasReplacements.load(ordering: .acquiring) else { return nil }
        return replacements.withLock { $0[reference] }
    }

    /// New objects whose saves have gone back: nobody has them but who saved them.
    func noteDropped(_ references: [RowReference]) {
        droppedReferences.withLock { $0.formUnion(references.lazy.filter { $0.key > 0 }) }
        noteDroppedInsertions()
    }

    /// As `noteDropped(_:)`, with the reason, for whoever refers to them before he hears of it.
    func noteReturned(_ references: [RowReference], _ cause: any Error) {
        guard returned.add(references, cause) else { return }
        names.withAll(returned.removeUnnamed)
        names.askAnew()
    }

    /// Whether nobody else may have the object: it has a temporary key, or its save has once gone back.
    func mayBeDropped(_ reference: RowReference) -> Bool {
        reference.key < 0 || (hasDroppedInsertions && droppedReferences.withLock { $0.contains(reference) })
    }

    /// The caller is about to commit; `endPublishing()` follows on the same thread, whatever happens.
    func beginPublishing() {
        publishing.lock()
        publications.add(1, ordering: .sequentiallyConsistent)
    }

    func endPublishing() {
        publications.add(1, ordering: .sequentiallyConsistent)
        publishing.unlock()
    }

    /// Runs `body`, which reads unsaved changes of other contexts and then the file, again where a commit came between the two and `body`
    /// met temporary keys: the same object would be found under both its keys.
    func consistently<Result>(_ body: () throws -> (result: Result, metTemporaryKeys: Bool)) rethrows -> Result {
        while true {
            let before = publications.load(ordering: .sequentiallyConsistent)
            let (result, metTemporaryKeys) = try body()
            if !metTemporaryKeys || (before.isMultiple(of: 2) && publications.load(ordering: .sequentiallyConsistent) == before) {
                return result
            }
            // Until the commit under way has recorded its keys.
            publishing.withLock {}
        }
    }
}
