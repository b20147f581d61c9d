import Foundation

extension NSPersistentStoreCoordinator {
    /// Opens a store, or makes it, and adds it.
    ///
    /// A store of type `NSInMemoryStoreType` is a new one, empty, unless the URL is another one's: its `url` says where it is, and whoever adds
    /// a store of that type there gets the same store, on any coordinator of the process. It lasts until the last of them lets go of it;
    /// what is added there later is empty again. Any other URL is not even looked at, nor are options that are about files. An SQLite store at
    /// `/dev/null` is in memory too, and seen by this coordinator only.
    ///
    /// - Throws: a `CocoaError`: 134000 unknown type, 134080 added already or cannot be opened, 134100 of another model, 259 no database,
    ///   and others by their cause. A copy of a store that was added, which has its UUID, counts as added already. A file that was there is
    ///   untouched.
    @discardableResult
    public func addPersistentStore(
        ofType storeType: String,
        configurationName configuration: String?,
        at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        let place = try StorePlace(type: storeType, url: storeURL)
        // NB: SQLite must never open one file by two names: each would have a log of its own.
        let hasFile = place.database == nil && persistentStore(for: place.url) != nil
        if hasFile || has(place.identity) { throw Self.addedAlready(place.url) }
        let store = try SQLiteStore.open(
            place,
            model: managedObjectModel,
            configurationName: configuration,
            options: options
        )
        try add(store)
        return store
    }

    /// As `addPersistentStore(ofType:configurationName:at:options:)`.
    public func addPersistentStore(
        type: NSPersistentStore.StoreType,
        configuration: String? = nil,
        at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    private func has(_ identity: DatabaseIdentity?) -> Bool {
        identity != nil && persistentStores.contains { ($0 as? SQLiteStore)?.lock.identity == identity }
    }

    /// - Throws: `CocoaError` 134080 where the same database was added meanwhile, or one of the same UUID; the store is closed then.
    private func add(_ store: SQLiteStore) throws {
        store.owner = self
        let isNew = stores.withLock { stores in
            // A copy of a store has its UUID: no ID could tell the two apart.
            guard !stores.all.contains(where: { ($0 as? SQLiteStore)?.lock === store.lock || $0.identifier == store.identifier }) else {
                return false
            }
            stores.identify(store)
            stores.all.append(store)
            return true
        }
        guard isNew else {
            store.owner = nil
            store.close()
            throw Self.addedAlready(store.url)
        }
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange,
            object: self,
            userInfo: [NSAddedPersistentStoresKey: [store]]
        )
    }

    private static func addedAlready(_ url: URL?) -> CocoaError {
        .coreData(
            .persistentStoreOpen,
            "The store at \(url?.path ?? "?") was added to this coordinator already, or is a copy, with the same UUID, of one that was.",
            userInfo: url.map { [NSFilePathErrorKey: $0.path] } ?? [:]
        )
    }

    /// Closes a store and removes it. Objects of it cannot be read or saved any more.
    ///
    /// - Throws: `CocoaError` 134060 where the store is not one of this coordinator's.
    public func remove(_ store: NSPersistentStore) throws {
        guard persistentStores.contains(store) else {
            throw CocoaError.coreData(.coreData, "The store is not one of this coordinator's.")
        }
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        stores.withLock { stores in stores.all.removeAll { $0 === store } }
        store.home?.store = nil
        (store as? SQLiteStore)?.close()
        store.owner = nil
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange,
            object: self,
            userInfo: [NSRemovedPersistentStoresKey: [store]]
        )
    }

    /// Empties the store at a place; the file stays, an empty database in which a new store can be made. Does nothing where there is none.
    ///
    /// Emptied through SQLite, so that other connections, in this process or another, see an empty database rather than a broken one. Binary data
    /// in files beside it are removed.
    ///
    /// - Throws: a `CocoaError` where the file is no database (unless `NSPersistentStoreForceDestroyOption` is set) or cannot be written.
    public func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        guard let place = try StorePlace.existing(type: storeType, url: url) else { return }
        if let store = persistentStore(for: url) { try remove(store) }
        try place.destroy(
            timeout: DatabaseOptions.timeout(options),
            isForced: DatabaseOptions.flag(options?[NSPersistentStoreForceDestroyOption])
        )
    }

    public func destroyPersistentStore(at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil) throws
    {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    /// The metadata of a store that is not open here.
    ///
    /// - Throws: a `CocoaError` where there is none that can be read.
    public class func metadataForPersistentStore(
        ofType storeType: String,
        at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        guard let place = try StorePlace.existing(type: storeType, url: url) else {
            throw CocoaError.coreData(.fileReadNoSuchFile, "There is no store at \(url.path).", userInfo: [NSFilePathErrorKey: url.path])
        }
        return try place.metadata(timeout: DatabaseOptions.timeout(options)).dictionary
    }
}

extension NSPersistentStore {
    /// The coordinator that the store was added to.
    public var persistentStoreCoordinator: NSPersistentStoreCoordinator? { owner as? NSPersistentStoreCoordinator }
}
