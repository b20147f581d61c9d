import CoreData
import Foundation

/// Waiting for the store, and the end of a stack.
extension CoreDataStack {
    /// Waits until everything that was saved before the call is in the store.
    ///
    /// What has waited above because the world refused it, such as a full disk, is tried again. Unsaved changes are not saved, but for those
    /// that a bubbling save would take along.
    ///
    /// - Throws: why something is not in the store: an error of the store, after which it waits as before; or, where nobody has listened to
    ///   `saveErrors`, the first error since the last flush of a save that has gone back to its context.
    public func flush() async throws {
        let walk = SaveWalk(of: core)
        try await mainQueueContext.perform(schedule: .immediate) { [self] in try saveMain(walk) }
        try await privateQueueContext.perform(schedule: .immediate) { [self] in try saveRoot(walk) }
        for context in returning { await context.perform(schedule: .immediate) { context.acceptReturnedSaves() } }
        try walk.check()
        if let error = core.errors.takeUnheard() { throw error }
    }

    /// As `flush()`, for code that cannot await.
    ///
    /// > Concurrency: may be called from any thread, also on the main queue.
    public func flushAndWait() throws {
        let walk = SaveWalk(of: core)
        try mainQueueContext.performAndWait { try saveMain(walk) }
        try privateQueueContext.performAndWait { try saveRoot(walk) }
        for context in returning { context.performAndWait { context.acceptReturnedSaves() } }
        try walk.check()
        if let error = core.errors.takeUnheard() { throw error }
    }

    /// Waits until everything that was saved is in the store, and closes it. Every fetch and save of the stack's contexts, and every save into
    /// them, throws `Error.stackWasClosed` from then on, and objects that have not been read have no values.
    ///
    /// Unsaved changes are lost with their contexts. Closing twice does nothing; while another closes it, or a reset is under way, this waits as
    /// well.
    ///
    /// - Throws: what `flush()` throws; the stack is open then, and works as before.
    public func close() async throws {
        guard await core.gate.beginClosingOnceOpen() else { return }
        do {
            await core.gate.drain()
            try await flush()
        } catch {
            core.gate.endClosing(isForGood: false)
            throw error
        }
        disconnect()
        core.gate.endClosing(isForGood: true)
    }

    /// As `close()`, for code that cannot await; while a reset is under way it throws `Error.storeWasReset`, and nothing is closed.
    ///
    /// > Concurrency: may be called from any thread, also on the main queue.
    public func closeAndWait() throws {
        guard try core.gate.beginClosing() else { return }
        do {
            // Whoever is in the middle of a save ends that layer's.
            for context in core.transientContexts { context.performAndWait {} }
            try flushAndWait()
        } catch {
            core.gate.endClosing(isForGood: false)
            throw error
        }
        disconnect()
        core.gate.endClosing(isForGood: true)
    }

    /// Main has something of others', and takes its own along, as with every save that bubbles through it.
    private func saveMain(_ walk: SaveWalk) throws {
        mainQueueContext.acceptReturnedSaves()
        mainQueueContext.endChildSavesOfNothing()
        if mainQueueContext.hasChildSaves { try walk.save(mainQueueContext, keepsOwnFailure: false) }
    }

    private func saveRoot(_ walk: SaveWalk) throws {
        privateQueueContext.endChildSavesOfNothing()
        if privateQueueContext.hasChanges { try walk.save(privateQueueContext, keepsOwnFailure: false) }
    }

    /// Where saves may have gone back to.
    private var returning: [NSManagedObjectContext] { [mainQueueContext] + core.transientContexts }

    /// Nothing is left to be saved: the contexts end, and so do the stores.
    func disconnect() {
        // Where it cannot be noted that all was seen, the next stack of that name does.
        try? core.following?.noteAll()
        core.keep(nil)
        core.beginLeavingBehind(throwing: .stackWasClosed)
        for context in [mainQueueContext, privateQueueContext] { context.disconnect(throwing: Error.stackWasClosed) }
        for store in core.coordinator.persistentStores { try? core.coordinator.remove(store) }
    }
}

/// A stack for as long as a block runs: for tools, which end when their work is done.
extension CoreDataStack {
    /// Makes a stack on a file, runs `body` with it, waits until everything that was saved is in the file, and closes it.
    ///
    /// ```swift
    /// try CoreDataStack.withStack(model: model, at: url) { stack in
    ///     try stack.mainQueueContext.performAndWait {
    ///         Note(context: stack.mainQueueContext).text = "hello"
    ///         try stack.mainQueueContext.save()
    ///     }
    /// }
    /// ```
    /// - Throws: what `body` throws, after everything that was saved until then is in the file; what keeps the stack from being made, or
    ///   something that was saved from getting into the file. The stack is closed in any case.
    public static func withStack<Result>(
        model: NSManagedObjectModel,
        at desiredStoreURL: URL? = nil,
        persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
        _ body: (CoreDataStack) throws -> Result
    ) throws -> Result {
        let stack = try makeSQLiteStack(
            model,
            desiredStoreURL ?? DefaultPlace.url(for: "Model"),
            PersistentStoreOptions(persistentStoreOptions)
        )
        let result = Swift.Result { try body(stack) }
        do { try stack.closeAndWait() } catch { try stack.endWithout(result, error) }
        return try result.get()
    }

    /// As `withStack(model:at:persistentStoreOptions:_:)`, for work that awaits.
    nonisolated(nonsending)
        public static func withStack<Result>(
            model: NSManagedObjectModel,
            at desiredStoreURL: URL? = nil,
            persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
            _ body: nonisolated(nonsending) (CoreDataStack) async throws -> Result
        ) async throws -> Result
    {
        let stack = try makeSQLiteStack(
            model,
            desiredStoreURL ?? DefaultPlace.url(for: "Model"),
            PersistentStoreOptions(persistentStoreOptions)
        )
        let result: Swift.Result<Result, any Swift.Error>
        do { result = .success(try await body(stack)) } catch { result = .failure(error) }
        do { try await stack.close() } catch { try stack.endWithout(result, error) }
        return try result.get()
    }

    /// The scope ends though something is not in the store. The body's own error comes first.
    private func endWithout<Value>(_ result: Swift.Result<Value, any Swift.Error>, _ error: any Swift.Error) throws {
        core.gate.closeForGood()
        disconnect()
        if case .success = result { throw error }
        core.errors.report(error)
    }
}
