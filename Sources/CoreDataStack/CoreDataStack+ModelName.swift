import CoreData
import Foundation

/// Stacks for a model that is found by its name: for the main bundle a registered one, else as `NSManagedObjectModel(named:in:)` does.
extension CoreDataStack {
    /// As `constructSQLiteStack(model:at:persistentStoreOptions:on:callback:)`, for the model of that name in a bundle.
    ///
    /// Without such a model the callback gets a `CocoaError` `fileReadNoSuchFile` that says where it was looked for; nothing is made then.
    ///
    /// - Parameters:
    ///   - modelName: the name of a model file, without its extension.
    ///   - bundle: where the model is.
    ///   - desiredStoreURL: where the store is; nil for `MODELNAME.sqlite` in the executable's folder below `$XDG_DATA_HOME`.
    ///   - persistentStoreOptions: those of the store.
    ///   - callbackQueue: where `callback` is called; nil for a background queue.
    ///   - callback: gets the stack, or why there is none.
    public static func constructSQLiteStack(
        modelName: String,
        in bundle: Bundle = .main,
        at desiredStoreURL: URL? = nil,
        persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
        on callbackQueue: DispatchQueue? = nil,
        callback: @escaping SetupCallback
    ) {
        let options = PersistentStoreOptions(persistentStoreOptions)
        answer(on: callbackQueue, callback) {
            do { return .success(try makeSQLiteStack(modelName, bundle, desiredStoreURL, options)) } catch { return .failure(error) }
        }
    }

    /// As `constructSQLiteStack(modelName:in:at:persistentStoreOptions:on:callback:)`, awaited.
    ///
    /// - Throws: a `CocoaError` where there is no such model, or it cannot be used; as the form for a model.
    public static func constructSQLiteStack(
        modelName: String,
        in bundle: Bundle = .main,
        at desiredStoreURL: URL? = nil,
        persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
    ) async throws -> CoreDataStack {
        let options = PersistentStoreOptions(persistentStoreOptions)
        return try await inBackground { try makeSQLiteStack(modelName, bundle, desiredStoreURL, options) }
    }

    /// As `constructInMemoryStack(model:)`, for the model of that name in a bundle.
    ///
    /// - Throws: a `CocoaError` where there is no such model, it cannot be used, or the store cannot be added.
    public static func constructInMemoryStack(modelName: String, in bundle: Bundle = .main) throws -> CoreDataStack {
        try constructInMemoryStack(model: model(modelName, bundle))
    }

    private static func model(_ name: String, _ bundle: Bundle) throws -> NSManagedObjectModel {
        let registered = bundle == .main ? NSManagedObjectModel.registered(name) : nil
        return try registered ?? NSManagedObjectModel(named: name, in: bundle)
    }

    private static func makeSQLiteStack(_ modelName: String, _ bundle: Bundle, _ url: URL?, _ options: PersistentStoreOptions) throws
        -> CoreDataStack
    {
        try makeSQLiteStack(model(modelName, bundle), url ?? DefaultPlace.url(for: modelName), options)
    }
}
