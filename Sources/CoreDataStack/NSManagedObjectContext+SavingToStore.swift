import CoreData
import Foundation

/// Saves that end in the store, or say why not. For the contexts of a stack, and for any other with parents.
extension NSManagedObjectContext {
    /// Saves this context, and calls back once the changes are in the store, or a layer has failed: with its error, on this context's queue.
    ///
    /// Without changes here it succeeds at once.
    public func saveContext(_ completion: CoreDataStack.SaveCompletion? = nil) {
        perform { [self] in
            saveUpwards(from: self, stopsWithoutChanges: true, completion)
        }
    }

    /// As `saveContext(_:)`, awaited.
    ///
    /// - Throws: the error of the layer that failed; its changes, and those of the layers above, stay unsaved there.
    public func saveContext() async throws {
        guard try await perform(schedule: .immediate, { [self] in try saveLayer() }) else { return }
        try await parent?.saveToStore()
    }

    /// Saves this context and waits for it; the changes go on to the store meanwhile.
    ///
    /// - Throws: what `save()` throws. Later errors are reported by the stack's `saveErrors`.
    public func saveContextAndWait() throws {
        try performAndWait { try save() }
    }

    /// Saves this context and every one above it, also where one has no changes, and calls back as `saveContext(_:)` does.
    public func saveContextToStore(_ completion: CoreDataStack.SaveCompletion? = nil) {
        perform { [self] in saveUpwards(from: self, stopsWithoutChanges: false, completion) }
    }

    /// As `saveContextToStore(_:)`, awaited.
    ///
    /// - Throws: the error of the layer that failed; its changes, and those of the layers above, stay unsaved there.
    public func saveToStore() async throws {
        var next: NSManagedObjectContext? = self
        while let context = next {
            _ = try await context.perform(schedule: .immediate) { try context.saveLayer() }
            next = context.parent
        }
    }

    /// Saves this context and every one above it, one after the other, and waits until the changes are in the store.
    ///
    /// - Throws: the error of the layer that failed; its changes, and those of the layers above, stay unsaved there.
    public func saveContextToStoreAndWait() throws {
        try performAndWait {
            var next: NSManagedObjectContext? = self
            while let context = next {
                _ = try context.performAndWait { try context.saveLayer() }
                next = context.parent
            }
        }
    }
}

extension NSManagedObjectContext {
    /// Saves this layer only; whether there was anything to save. Without changes too: a context that was left behind says so then.
    private func saveLayer() throws -> Bool {
        let hadChanges = hasChanges
        if let context = self as? StackContext { try context.saveOneLayer() } else { try save() }
        return hadChanges
    }

    /// Saves one layer, on its queue, and goes on to the next.
    private func saveUpwards(
        from origin: NSManagedObjectContext,
        stopsWithoutChanges: Bool,
        _ completion: CoreDataStack.SaveCompletion?
    ) {
        do {
            let hadChanges = try saveLayer()
            guard let parent, hadChanges || !stopsWithoutChanges else { return origin.end(.success(()), completion) }
            parent.perform { parent.saveUpwards(from: origin, stopsWithoutChanges: false, completion) }
        } catch {
            origin.end(.failure(error), completion)
        }
    }

    /// Tells whoever waits, or where nobody does, who listens to errors.
    private func end(_ result: Result<Void, any Error>, _ completion: CoreDataStack.SaveCompletion?) {
        guard let completion else {
            if case .failure(let error) = result { (self as? StackContext)?.core.errors.report(error) }
            return
        }
        perform { completion(CoreDataStack.SuccessResult(result)) }
    }
}
