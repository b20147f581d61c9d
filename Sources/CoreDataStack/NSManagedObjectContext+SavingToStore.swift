import CoreData
import Foundation

/// Saves that end in the store, or say why not. For the contexts of a stack, and for any other with parents.
extension NSManagedObjectContext {
    /// Saves this context, and calls back once the changes are in the store, or a layer has failed: with its error, on this context's queue.
    ///
    /// Without changes here, and none that were saved before and are on their way, it succeeds at once.
    public func saveContext(_ completion: CoreDataStack.SaveCompletion? = nil) {
        perform { [self] in saveUpwards(stopsWithoutChanges: true, completion) }
    }

    /// As `saveContext(_:)`, awaited.
    ///
    /// - Throws: the error of the layer that failed; its changes, and those of the layers above, stay unsaved there. What data are the reason
    ///   for has gone back: this context has its changes unsaved again.
    public func saveContext() async throws {
        try await walk(stopsWithoutChanges: true)
    }

    /// Saves this context and waits for it; the changes go on to the store meanwhile.
    ///
    /// - Throws: what `save()` throws. Later errors are reported by the stack's `saveErrors`.
    public func saveContextAndWait() throws {
        try performAndWait { try save() }
    }

    /// Saves this context and every one above it, also where one has no changes, and calls back as `saveContext(_:)` does.
    public func saveContextToStore(_ completion: CoreDataStack.SaveCompletion? = nil) {
        perform { [self] in saveUpwards(stopsWithoutChanges: false, completion) }
    }

    /// As `saveContextToStore(_:)`, awaited.
    ///
    /// - Throws: the error of the layer that failed; its changes, and those of the layers above, stay unsaved there. What data are the reason
    ///   for has gone back: this context has its changes unsaved again. Changes of a layer above that cannot be saved are reported too; they
    ///   keep nothing else from the store.
    public func saveToStore() async throws {
        try await walk(stopsWithoutChanges: false)
    }

    /// Saves this context and every one above it, one after the other, and waits until the changes are in the store.
    ///
    /// - Throws: as `saveToStore()`.
    public func saveContextToStoreAndWait() throws {
        try performAndWait {
            let walk = try SaveWalk(self)
            var next: NSManagedObjectContext? = self
            while let context = next {
                try context.performAndWait { _ = try walk.save(context) }
                next = context.parent
            }
            for context in walk.layersBelow { context.performAndWait { context.acceptReturnedSaves() } }
            try walk.check()
        }
    }
}

extension NSManagedObjectContext {
    private func walk(stopsWithoutChanges: Bool) async throws {
        let walk = try await SaveGate.admit { try SaveWalk(self) }
        var next: NSManagedObjectContext? = self
        while let context = next {
            let hadChanges = try await context.perform(schedule: .immediate) { try walk.save(context) }
            if !hadChanges, stopsWithoutChanges, context === self { return }
            next = context.parent
        }
        for context in walk.layersBelow { await context.perform(schedule: .immediate) { context.acceptReturnedSaves() } }
        try walk.check()
    }

    /// Saves this layer, on its queue, and goes on to the next.
    private func saveUpwards(stopsWithoutChanges: Bool, _ completion: CoreDataStack.SaveCompletion?) {
        do {
            saveUpwards(from: self, try SaveWalk(self), stopsWithoutChanges, completion)
        } catch {
            end(.failure(error), completion)
        }
    }

    private func saveUpwards(
        from origin: NSManagedObjectContext,
        _ walk: SaveWalk,
        _ stopsWithoutChanges: Bool,
        _ completion: CoreDataStack.SaveCompletion?
    ) {
        do {
            let hadChanges = try walk.save(self)
            if stopsWithoutChanges, !hadChanges { return origin.end(.success(()), completion) }
            if let parent { return parent.perform { parent.saveUpwards(from: origin, walk, false, completion) } }
        } catch {
            return origin.end(.failure(error), completion)
        }
        acceptDownwards(walk.layersBelow[...]) { origin.end(Result { try walk.check() }, completion) }
    }

    /// What came back goes from layer to layer.
    private func acceptDownwards(_ layers: ArraySlice<NSManagedObjectContext>, _ completion: @escaping @Sendable () -> Void) {
        guard let layer = layers.first else { return completion() }
        layer.perform {
            layer.acceptReturnedSaves()
            layer.acceptDownwards(layers.dropFirst(), completion)
        }
    }

    /// Tells whoever waits, or where nobody does, who listens to errors.
    private func end(_ result: Result<Void, any Error>, _ completion: CoreDataStack.SaveCompletion?) {
        guard let completion else {
            if case .failure(let error) = result { stackCore?.errors.report(error) }
            return
        }
        perform { completion(CoreDataStack.SuccessResult(result)) }
    }
}
