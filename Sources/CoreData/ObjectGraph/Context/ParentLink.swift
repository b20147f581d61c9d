import Foundation
import Synchronization

/// What ties a context to what it stands on: its coordinator, or its parent context.
///
/// Made once, before the context has objects. Only whether the context follows, which query generation it reads, and whether it was cut off,
/// change afterwards, from any thread.
final class ParentLink {
    /// For a context on a coordinator.
    let coordinator: NSPersistentStoreCoordinator?
    /// For a child context, what it saves into.
    let context: NSManagedObjectContext?
    /// What the context was tied to, cut off or not.
    let source: any GraphParent
    private let follows = Atomic(false)
    private let cut = Atomic(false)
    /// Whether something else than the source may answer. Asked before the lock is taken.
    private let isDiverted = Atomic(false)
    private let diversion = Lock(Diversion())

    /// What answers instead of the source.
    private struct Diversion {
        var disconnected: DisconnectedParent?
        var pinned: PinnedStores?
        /// Whether the source answers although the context is pinned.
        var readsNewest = false

        var parent: (any GraphParent)? { disconnected ?? (readsNewest ? nil : pinned) }
    }

    init(to coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        context = nil
        source = coordinator
    }

    init(to context: NSManagedObjectContext, _ parent: ParentContext) {
        coordinator = nil
        self.context = context
        source = parent
    }

    /// What answers the context.
    var parent: any GraphParent {
        if isDiverted.load(ordering: .acquiring), let other = diversion.withLock({ $0.parent }) { return other }
        return source
    }

    /// Whether the context was disconnected.
    var isCut: Bool { cut.load(ordering: .acquiring) }

    /// Why it was; nil where it was not.
    var disconnectionCause: (any Error)? { isCut ? diversion.withLock { $0.disconnected?.error } : nil }

    /// Whether what others save is merged into the context.
    var followsSaves: Bool {
        get { follows.load(ordering: .acquiring) }
        set { follows.store(newValue, ordering: .releasing) }
    }

    /// The query generation that the context reads.
    var generation: QueryGeneration? {
        isDiverted.load(ordering: .acquiring) ? diversion.withLock { $0.pinned?.generation } : nil
    }

    /// Pins a context on a coordinator to a query generation, or to none.
    func pin(to generation: QueryGeneration?) {
        guard let coordinator else { return }
        let former = diversion.withLock { diversion in
            defer { diversion.pinned = generation.map { PinnedStores(coordinator, $0) } }
            isDiverted.store(generation != nil || diversion.disconnected != nil, ordering: .releasing)
            return diversion.pinned
        }
        // Closing what nobody reads any more is not done under the lock.
        withExtendedLifetime(former) {}
    }

    /// A pinned context reads what the stores have at the moment, as long as that is so.
    func setReadsNewest(_ readsNewest: Bool) {
        if isDiverted.load(ordering: .acquiring) { diversion.withLock { $0.readsNewest = readsNewest } }
    }

    /// Every fetch and save of the context throws `error` from now on.
    func cut(throwing error: any Error) {
        let parent = DisconnectedParent(source.managedObjectModel, isStoreSide: source.isStoreSide, throwing: error)
        diversion.withLock { $0.disconnected = parent }
        isDiverted.store(true, ordering: .releasing)
        cut.store(true, ordering: .releasing)
    }
}
