import Foundation
import Synchronization

/// What ties a context to what it stands on: its coordinator, or its parent context.
///
/// Made once, before the context has objects. Only whether the context follows, and whether it was cut off, change afterwards, from any thread.
final class ParentLink {
    /// For a context on a coordinator.
    let coordinator: NSPersistentStoreCoordinator?
    /// For a child context, what it saves into.
    let context: NSManagedObjectContext?
    /// What the context was tied to, cut off or not.
    let source: any GraphParent
    private let follows = Atomic(false)
    /// Asked before the lock is taken.
    private let cut = Atomic(false)
    private let disconnected = Lock<DisconnectedParent?>(nil)

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
        if isCut, let disconnected = disconnected.withLock({ $0 }) { return disconnected }
        return source
    }

    /// Whether the context was disconnected.
    var isCut: Bool { cut.load(ordering: .acquiring) }

    /// Whether what others save is merged into the context.
    var followsSaves: Bool {
        get { follows.load(ordering: .acquiring) }
        set { follows.store(newValue, ordering: .releasing) }
    }

    /// Every fetch and save of the context throws `error` from now on.
    func cut(throwing error: any Error) {
        let parent = DisconnectedParent(source.managedObjectModel, isStoreSide: source.isStoreSide, throwing: error)
        disconnected.withLock { $0 = parent }
        cut.store(true, ordering: .releasing)
    }
}
