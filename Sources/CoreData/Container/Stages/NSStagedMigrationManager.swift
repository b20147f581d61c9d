import Foundation

/// Takes stores over several versions of a model, in stages that a program lists in order.
///
/// It is an option of the store, under `NSPersistentStoreStagedMigrationManagerOptionKey`; `NSMigratePersistentStoresAutomaticallyOption` must be on, too.
/// A store is found by its version checksum among the stages; those before it are left out, and those after it run up to the coordinator's
/// model. Each ends in a valid store: a process that is killed is gone on with by the next that opens it. Other processes that open the store
/// with stages meanwhile wait.
///
/// Within lightweight stages the way goes from a version to the last one at once, where that can be inferred; else over those between, as far as
/// their models are found: in the stages' references, registered, or in bundles. (Apple's goes to the last one only.)
///
/// - Throws, from the call that adds the store: `CocoaError` 134110 that names the stage, with the reason underneath: a version that no stage begins
///   with, a reference that leads to no model (134504), what a handler has thrown; 134506 where the stages lead to the coordinator's model backwards.
///
/// > Concurrency: handlers run on the thread that opens the store. Of several that are opened at once with one manager, a handler has its own
/// store's `container` on that thread; on another one, that of the handler that was called last.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    // Sendable: the stages are constant, the container stands behind a lock.
    public let stages: [NSMigrationStage]
    /// Of the handlers under way, with the threads on which they were called.
    private let containers = Lock<[(thread: pthread_t, container: NSPersistentContainer)]>([])

    /// - Precondition: no version is in two stages, unless the one ends and the next begins with it.
    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
        if let twice = StageChain(stages).repeatedChecksum {
            misuse("The version with the checksum \(twice) is in several stages: a version has one place in their order.")
        }
    }

    /// The store that is being migrated, for the handlers of a stage; nil at any other time.
    open var container: NSPersistentContainer? {
        let thread = pthread_self()
        return containers.withLock { all in (all.last { $0.thread == thread } ?? all.last)?.container }
    }

    /// Runs `body` while a container is there.
    func withContainer(_ container: NSPersistentContainer, _ body: () throws -> Void) rethrows {
        let thread = pthread_self()
        containers.withLock { $0.append((thread, container)) }
        defer {
            containers.withLock { all in
                if let place = all.lastIndex(where: { $0.thread == thread }) { all.remove(at: place) }
            }
        }
        try body()
    }
}

extension NSStagedMigrationManager: StorePreparation {
    func prepare(_ opening: StoreOpening) throws {
        guard DatabaseOptions.flag(opening.options?[NSMigratePersistentStoresAutomaticallyOption]),
            !DatabaseOptions.flag(opening.options?[NSReadOnlyPersistentStoreOption])
        else { return }
        try StagedMigration(self, opening)?.run()
    }
}
