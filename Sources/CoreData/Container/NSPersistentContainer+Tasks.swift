extension NSPersistentContainer {
    /// Runs a block on the queue of a new background context and gives its result. What the block has not saved is dropped.
    ///
    /// Hand out IDs rather than objects: these are nobody's once the context is gone.
    ///
    /// - Throws: what the block throws.
    @preconcurrency
    nonisolated(nonsending)
        public func performBackgroundTask<Result>(
            _ block: @escaping @Sendable (NSManagedObjectContext) throws -> Result
        ) async rethrows -> Result
    {
        let context = newBackgroundContext()
        return try await context.perform(schedule: .enqueued) { try block(context) }
    }
}

/// Lends the container a property of the name that the method has, which Swift refuses in one type.
public protocol _DefaultDirectory {}

extension NSPersistentContainer: _DefaultDirectory {}

extension _DefaultDirectory where Self: NSPersistentContainer {
    /// As `defaultDirectoryURL()`, which subclasses override.
    public static var defaultDirectoryURL: URL { Self.defaultDirectoryURL() }
}
