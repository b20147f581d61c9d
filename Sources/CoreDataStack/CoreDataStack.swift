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
/// **A program that ends does not wait for saves under way**: after `try main.save()` nothing need be in the file yet. Before it exits, it calls
/// `close()` or `flush()`, or does its work in `withStack(model:at:_:)`, which closes at the end. As long as the process lives, saves end also
/// when the last reference to the stack is gone.
///
/// > Concurrency: All members may be used from any thread. The contexts work for as long as somebody holds one of them or the stack.
public final class CoreDataStack: Sendable {
    /// The root: it writes to the store, on its own queue. Work in children of it rather than in it.
    public let privateQueueContext: NSManagedObjectContext
    /// The context for everything on the main queue. Its parent is the root.
    public let mainQueueContext: NSManagedObjectContext
    let core: StackCore
    let place: StorePlace

    /// In the user info of a Core Data error: the context that has the changes again which could not be saved.
    public static let contextErrorKey = returnedContextErrorKey

    /// The model of the stack.
    public var managedObjectModel: NSManagedObjectModel { core.coordinator.managedObjectModel }

    /// What fails while changes bubble up after `save()` or `saveContextAndWait()`, from now on. Each access gives a stream of its own.
    ///
    /// What the world refuses, such as a full disk, waits above and is written by the next save that comes by, or by `flush()`. What the data
    /// make impossible has gone back: it is among the unsaved changes of the context that saved it, which the error has under
    /// `contextErrorKey`, with its objects under `NSAffectedObjectsErrorKey`. Where that context is gone, it is a new one, which lives as
    /// long as the error. Without a listener errors are logged.
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
        return CoreDataStack(coordinator: coordinator, place: StorePlace(type: NSInMemoryStoreType))
    }

    /// Makes a context for work that takes longer, a child of the main context. Its saves bubble up.
    ///
    /// After a `resetStore` its fetches and saves throw `Error.storeWasReset`: make a new one then.
    public func newChildContext(
        type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType,
        name: String? = "Main Queue Context Child"
    ) -> NSManagedObjectContext {
        core.makeChild(type, name: name, of: mainQueueContext)
    }
}

/// What a stack's store is, and where.
struct StorePlace: Sendable {
    let type: String
    /// Whose entities are in it; nil for all of the model.
    var configuration: String?
    /// Nil where the type needs none.
    var url: URL?

    /// The file of a database, which can be emptied in place, and whose processes may be killed meanwhile.
    var databaseFile: URL? { type == NSSQLiteStoreType ? url : nil }
}
