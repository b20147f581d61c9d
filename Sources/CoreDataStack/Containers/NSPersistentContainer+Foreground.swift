import CoreData

/// The counterparts of `performBackgroundTask`.
extension NSPersistentContainer {
    /// Runs a block on the main queue with `viewContext`, later.
    @preconcurrency public func performForegroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
        let context = viewContext
        context.perform { block(context) }
    }

    /// Runs a block on the main queue with `viewContext` and gives its result: at once for a caller that is there.
    ///
    /// - Throws: what the block throws.
    @preconcurrency
    nonisolated(nonsending)
        public func performForegroundTask<Result>(
            _ block: @escaping @Sendable (NSManagedObjectContext) throws -> Result
        ) async rethrows -> Result
    {
        let context = viewContext
        return try await context.perform { try block(context) }
    }
}
