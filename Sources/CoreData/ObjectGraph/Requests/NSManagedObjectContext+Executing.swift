import Foundation

/// A request that a context can carry out.
protocol ContextRequest: NSPersistentStoreRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSManagedObjectContext {
    /// Carries out a request: a fetch, an asynchronous one, which goes on after this has returned its result, or a batch request, which goes to the
    /// stores from whichever layer and leaves every context as it is.
    ///
    /// - Throws: a fetch's error, unless it is asynchronous; a batch request's, which has changed nothing then; `CocoaError` 134060 for a request of
    ///   another kind.
    @discardableResult public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        checkQueue()
        guard let request = request as? any ContextRequest else {
            throw CocoaError.coreData(.coreData, "A context cannot carry out a request of class \(type(of: request)).")
        }
        return try request.execute(in: self)
    }
}

extension NSFetchRequest: ContextRequest {
    /// The answer holds what `fetch(_:)` gives.
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(NSAsynchronousFetchRequest(fetchRequest: self), context, Progress(totalUnitCount: 1))
        result.found = try context.fetch(self).compactMap { $0 as? any NSFetchRequestResult }
        result.progress?.completedUnitCount = 1
        return result
    }
}

extension NSAsynchronousFetchRequest: ContextRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        try execute(in: context, Progress(totalUnitCount: Int64(max(estimatedResultCount, 1))))
    }

    /// - Parameter progress: cancelling it ends the fetch, on whichever thread it is.
    func execute(in context: NSManagedObjectContext, _ progress: Progress) throws -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(self, context, progress)
        let request = fetchRequest.copied(as: ResultType.self)
        request.includesPendingChanges = false
        request.progress = progress
        try AsynchronousFetch(result, request, context).begin()
        return result
    }
}
