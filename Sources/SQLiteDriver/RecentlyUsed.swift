/// Values by key, as many as limits of their number and their cost allow: those that were used least recently go first.
package struct RecentlyUsed<Key: Hashable, Value> {
    private struct Entry {
        let value: Value
        let cost: Int
        var lastUse: UInt64
    }

    private let countLimit: Int
    private let costLimit: Int
    private var entries: [Key: Entry] = [:]
    /// The one that was used last, which is mostly asked for again: long keys are compared sooner than hashed.
    private var latest: (key: Key, value: Value)?
    private var cost = 0
    private var clock: UInt64 = 0

    package init(countLimit: Int, costLimit: Int = .max) {
        self.countLimit = countLimit
        self.costLimit = costLimit
    }

    package var count: Int { entries.count }

    /// The value of a key, which is now the one used latest.
    package mutating func value(for key: Key) -> Value? {
        if let latest, latest.key == key { return latest.value }
        guard let index = entries.index(forKey: key) else { return nil }
        clock += 1
        entries.values[index].lastUse = clock
        latest = (key, entries.values[index].value)
        return latest?.value
    }

    /// Keeps a value; not one that would take a quarter of all there is.
    package mutating func insert(_ value: Value, for key: Key, cost: Int = 0) {
        guard cost <= costLimit / 4 else { return }
        clock += 1
        latest = nil
        let former = entries.updateValue(Entry(value: value, cost: cost, lastUse: clock), forKey: key)
        self.cost += cost - (former?.cost ?? 0)
        if entries.count > countLimit || self.cost > costLimit { evict() }
    }

    package mutating func removeAll() { self = Self(countLimit: countLimit, costLimit: costLimit) }

    /// A quarter goes at once, so that sorting is paid for by what is inserted until the next time.
    private mutating func evict() {
        for (key, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard entries.count > countLimit / 4 * 3 || cost > costLimit / 4 * 3 else { return }
            entries[key] = nil
            cost -= entry.cost
        }
    }
}
