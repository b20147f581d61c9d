/// A call of an incremental store's class that is under way. Who removes the store does not wait for it: until it has ended, the store has its
/// coordinator, which a class relies on while it answers.
final class HookCall {
    let store: NSIncrementalStore
    let coordinator: NSPersistentStoreCoordinator
    let cache: RowCache

    /// Begins one, which ends with the last reference to it.
    ///
    /// - Throws: `CocoaError` 134070 where the store was removed.
    init(of store: NSIncrementalStore) throws {
        store.calls.begin()
        guard let coordinator = store.persistentStoreCoordinator, let cache = store.rowsAtHand.withLock({ $0 }) else {
            store.calls.end { store.owner = nil }
            throw store.closed
        }
        (self.store, self.coordinator, self.cache) = (store, coordinator, cache)
    }

    deinit { store.calls.end { store.owner = nil } }
}

/// The calls that are under way, and whether the store was removed meanwhile.
final class HookCalls: Sendable {
    private let state = Lock((running: 0, isRemoved: false))

    fileprivate func begin() { state.withLock { $0.running += 1 } }

    /// - Parameter leave: lets the coordinator go.
    fileprivate func end(_ leave: () -> Void) {
        state.withLock { state in
            state.running -= 1
            if state.isRemoved, state.running == 0 { leave() }
        }
    }

    /// - Parameter leave: lets the coordinator go; not called while there are calls, the last of which does so.
    func remove(_ leave: () -> Void) {
        state.withLock { state in
            state.isRemoved = true
            if state.running == 0 { leave() }
        }
    }
}
