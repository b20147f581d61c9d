import CoreData
import Foundation

/// Three layers of contexts on one store:
///
/// ```
/// store ◂── privateQueueContext ◂── mainQueueContext ◂── newChildContext() …
/// ```
///
/// The root context owns the coordinator and is the only one that writes. Calling `save()` on any context of the stack bubbles its changes up,
/// layer by layer, into the store; what fails on the way is reported by `saveErrors`, or to whoever used one of the `saveContext…` forms.
/// Batch contexts stand on a coordinator of their own, and what they save is merged into root and main.
///
/// > Concurrency: All members may be used from any thread. The contexts work for as long as somebody holds one of them or the stack.
public final class CoreDataStack: Sendable {
    /// The root: it writes to the store, on its own queue. Work in children of it rather than in it.
    public let privateQueueContext: NSManagedObjectContext
    /// The context for everything on the main queue. Its parent is the root.
    public let mainQueueContext: NSManagedObjectContext
    let core: StackCore
    let place: StorePlace

    /// The model of the stack.
    public var managedObjectModel: NSManagedObjectModel { core.coordinator.managedObjectModel }

    /// What fails while changes bubble up after `save()` or `saveContextAndWait()`, from now on. Each access gives a stream of its own.
    public var saveErrors: AsyncStream<any Swift.Error> { core.errors.stream() }

    init(coordinator: NSPersistentStoreCoordinator, place: StorePlace) {
        core = StackCore(coordinator)
        self.place = place
        let root = StackContext(.privateQueueConcurrencyType, core, name: "Primary Private Queue Context (Persisting Context)")
        root.persistentStoreCoordinator = coordinator
        let main = StackContext(.mainQueueConcurrencyType, core, name: "Main Queue Context (UI Context)")
        main.parent = root
        for context in [root, main] { context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump }
        (privateQueueContext, mainQueueContext) = (root, main)
        core.attach(root: root, main: main)
    }

    /// Makes a stack whose store is in memory, and gone with it.
    ///
    /// - Throws: a `CocoaError` where the store cannot be added.
    /// - Precondition: the model is consistent.
    public static func constructInMemoryStack(model: NSManagedObjectModel) throws -> CoreDataStack {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        return CoreDataStack(coordinator: coordinator, place: .memory)
    }

    /// Makes a context for work that takes longer, a child of the main context. Its saves bubble up.
    ///
    /// After a `resetStore` its fetches and saves throw `Error.storeWasReset`: make a new one then.
    public func newChildContext(
        type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType,
        name: String? = "Main Queue Context Child"
    ) -> NSManagedObjectContext {
        let child = StackContext(type, core, name: name)
        child.parent = mainQueueContext
        child.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        core.add(child)
        return child
    }
}

/// Where a stack's store is.
enum StorePlace: Sendable {
    case memory
    case file(URL)
}
