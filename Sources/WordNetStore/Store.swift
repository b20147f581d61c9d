import CoreData

/// A WordNet store: an SQLite file, a coordinator that has it open, and a context to use it with.
public final class Store {
    /// Where the store's objects live.
    public let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private let store: NSPersistentStore

    /// Opens a store, or makes one without rows where there is no file.
    ///
    /// - Parameter options: for `addPersistentStore`, such as `NSReadOnlyPersistentStoreOption`.
    /// - Throws: a `CocoaError`: the file is no WordNet store, or cannot be opened. It is untouched then.
    public init(at url: URL, options: [AnyHashable: Any]? = nil) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Model.make())
        store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    /// Closes the file. Objects of the context cannot be read any more.
    ///
    /// - Precondition: the store is open.
    public func close() throws {
        try coordinator.remove(store)
    }
}
