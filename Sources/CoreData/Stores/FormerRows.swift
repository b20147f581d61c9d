/// The rows that a store which is read as a whole had when it was removed from its coordinator, so that contexts which have rows of then find out
/// whether these are still the newest when it is added once more.
struct FormerRows: Sendable {
    private struct Known {
        let digest: Int
        let version: Int32
    }
    /// By root entity and key.
    private var known: [Int: [Int64: Known]] = [:]
    /// The version of what is not known to be as it was: no row had it.
    private let fresh: Int32

    /// - Parameter former: what was kept when the store was removed the time before.
    init(after former: FormerRows?) {
        let last = former?.fresh ?? 1
        fresh = last < .max / 2 ? last + 1_000_000 : 2
    }

    mutating func note(_ version: Int32, _ digest: Int, root: Int, key: Int64) {
        known[root, default: [:]][key] = Known(digest: digest, version: version)
    }

    /// The version of a row: the one it had, where it has not changed.
    func version(_ digest: Int, root: Int, key: Int64) -> Int32 {
        guard let known = known[root]?[key], known.digest == digest else { return fresh }
        return known.version
    }
}
