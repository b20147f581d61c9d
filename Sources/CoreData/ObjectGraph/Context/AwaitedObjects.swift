/// Objects that a context made for IDs which mean nothing there, or nothing yet: each ID has one object, and where the ID comes to mean a row,
/// that object becomes the row's.
///
/// Holds no object: they are found by the temporary keys that they have meanwhile.
struct AwaitedObjects {
    private var keys: [NSManagedObjectID: Int64] = [:]
    /// Up to which of the process' events the IDs were looked at.
    private var generation = 0
    /// How many there may be before those are dropped whose objects are gone.
    private var limit = 32

    var isEmpty: Bool { keys.isEmpty }

    func key(of id: NSManagedObjectID) -> Int64? { keys[id] }

    mutating func add(_ id: NSManagedObjectID, key: Int64, isAlive: (Int64) -> Bool) {
        if keys.count >= limit {
            keys = keys.filter { isAlive($0.value) }
            limit = max(32, keys.count * 2)
        }
        keys[id] = key
    }

    mutating func removeAll() { keys = [:] }

    /// The IDs and keys, where any of the IDs may have come to mean something since this was last called.
    mutating func due(at now: Int) -> [(id: NSManagedObjectID, key: Int64)] {
        guard generation != now else { return [] }
        generation = now
        return keys.map { ($0.key, $0.value) }
    }

    mutating func remove(_ id: NSManagedObjectID) { keys[id] = nil }
}
