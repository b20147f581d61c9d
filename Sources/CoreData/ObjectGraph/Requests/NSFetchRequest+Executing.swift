import Foundation

extension NSFetchRequest {
    /// Fetches in the context whose block is running: `context.fetch(self)` for code that has no name for the context.
    ///
    /// > Concurrency: inside `perform` or `performAndWait` of a context; of blocks inside each other, the innermost counts.
    /// - Throws: as `fetch(_:)`.
    /// - Precondition: the caller is inside such a block, also on the main queue, where several contexts may be used without one.
    public func execute() throws -> [ResultType] {
        guard let context = ContextQueue.current?.context else {
            misuse(
                """
                execute() of a fetch request was called outside of a context's block. Wrap it in context.perform { … }, or call \
                context.fetch(request).
                """
            )
        }
        return try context.fetch(self)
    }
}
