import CoreData
import Foundation

extension CoreDataStack {
    /// Carries out a batch request, and merges what it has done into root and main: both show it when this returns.
    ///
    /// What was saved before the call is in the store by then, and counts. New objects come to main as faults, a thousand a turn of its queue; changes
    /// that are not saved stay, on top of the new values. Root registers none of the new objects: a results controller of root's own has them from its next
    /// fetch on.
    ///
    /// - Parameters:
    ///   - request: an `NSBatchInsertRequest`, `NSBatchUpdateRequest` or `NSBatchDeleteRequest`. A handler of it is called on a background queue.
    ///   - mergePolicy: what becomes of rows whose unique values are there already.
    /// - Returns: its result, as the request's `resultType` says.
    /// - Throws: `Error.storeWasReset`, `Error.stackWasClosed`; what `flush()` throws; what the request throws, which has changed nothing then.
    @discardableResult
    public func executeBatch(
        _ request: sending NSPersistentStoreRequest,
        mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump
    ) async throws -> sending NSPersistentStoreResult {
        try await SaveGate.admit { try core.gate.begin() }
        defer { core.gate.leave() }
        try await flush()
        let context = StackContext(.privateQueueConcurrencyType, core, name: "Batch Request Context")
        context.persistentStoreCoordinator = core.coordinator
        context.mergePolicy = mergePolicy
        // What it changes is merged here: a stack that follows a history is not to do so again.
        context.transactionAuthor = privateQueueContext.transactionAuthor
        // Whoever closes the stack waits for it.
        core.add(context)
        // The caller has given the request away; it is used on the context's queue only.
        nonisolated(unsafe) let request = request
        let done = try await context.perform {
            do { return try Done(context.executeCollectingIDs(request)) } catch {
                // Whoever closes the stack at that moment takes the store away.
                try context.requireConnected()
                throw error
            }
        }
        await merge(done.changes)
        return done.result
    }

    /// What a request has done.
    // Sendable: the result was made for the caller alone, who gets it.
    private struct Done: @unchecked Sendable {
        let result: NSPersistentStoreResult
        let changes: BatchSave

        init(_ done: NSManagedObjectContext.BatchExecution) {
            result = done.result
            changes = BatchSave(inserted: done.inserted, updated: done.updated, deleted: done.deleted)
        }
    }

    private func merge(_ changes: BatchSave) async {
        let (root, main) = (privateQueueContext, mainQueueContext)
        await root.perform { changes.merge(intoRoot: root) }
        for turn in changes.turns(of: BatchContext.insertsPerTurn) {
            await main.perform { NSManagedObjectContext.mergeChanges(fromRemoteContextSave: turn.info, into: [main]) }
        }
    }
}
