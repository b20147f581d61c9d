import Foundation

/// A request that a context can carry out.
protocol ContextRequest: NSPersistentStoreRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSManagedObjectContext {
    /// Carries out a request: a fetch, an asynchronous one, which goes on after this has returned its result, or a batch request, which goes to the
    /// stores from whichever layer and leaves every context as it is.
    ///
    /// A request of a class of the program's own goes to the one `NSIncrementalStore` that it names in `affectedStores`, or that there is; so does a
    /// batch request of an entity that such a store holds. What the store's class returns is the result.
    ///
    /// - Throws: a fetch's error, unless it is asynchronous; a batch request's, which has changed nothing then; for a request of another kind, what
    ///   the store's class throws, `CocoaError` 134091 where no store knows it, 134060 where more than one could, 134070 for an answer that is no
    ///   result.
    @discardableResult public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        let answer = try answer(request, member: "execute(_:)")
        if let result = answer as? NSPersistentStoreResult { return result }
        throw CocoaError.coreData(
            .persistentStoreOperation,
            """
            A store's execute(_:with:) has returned \(type(of: answer)) for a request of class \(type(of: request)): an NSPersistentStoreResult is \
            what a context can give to its caller. execute(_:with:) of the coordinator gives any value.
            """
        )
    }

    /// What a request gives; a value of any class where a store's own class has carried it out.
    func answer(_ request: NSPersistentStoreRequest, member: StaticString = #function) throws -> Any {
        checkQueue(member)
        if let store = try storeKnowing(request) {
            defer { persistentStoreCoordinator?.noteSave() }
            return try store.execute(request, for: self)
        }
        guard let request = request as? any ContextRequest else {
            throw CocoaError.coreData(.coreData, "A context cannot carry out a request of class \(type(of: request)).")
        }
        return try request.execute(in: self)
    }

    /// The store whose class carries a request out; nil where that is done here.
    private func storeKnowing(_ request: NSPersistentStoreRequest) throws -> (any RowStore)? {
        if let batch = request as? any BatchRequesting {
            return try connectedCoordinator()?.storeKnowing(request, batch.target(in: self))
        }
        if request is any ContextRequest || request.requestType == .saveRequestType { return nil }
        return try connectedCoordinator()?.storeKnowing(request)
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
