import Foundation
import SQLiteDriver

extension NSPersistentStoreCoordinator {
    /// Opens a store, or makes it, and adds it.
    ///
    /// - Throws: a `CocoaError`: 134000 unknown type, 134080 added already or cannot be opened, 134100 of another model, 259 no database,
    ///   and others by their cause. A file that was there is untouched.
    @discardableResult
    public func addPersistentStore(
        ofType storeType: String,
        configurationName configuration: String?,
        at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        guard storeType == NSSQLiteStoreType else {
            throw CocoaError.coreData(.persistentStoreInvalidType, "There are no stores of type \"\(storeType)\".")
        }
        guard let storeURL, storeURL.isFileURL else {
            throw CocoaError.coreData(.persistentStoreOpen, "A store of type \(storeType) needs the URL of a file.")
        }
        guard persistentStore(for: storeURL) == nil else {
            throw CocoaError.coreData(
                .persistentStoreOpen,
                "The store at \(storeURL.path) was added to this coordinator already.",
                userInfo: [NSFilePathErrorKey: storeURL.path]
            )
        }
        let number = stores.withLock {
            $0.lastNumber += 1
            return $0.lastNumber
        }
        let store = try SQLiteStore.open(
            storeURL,
            model: managedObjectModel,
            number: number,
            configurationName: configuration,
            options: options
        )
        add(store)
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

    private func add(_ store: NSPersistentStore) {
        stores.withLock { $0.all.append(store) }
        store.owner = self
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange,
            object: self,
            userInfo: [NSAddedPersistentStoresKey: [store]]
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
        (store as? SQLiteStore)?.close()
        store.owner = nil
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange,
            object: self,
            userInfo: [NSRemovedPersistentStoresKey: [store]]
        )
    }

    /// Empties the store at a place, and removes its files where nobody has them open. Does nothing where there is none.
    ///
    /// Emptied through SQLite, so that other connections, in this process or another, see an empty file rather than a broken one.
    ///
    /// - Throws: a `CocoaError` where the file is no database (unless `NSPersistentStoreForceDestroyOption` is set) or cannot be written.
    public func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        guard storeType == NSSQLiteStoreType else {
            throw CocoaError.coreData(.persistentStoreInvalidType, "There are no stores of type \"\(storeType)\".")
        }
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        if let store = persistentStore(for: url) { try remove(store) }
        do {
            let connection = try Connection(path: url.path, mode: .readWrite)
            defer { connection.close() }
            connection.setBusyTimeout(seconds: StoreOptions.number(options?[NSPersistentStoreTimeoutOption]) ?? SQLiteStore.defaultTimeout)
            let isForced = StoreOptions.flag(options?[NSPersistentStoreForceDestroyOption])
            if !isForced { _ = try connection.rows("PRAGMA schema_version") }
            try connection.empty()
        } catch let error as SQLiteError {
            throw CocoaError(error, url: url, doing: "destroy the store")
        }
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let path = url.path + suffix
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
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
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CocoaError.coreData(.fileReadNoSuchFile, "There is no store at \(url.path).", userInfo: [NSFilePathErrorKey: url.path])
        }
        do {
            let connection = try StoreFile.readOnlyConnection(url)
            defer { connection.close() }
            if let metadata = try StoreMetadata.read(from: connection) { return metadata.dictionary }
        } catch let error as SQLiteError {
            throw CocoaError(error, url: url, doing: "read metadata")
        }
        throw CocoaError.coreData(
            .persistentStoreIncompatibleSchema,
            "\(url.path) is not a Core Data store.",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }
}

extension NSPersistentStore {
    /// The coordinator that the store was added to.
    public var persistentStoreCoordinator: NSPersistentStoreCoordinator? { owner as? NSPersistentStoreCoordinator }
}
