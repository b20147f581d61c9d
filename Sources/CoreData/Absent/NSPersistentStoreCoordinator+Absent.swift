import Foundation

/// Members of Apple's that are not there yet.
extension NSPersistentStoreCoordinator {
    @available(*, unavailable, message: "There are no batch, history or asynchronous requests yet: use fetch(_:) and save() of a context.")
    @discardableResult public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        absent()
    }
}
