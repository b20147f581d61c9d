import CoreData

/// Giving up what waits above: for what the world refuses, and nobody wants to wait for any more.
extension NSManagedObjectContext {
    /// Throws away the unsaved changes of this context and of every one above it; all contexts below show what is in the store again.
    ///
    /// On the main context of a stack that is everything which was saved and is not in the store yet. What other contexts have not saved stays
    /// there.
    public func rollbackToStore() async {
        for context in layersFromStore { await context.perform(schedule: .immediate) { context.throwAwayChanges() } }
    }

    /// As `rollbackToStore()`, for code that cannot await.
    public func rollbackToStoreAndWait() {
        for context in layersFromStore { context.performAndWait { context.throwAwayChanges() } }
    }

    private var layersFromStore: [NSManagedObjectContext] { (parent?.layersFromStore ?? []) + [self] }
}
