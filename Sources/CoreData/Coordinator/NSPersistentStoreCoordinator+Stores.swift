import Foundation

extension NSPersistentStoreCoordinator {
    /// Opens a store, or makes it, and adds it.
    ///
    /// A store of type `NSInMemoryStoreType` is a new one, empty, unless the URL is another one's: its `url` says where it is, and whoever adds
    /// a store of that type there gets the same store, on any coordinator of the process. It lasts until the last of them lets go of it;
    /// what is added there later is empty again. Any other URL is not even looked at, nor are options that are about files. An SQLite store at
    /// `/dev/null` is in memory too, and seen by this coordinator only.
    ///
    /// A store in an SQLite file that is of another version of the model is migrated in its place where `NSMigratePersistentStoresAutomaticallyOption`
    /// is true, by a mapping model that the program has, or else by what can be inferred where `NSInferMappingModelAutomaticallyOption` is true: in one
    /// transaction, so that it is the old store or the new one whatever happens.
    ///
    /// - Throws: a `CocoaError`: 134000 unknown type, 134080 added already or cannot be opened, 134100 of another model,
    ///   134110, 134130 and 134140 where it is to be migrated and cannot, 259 no database,
    ///   and others by their cause. A copy of a store that was added, which has its UUID, counts as added already. A file that was there is
    ///   untouched. The log has the reason too.
    @discardableResult
    public func addPersistentStore(
        ofType storeType: String,
        configurationName configuration: String?,
        at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try FailureLog.noting("The store at \(storeURL?.path ?? "no place") was not added") {
            try openAndAdd(storeType, configuration, storeURL, options)
        }
    }

    private func openAndAdd(_ type: String, _ configuration: String?, _ url: URL?, _ options: [AnyHashable: Any]?) throws
        -> NSPersistentStore
    {
        let opening = opening(type, configuration, url, options)
        try opening.prepare()
        let store = try openMigrating(opening)
        try add(store)
        return store
    }

    func opening(_ type: String, _ configuration: String?, _ url: URL?, _ options: [AnyHashable: Any]?) -> StoreOpening {
        StoreOpening(
            type: type,
            url: url,
            configurationName: configuration,
            options: options,
            model: managedObjectModel,
            coordinator: self,
            requireUnused: requireUnused,
            hasMappingModel: Self.hasMappingModel
        )
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

    private func requireUnused(_ location: StoreLocation?, _ url: URL?) throws {
        let isUsed = location != nil && allStores.contains { $0.location == location }
        if isUsed || url.flatMap(persistentStore(for:)) != nil { throw Self.addedAlready(url) }
    }

    /// - Throws: `CocoaError` 134080 where the same database was added meanwhile, or one of the same UUID; the store is closed then.
    private func add(_ store: any RowStore) throws {
        let change: [AnyHashable: Any] = [NSAddedPersistentStoresKey: [store]]
        if stores.withLock({ $0.canTake(store) }) { announce(.NSPersistentStoreCoordinatorStoresWillChange, change) }
        store.owner = self
        let isNew = stores.withLock { stores in
            guard stores.canTake(store) else { return false }
            stores.identify(store)
            stores.all.append(store)
            return true
        }
        guard isNew else {
            store.owner = nil
            store.close()
            throw Self.addedAlready(store.url)
        }
        postRemoteChanges(of: store)
        store.didAdd(to: self)
        announce(.NSPersistentStoreCoordinatorStoresDidChange, change)
    }

    /// Takes a store that is only read, and that nobody is told of.
    func adopt(_ store: any RowStore) {
        store.owner = self
        stores.withLock { stores in
            stores.identify(store)
            stores.all.append(store)
        }
    }

    func announce(_ name: Notification.Name, _ change: [AnyHashable: Any]) {
        NotificationCenter.default.post(name: name, object: self, userInfo: change)
    }

    static func addedAlready(_ url: URL?) -> CocoaError {
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
        guard let store = allStores.first(where: { $0 === store }) else {
            throw CocoaError.coreData(.coreData, "The store is not one of this coordinator's.")
        }
        let change: [AnyHashable: Any] = [NSRemovedPersistentStoresKey: [store]]
        announce(.NSPersistentStoreCoordinatorStoresWillChange, change)
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        store.willRemove(from: self)
        stores.withLock { stores in
            stores.all.removeAll { $0 === store }
            stores.forgetSpaces(of: store)
        }
        store.home?.store = nil
        store.close()
        store.leaveOwner()
        announce(.NSPersistentStoreCoordinatorStoresDidChange, change)
    }

    /// Empties the store at a place; the file stays, an empty database in which a new store can be made. Does nothing where there is none.
    ///
    /// Emptied through SQLite, so that other connections, in this process or another, see an empty database rather than a broken one. Binary data
    /// in files beside it are removed.
    ///
    /// - Throws: a `CocoaError` where the file is no database (unless `NSPersistentStoreForceDestroyOption` is set) or cannot be written.
    public func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        try StoreTypes.kind(of: storeType).destroy(at: url, options: options) {
            if let store = persistentStore(for: url) { try remove(store) }
        }
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
        try StoreTypes.kind(of: storeType).metadata(at: url, options: options)
    }

    /// Writes the metadata of a store that need not be added anywhere: these values instead of those that were noted in it before. A class of the
    /// program's is asked for that itself.
    ///
    /// What says which model the store is of stays. An identifier under `NSStoreUUIDKey` becomes the store's own: whoever has it open finds it
    /// to be another's.
    ///
    /// - Throws: a `CocoaError`: 260 where there is no store, 134010 where it is of another type, 134070 for values that no property list can
    ///   hold and for an identifier that no URI can, and others as adding it; 134060 for a class of the program's that does not say how.
    public class func setMetadata(
        _ metadata: [String: Any]?,
        forPersistentStoreOfType storeType: String,
        at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        let kind = try StoreTypes.kind(of: storeType)
        if let uuid = metadata?[NSStoreUUIDKey] as? String, !uuid.isStoreIdentifier {
            throw CocoaError.coreData(
                .persistentStoreOperation,
                "\"\(uuid)\" cannot be the identifier of a store (\(NSStoreUUIDKey)): letters, digits and hyphens can be in the URIs of its objects.",
                userInfo: [NSFilePathErrorKey: url.path]
            )
        }
        try kind.setMetadata(metadata ?? [:], at: url, options: options)
    }

    /// As `setMetadata(_:forPersistentStoreOfType:at:options:)`.
    public class func setMetadata(
        _ metadata: [String: Any]?,
        type storeType: NSPersistentStore.StoreType,
        at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
    }

    /// As `metadataForPersistentStore(ofType:at:options:)`.
    public class func metadataForPersistentStore(
        type storeType: NSPersistentStore.StoreType,
        at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
    }
}

extension NSPersistentStoreCoordinator.Stores {
    /// Whether a store is none of these. A copy of one has its UUID: no ID could tell the two apart.
    fileprivate func canTake(_ store: any RowStore) -> Bool {
        !all.contains { $0.location == store.location || $0.knownIdentifier == store.knownIdentifier }
    }
}

extension NSPersistentStore {
    /// The coordinator that the store was added to.
    public var persistentStoreCoordinator: NSPersistentStoreCoordinator? { owner as? NSPersistentStoreCoordinator }
}
