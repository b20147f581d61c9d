import Foundation

/// Members of Apple's that are not there yet.
extension NSPersistentStoreCoordinator {
    @available(*, unavailable, message: "There is no history yet: observe NSManagedObjectContextDidSave.")
    public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? { absent() }
}

extension Notification.Name {
    @available(
        *,
        unavailable,
        message: "Nothing is posted for other processes' changes yet: observe NSManagedObjectContextDidSave for this one's."
    )
    public static var NSPersistentStoreRemoteChange: Notification.Name { absent() }
}
