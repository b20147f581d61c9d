import Dispatch
import Foundation

/// One save at a time: from the look at what others have saved to when the others can see this one. Ends with the last reference to it.
package final class SaveTurn {
    private var turns: SaveTurns?

    /// - Precondition: no turn is this thread's.
    /// - Throws: `CocoaError` 134090 to a hook, which waits for nobody who may be waiting for it.
    init(_ turns: SaveTurns, of store: NSPersistentStore) throws {
        try turns.begin(store)
        self.turns = turns
    }

    deinit { end() }

    func end() {
        turns?.end()
        turns = nil
    }
}

/// Whose turn it is to save a store.
final class SaveTurns: Sendable {
    private let semaphore = DispatchSemaphore(value: 1)
    private let thread = Lock<pthread_t?>(nil)

    fileprivate func begin(_ store: NSPersistentStore) throws {
        if thread.withLock({ $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }) {
            store.refuseNestedSave()
        }
        if store.hooks.isMine {
            guard semaphore.wait(timeout: .now()) == .success else { throw store.isSavedElsewhere }
        } else {
            semaphore.wait()
        }
        thread.withLock { $0 = pthread_self() }
    }

    fileprivate func end() {
        thread.withLock { $0 = nil }
        semaphore.signal()
    }
}
