/// The store descriptions of a container, and what has become of each.
struct DescribedStores {
    private enum Attempt {
        case underWay
        case succeeded(NSPersistentStore)
    }

    var descriptions: [NSPersistentStoreDescription] = []
    /// Those that were begun and have not failed, by the identity of their descriptions, which are held.
    private var attempts: [(description: NSPersistentStoreDescription, attempt: Attempt)] = []

    /// The descriptions without a store in the coordinator; whoever takes them sees to them.
    mutating func takeUnloaded(_ coordinator: NSPersistentStoreCoordinator) -> [NSPersistentStoreDescription] {
        attempts.removeAll { if case .succeeded(let store) = $0.attempt { !coordinator.stillHas(store) } else { false } }
        var taken: [NSPersistentStoreDescription] = []
        for description in descriptions where !attempts.contains(where: { $0.description === description }) {
            attempts.append((description, .underWay))
            taken.append(description)
        }
        return taken
    }

    /// Notes how it ended; one that has failed may be taken again.
    mutating func end(_ description: NSPersistentStoreDescription, _ result: Result<NSPersistentStore, any Error>) {
        attempts.removeAll { $0.description === description }
        if case .success(let store) = result { attempts.append((description, .succeeded(store))) }
    }
}

extension NSPersistentStoreCoordinator {
    /// Whether a store is here, or one that took its place when it was emptied.
    fileprivate func stillHas(_ store: NSPersistentStore) -> Bool {
        persistentStores.contains(store) || store.url.flatMap(persistentStore(for:)) != nil
    }
}
