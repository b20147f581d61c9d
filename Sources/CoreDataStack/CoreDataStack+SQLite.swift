import CoreData
import Foundation

extension CoreDataStack {
    /// Makes a stack on a file, which is made where there is none, with the folders to it. A reset that was interrupted is finished first.
    ///
    /// - Parameters:
    ///   - model: what the store holds.
    ///   - desiredStoreURL: where the store is; nil for `Model.sqlite` in the executable's folder below `$XDG_DATA_HOME`.
    ///   - persistentStoreOptions: those of the store.
    ///   - callbackQueue: where `callback` is called; nil for a background queue.
    ///   - callback: gets the stack, or why there is none.
    /// - Precondition: the model is consistent.
    public static func constructSQLiteStack(
        model: NSManagedObjectModel,
        at desiredStoreURL: URL? = nil,
        persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
        on callbackQueue: DispatchQueue? = nil,
        callback: @escaping SetupCallback
    ) {
        let options = PersistentStoreOptions(persistentStoreOptions)
        answer(on: callbackQueue, callback) {
            do {
                let url = desiredStoreURL ?? DefaultPlace.url(for: "Model")
                return .success(try makeSQLiteStack(model, url, options))
            } catch {
                return .failure(error)
            }
        }
    }

    /// As `constructSQLiteStack(model:at:persistentStoreOptions:on:callback:)`, awaited.
    ///
    /// - Throws: `Error.unableToCreateStore`, or a `CocoaError` where the store cannot be opened; a file that was there is untouched.
    public static func constructSQLiteStack(
        model: NSManagedObjectModel,
        at desiredStoreURL: URL? = nil,
        persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
    ) async throws -> CoreDataStack {
        let options = PersistentStoreOptions(persistentStoreOptions)
        return try await inBackground { try makeSQLiteStack(model, desiredStoreURL ?? DefaultPlace.url(for: "Model"), options) }
    }

    static func makeSQLiteStack(_ model: NSManagedObjectModel, _ url: URL, _ options: PersistentStoreOptions) throws -> CoreDataStack {
        try makeStack(model, StorePlace(type: NSSQLiteStoreType, url: url), options)
    }

    /// Does something in the background and answers where it was asked for.
    static func answer<Answer: Sendable>(
        on queue: DispatchQueue?,
        _ callback: @escaping @Sendable (Answer) -> Void,
        _ work: @escaping @Sendable () -> Answer
    ) {
        background.async {
            let answer = work()
            guard let queue else { return callback(answer) }
            queue.async { callback(answer) }
        }
    }

    static func inBackground<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            background.async { continuation.resume(with: Result(catching: work)) }
        }
    }

    static let background = DispatchQueue(label: "CoreDataStack", qos: .utility, attributes: .concurrent)
}

/// Options of a store on their way to another queue.
// Sendable: the values are constants of the caller's, which the framework only reads.
struct PersistentStoreOptions: @unchecked Sendable {
    let values: [AnyHashable: Any]?
    init(_ values: [AnyHashable: Any]?) { self.values = values }
}

extension NSPersistentStoreCoordinator {
    /// Options for a store that migrates by itself and writes ahead.
    public static var stockSQLiteStoreOptions: [AnyHashable: Any] {
        [
            NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
            NSSQLitePragmasOption: ["journal_mode": "WAL"],
        ]
    }

    /// Makes a coordinator with a store in a file. `completion` is called on a background queue.
    public static func setupSQLiteBackedCoordinator(
        _ managedObjectModel: NSManagedObjectModel,
        storeFileURL: URL,
        persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
        completion: @escaping CoreDataStack.CoordinatorCallback
    ) {
        let options = PersistentStoreOptions(persistentStoreOptions)
        CoreDataStack.answer(on: nil, completion) {
            do {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: managedObjectModel)
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType,
                    configurationName: nil,
                    at: storeFileURL,
                    options: options.values
                )
                return .success(coordinator)
            } catch {
                return .failure(error)
            }
        }
    }
}
