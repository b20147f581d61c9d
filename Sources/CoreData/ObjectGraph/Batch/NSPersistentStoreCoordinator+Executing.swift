import Foundation

extension NSPersistentStoreCoordinator {
    /// Carries out a request for a context of this coordinator: an array for a fetch, for a request that an `NSIncrementalStore` has carried out what its
    /// class has returned, an `NSPersistentStoreResult` for every other.
    ///
    /// - Throws: as `execute(_:)` of the context; `CocoaError` 134060 for a context of another coordinator.
    @discardableResult public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        guard context.persistentStoreCoordinator === self else {
            throw CocoaError.coreData(.coreData, "A coordinator cannot carry out a request for a context of another one.")
        }
        if let fetch = request as? any PlainFetch { return try fetch.results(in: context) }
        return try context.answer(request)
    }
}

/// A fetch whose results are there when it returns.
private protocol PlainFetch {
    func results(in context: NSManagedObjectContext) throws -> Any
}

extension NSFetchRequest: PlainFetch {
    func results(in context: NSManagedObjectContext) throws -> Any { try context.fetch(self) }
}
