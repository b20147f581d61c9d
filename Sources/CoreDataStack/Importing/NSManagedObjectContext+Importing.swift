import CoreData
import Foundation

/// Imports of any length, in chunks that are saved as wholes.
extension NSManagedObjectContext {
    /// Imports elements chunk by chunk: `body` makes objects of a chunk, the chunk is saved, the context is reset, and so on to the end.
    ///
    /// Memory stays flat however many elements there are: they are taken from the sequence as they are needed, and no object outlives its chunk,
    /// so hold none beyond `body`. `save()` is this context's: in a child the chunks go to its parent.
    ///
    /// A cancelled `progress`, or task, ends the import before the next save. Whatever ends it, the chunks before are saved and
    /// nothing of the last one is in the context.
    ///
    /// > Concurrency: on the context's queue; use a context of the import's own, such as a batch-operation context.
    ///
    /// - Parameters:
    ///   - elements: what to import, in this order.
    ///   - size: how many elements a chunk has; of the last one, what is left.
    ///   - progress: grows by each saved element. Say the total there, where you know it; it may be cancelled from any thread.
    ///   - body: makes the objects of a chunk; the save follows it.
    /// - Returns: how many elements were imported.
    /// - Throws: what `body` or `save()` throws; `CocoaError.userCancelled`.
    /// - Precondition: the context has no unsaved changes, and `size` is positive.
    @discardableResult
    public func importElements<Element>(
        _ elements: some Sequence<Element>,
        inChunksOf size: Int = 1000,
        progress: Progress? = nil,
        _ body: ([Element]) throws -> Void
    ) throws -> Int {
        precondition(size > 0, "A chunk has one element at least.")
        precondition(!hasChanges, "An import resets its context: save or roll back what is unsaved before, or use another context.")
        var (iterator, count) = (elements.makeIterator(), 0)
        while true {
            try Self.requireNotCancelled(progress)
            var chunk: [Element] = []
            while chunk.count < size, let element = iterator.next() { chunk.append(element) }
            if chunk.isEmpty { return count }
            try importChunk(progress) { try body(chunk) }
            count += chunk.count
            progress?.completedUnitCount += Int64(chunk.count)
        }
    }

    /// As the other one, awaited: from any actor; `body` runs on the context's queue. The end of the task ends the import.
    @discardableResult
    public func importElements<Element>(
        _ elements: some Sequence<Element> & Sendable,
        inChunksOf size: Int = 1000,
        progress: Progress? = nil,
        _ body: @escaping @Sendable ([Element]) throws -> Void
    ) async throws -> Int {
        // Apart from the caller's, which others may use too.
        let cancellation = Progress(totalUnitCount: 1)
        return try await withTaskCancellationHandler {
            try await perform {
                try self.importElements(elements, inChunksOf: size, progress: progress) { chunk in
                    try Self.requireNotCancelled(cancellation)
                    try body(chunk)
                    try Self.requireNotCancelled(cancellation)
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Saves what `body` makes, or nothing of it; the context is empty then.
    private func importChunk(_ progress: Progress?, _ body: () throws -> Void) throws {
        defer { reset() }
        try body()
        try Self.requireNotCancelled(progress)
        try save()
    }

    private static func requireNotCancelled(_ progress: Progress?) throws {
        if progress?.isCancelled == true || Task.isCancelled { throw CocoaError(.userCancelled) }
    }
}
