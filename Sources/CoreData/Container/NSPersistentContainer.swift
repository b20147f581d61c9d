import Logging

/// A model, a coordinator and a main context, set up from a name.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Library")
/// container.loadPersistentStores { _, error in
///     if let error { print("There is no store: \(error.localizedDescription)") }
/// }
/// ```
///
/// > Concurrency: All members may be used from any thread; a context only on its queue.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // Sendable: the descriptions stand behind a lock, the rest is constant.
    public let name: String
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The context for everything on the main queue, on the coordinator. What other contexts save comes into it where
    /// `automaticallyMergesChangesFromParent` is set; it is false at first.
    public let viewContext: NSManagedObjectContext
    let stores = Lock(DescribedStores())
    /// Why there is no model; every store fails with it.
    private let missingModel = Lock<(any Error)?>(nil)

    /// A container with the model of that name: the registered one, or one that is looked for as `NSManagedObjectModel(named:)` does.
    ///
    /// Without such a model the container has an empty one, the log says so, and `loadPersistentStores` fails with the reason.
    public convenience init(name: String) {
        let model = Result { try NSManagedObjectModel.registered(name) ?? NSManagedObjectModel(named: name) }
        self.init(name: name, managedObjectModel: (try? model.get()) ?? NSManagedObjectModel())
        guard case .failure(let error) = model else { return }
        Logger(label: "CoreData").error("NSPersistentContainer(name: \"\(name)\"): \(error.localizedDescription)")
        missingModel.withLock { $0 = error }
    }

    /// A container with one store description: an SQLite store of that name in `defaultDirectoryURL()`.
    ///
    /// It is `required`, so that generic code can make subclasses; one with a designated initialiser of its own has to repeat it.
    ///
    /// - Precondition: the model is consistent. It is frozen from now on.
    public required init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        viewContext = NSManagedObjectContext(.mainQueue)
        viewContext.persistentStoreCoordinator = persistentStoreCoordinator
        super.init()
        let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
        stores.withLock { $0.descriptions = [NSPersistentStoreDescription(url: url)] }
    }

    /// The folder for stores without a place of their own: `$XDG_DATA_HOME/EXECUTABLE`; without that variable `$HOME/.local/share` stands for
    /// it. It is made when a store in it is loaded.
    open class func defaultDirectoryURL() -> URL { DefaultDirectory.url }

    public var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

    /// The stores that `loadPersistentStores` adds. Replacing them does nothing to stores that were added.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { stores.withLock { $0.descriptions } }
        set { stores.withLock { $0.descriptions = newValue } }
    }

    /// Adds the stores of all descriptions that have none yet: a second call tries those again that have failed.
    ///
    /// The folders of stores are not made, but for the default one. A store that fails leaves the others as they are.
    ///
    /// - Parameter block: called once for each of these descriptions, with the error where there is one; on which queue, and when, is as with
    ///   `NSPersistentStoreCoordinator.addPersistentStore(with:completionHandler:)`.
    open func loadPersistentStores(completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void) {
        for description in takeUnloaded() {
            load(description, isLater: description.shouldAddStoreAsynchronously) { block(description, $0) }
        }
    }

    /// A new context with a private queue, on the coordinator.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs a block on the queue of a new background context, later. What the block has not saved is dropped.
    @preconcurrency open func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// - Throws: why there is no model.
    func requireModel() throws {
        if let error = missingModel.withLock({ $0 }) { throw error }
    }
}
