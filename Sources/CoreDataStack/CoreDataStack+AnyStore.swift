import CoreData
import Foundation

extension CoreDataStack {
    /// Makes a stack on a store of any type, as a description says: a binary or XML document, or a store of the program's own class, which is
    /// registered before.
    ///
    /// Of an SQLite file it is the stack that `constructSQLiteStack(model:at:persistentStoreOptions:)` makes; at `/dev/null`, the one in memory. What a type of
    /// store cannot do, its stack cannot: only a database can be reset. Batch contexts of others stand on the stack's coordinator.
    ///
    /// - Parameters:
    ///   - model: what the store holds, or what a configuration of it does.
    ///   - storeDescription: type, place, configuration and options; it is read before anything is waited for.
    /// - Throws: `Error.unableToCreateStore` where the folder of a file cannot be made, or a `CocoaError` where the store cannot be opened.
    /// - Precondition: the model is consistent.
    public static func constructStack(
        model: NSManagedObjectModel,
        storeDescription: NSPersistentStoreDescription
    ) async throws -> CoreDataStack {
        let (place, options) = (StorePlace(storeDescription), PersistentStoreOptions(storeDescription.options))
        return try await inBackground { try makeStack(model, place, options) }
    }

    /// As `constructStack(model:storeDescription:)`; the callback is called on a queue, nil for a background queue.
    public static func constructStack(
        model: NSManagedObjectModel,
        storeDescription: NSPersistentStoreDescription,
        on callbackQueue: DispatchQueue? = nil,
        callback: @escaping SetupCallback
    ) {
        let (place, options) = (StorePlace(storeDescription), PersistentStoreOptions(storeDescription.options))
        answer(on: callbackQueue, callback) {
            do { return .success(try makeStack(model, place, options)) } catch { return .failure(error) }
        }
    }

    static func makeStack(_ model: NSManagedObjectModel, _ place: StorePlace, _ options: PersistentStoreOptions) throws -> CoreDataStack {
        if let url = place.url, url.isFileURL { try DefaultPlace.makeFolder(for: url) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        if let url = place.databaseFile { try InterruptedReset(of: url).finish(coordinator) }
        let options = options.sharing
        try coordinator.addPersistentStore(
            ofType: place.type,
            configurationName: place.configuration,
            at: place.url,
            options: options.values
        )
        let stack = CoreDataStack(coordinator: coordinator, place: place)
        try stack.share(options)
        return stack
    }
}

extension StorePlace {
    fileprivate init(_ description: NSPersistentStoreDescription) {
        // A description without a URL of its own, or a database there: the store in memory that a batch context finds as well.
        let isInMemory = description.url?.path == "/dev/null" && [NSSQLiteStoreType, NSInMemoryStoreType].contains(description.type)
        self.init(
            type: isInMemory ? NSInMemoryStoreType : description.type,
            configuration: description.configuration,
            url: isInMemory ? nil : description.url
        )
    }
}
