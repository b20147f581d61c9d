import Foundation

/// Members of Apple's that are not there yet.
extension NSPersistentStoreCoordinator {
    @available(*, unavailable, message: "A store stays where it is: remove(_:) it, move its file with -wal and -shm, and add it there.")
    public func setURL(_ url: URL, for store: NSPersistentStore) -> Bool { absent() }

    @available(*, unavailable, message: "There are no batch, history or asynchronous requests yet: use fetch(_:) and save() of a context.")
    @discardableResult public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        absent()
    }

    @available(
        *,
        unavailable,
        message: "Not there yet: add a store at the other place and copy the objects, or copy the file while no store is open on it."
    )
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore,
        to URL: URL,
        options: [AnyHashable: Any]? = nil,
        withType storeType: String
    ) throws -> NSPersistentStore { absent() }

    @available(
        *,
        unavailable,
        message: "Not there yet: add a store at the other place and copy the objects, or copy the file while no store is open on it."
    )
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore,
        to storeURL: URL,
        options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore { absent() }

    @available(
        *,
        unavailable,
        message: "Not there yet: destroyPersistentStore(at:ofType:) the one, and copy the file of the other while no store is open on it."
    )
    public func replacePersistentStore(
        at destinationURL: URL,
        destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil,
        ofType storeType: String
    ) throws { absent() }

    @available(
        *,
        unavailable,
        message: "Not there yet: destroyPersistentStore(at:ofType:) the one, and copy the file of the other while no store is open on it."
    )
    public func replacePersistentStore(
        at destinationURL: URL,
        destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil,
        type sourceType: NSPersistentStore.StoreType
    ) throws { absent() }

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
