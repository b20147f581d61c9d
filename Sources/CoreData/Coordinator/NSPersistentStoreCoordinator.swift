import Foundation
import Logging
import Synchronization

/// Connects contexts with stores: one model, any number of stores, one row cache for each.
///
/// > Concurrency: All members may be used from any thread.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    // Sendable: the stores stand behind a lock, the rest is immutable or set up before use.
    public let managedObjectModel: NSManagedObjectModel
    open var name: String?

    struct Stores {
        var all: [any RowStore] = []
        /// Every store that there has been, by number, from 1 on.
        var identities: [StoreIdentity] = []
        /// What IDs have in common, by number of the store and index of the entity.
        var spaces: [[Int: IDSpace]] = []
        /// Grows with every store that is added.
        var additions = 0
    }
    let stores = Lock(Stores())
    /// The classes of the program's stores are asked one at a time: held for a call, and for a whole save into such stores. Taken after the turns to
    /// save, and before turns at databases. Nobody is told anything while it is held.
    let hooks = HookLock()
    /// Where stores are opened that are added in the background, one after the other.
    let additions = DispatchQueue(label: "CoreData.NSPersistentStoreCoordinator.additions")
    /// The queue of `perform(_:)`, once it was asked for; the layer that has queues makes it.
    let queue = Lock<AnyObject?>(nil)
    /// Grows with each save.
    private let saves = Atomic(0)
    final var saveCount: Int { saves.load(ordering: .acquiring) }
    final func noteSave() { saves.wrappingAdd(1, ordering: .releasing) }
    /// Contexts that merge what others save.
    let followers = Lock(SaveFollowers())

    /// Makes a coordinator without stores. The model is frozen from now on.
    ///
    /// - Precondition: the model is consistent: relationships have destinations in it, inverses agree.
    // NB: required, so that generic code can make subclasses.
    public required init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        model.freeze()
        EntityClaims.note(model)
        super.init()
    }

    /// Makes a coordinator for a while, that no class is found by.
    init(unclaimed model: NSManagedObjectModel) {
        managedObjectModel = model
        super.init()
    }

    /// The stores, in the order in which they were added.
    public var persistentStores: [NSPersistentStore] { allStores }
    final var allStores: [any RowStore] { stores.withLock { $0.all } }

    /// The store at a place, if it was added here.
    public func persistentStore(for url: URL) -> NSPersistentStore? {
        persistentStores.first { $0.url?.resolvingSymlinksInPath() == url.resolvingSymlinksInPath() }
    }

    public func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

    /// The metadata of a store: what it says of itself, and what the application put there.
    public func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata ?? [:] }

    /// Replaces a store's metadata. Written by the next save of a context; type and UUID stay the store's own.
    public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) { store.metadata = metadata ?? [:] }

    /// The ID that a URI stands for: nil where none of the stores has its UUID, and for a temporary ID. The row may be gone.
    ///
    /// Nil, too, for what `UserDefaults` makes of a URI on Linux, with a line in the log: keep its `absoluteString` there.
    public func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        // Parts before they are decoded: what identifies an object may have a slash in it.
        let parts = url.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard url.scheme == "x-coredata", let host = url.host, parts.count == 3,
            let entity = managedObjectModel.entitiesByName[parts[1].removingPercentEncoding ?? ""], !entity.isAbstract,
            let store = allStores.first(where: { $0.knownIdentifier?.caseInsensitiveCompare(host) == .orderedSame }),
            store.holds(entity), let key = store.key(named: parts[2], of: entity)
        else {
            if url.isFileURL { noteShortened(url, parts) }
            return nil
        }
        let reference = RowReference(key: key, entity: Int32(entity.index), store: store.number)
        return NSManagedObjectID(RowIdentity(reference, in: ids(of: entity, inStoreNumbered: store.number)))
    }

    // NB: a URL that is no file's goes into Foundation's `UserDefaults` as its path, and comes out as a file's.
    private func noteShortened(_ url: URL, _ parts: [String]) {
        guard parts.count == 3, parts[2].hasPrefix("p"), managedObjectModel.entitiesByName[parts[1].removingPercentEncoding ?? ""] != nil
        else {
            return
        }
        Logger(label: "CoreData").warning(
            """
            \(url.absoluteString) is no object's URI, but what UserDefaults on Linux gives for one, of which it keeps the path alone: keep \
            uriRepresentation().absoluteString there, and give managedObjectID(forURIRepresentation:) a URL(string:) of it.
            """
        )
    }

    /// The ID that the text of a URI stands for.
    public func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap(managedObjectID(forURIRepresentation:))
    }

    final func store(numbered number: Int32) -> (any RowStore)? { stores.withLock { $0.all.first { $0.number == number } } }
}

extension Notification.Name {
    /// Stores are about to be added to a coordinator or removed from it; the user info is that of the notification that follows.
    public static let NSPersistentStoreCoordinatorStoresWillChange = Self("NSPersistentStoreCoordinatorStoresWillChangeNotification")
    /// Stores were added to a coordinator or removed from it.
    public static let NSPersistentStoreCoordinatorStoresDidChange = Self("NSPersistentStoreCoordinatorStoresDidChangeNotification")
    /// A store is about to be removed; the notification's object is the store.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = Self("NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}
