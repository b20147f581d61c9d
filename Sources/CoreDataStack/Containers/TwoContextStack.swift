import CoreData

/// Two contexts side by side on one coordinator, each of which takes over what the other saves:
///
/// ```
/// store ◂── coordinator ◂── mainQueueContext
///                       ◂── backgroundContext
/// ```
///
/// What one saves comes into the other a turn of its queue later; what is unsaved there stays. Where both have changed a property, whoever
/// saves later wins. For work whose errors are to come back, or that is to be thrown away, there is `CoreDataStack`.
///
/// > Concurrency: All members may be used from any thread; a context only on its queue.
public final class TwoContextStack: Sendable {
    public let container: NSPersistentContainer
    /// The context for everything on the main queue: the container's `viewContext`.
    public let mainQueueContext: NSManagedObjectContext
    /// The context for everything that takes longer, on its own queue.
    public let backgroundContext: NSManagedObjectContext

    /// Sets up the contexts of a container, whose stores may be loaded before or afterwards.
    public init(_ container: NSPersistentContainer) {
        self.container = container
        (mainQueueContext, backgroundContext) = (container.viewContext, container.newBackgroundContext())
        for context in [mainQueueContext, backgroundContext] {
            context.automaticallyMergesChangesFromParent = true
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        }
    }
}
