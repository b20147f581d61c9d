import Foundation

/// A type of stores that a class stands for: one of a program, or of ours that is written the same way.
struct StoreClass: StoreKind {
    let storeClass: NSPersistentStore.Type

    var registeredClass: AnyClass? { storeClass }

    func open(_ opening: StoreOpening) throws -> any RowStore {
        guard let coordinator = opening.coordinator as? NSPersistentStoreCoordinator else {
            misuse("unreachable: a coordinator opens stores")
        }
        guard let url = opening.url ?? Self.nowhere(storeClass) else {
            throw CocoaError.coreData(.persistentStoreOpen, "A store of type \(opening.type) needs a URL.")
        }
        try opening.checkModel()
        try opening.requireUnused(nil, opening.url)
        if let form = storeClass as? DocumentStore.Type { try DocumentMigration(form: form, opening: opening, url: url).runIfAsked() }
        let made = storeClass.init(
            StoreConstruction(
                coordinator: coordinator,
                configurationName: opening.configurationName,
                url: url,
                options: opening.options
            )
        )
        guard let store = made as? any RowStore & ClassStore else {
            throw CocoaError.coreData(
                .persistentStoreInvalidType,
                "\(storeClass) is registered for \(opening.type), but is neither an NSAtomicStore nor an NSIncrementalStore."
            )
        }
        if opening.url == nil { store.url = nil }
        try opening.requireUnused(store.location, nil)
        // Whatever its initialiser was given.
        store.hooks = coordinator.hooks
        try coordinator.hooks.withLock { try load(store, opening, coordinator) }
        return store
    }

    private func load(_ store: any RowStore & ClassStore, _ opening: StoreOpening, _ coordinator: NSPersistentStoreCoordinator) throws {
        try store.loadMetadata()
        try requireMetadata(of: store, opening)
        do {
            try coordinator.identify(store, for: opening.replaced)
            try store.begin(opening.model)
        } catch {
            store.home?.store = opening.replaced
            store.close()
            throw error
        }
    }

    /// What the initialiser of a class is given that may do without a place.
    private static func nowhere(_ storeClass: NSPersistentStore.Type) -> URL? {
        storeClass.needsURL ? nil : URL(fileURLWithPath: "/dev/null")
    }

    /// - Throws: `CocoaError` 134080 for metadata that lack what every store says, 134010 for another type, 134100 for those of another model.
    private func requireMetadata(of store: any RowStore, _ opening: StoreOpening) throws {
        guard let metadata = store.metadata, let uuid = metadata[NSStoreUUIDKey] as? String, !uuid.isEmpty else {
            throw broken("loadMetadata() has not set \(NSStoreUUIDKey) in the metadata")
        }
        try store.requireIdentifier(uuid, "loadMetadata()")
        guard let type = metadata[NSStoreTypeKey] as? String, !type.isEmpty else {
            throw broken("loadMetadata() has not set \(NSStoreTypeKey) in the metadata")
        }
        guard type == opening.type else {
            throw CocoaError.coreData(
                .persistentStoreTypeMismatch,
                "\(storeClass).loadMetadata() says that the store is of type \(type), and it is added as one of type \(opening.type)."
            )
        }
        let ignoresVersions = DatabaseOptions.flag(opening.options?[NSIgnorePersistentStoreVersioningOption])
        if metadata[NSStoreModelVersionHashesKey] != nil, !ignoresVersions,
            !opening.model.isConfiguration(withName: opening.configurationName, compatibleWithStoreMetadata: metadata)
        {
            let migrates = DatabaseOptions.flag(opening.options?[NSMigratePersistentStoresAutomaticallyOption])
            throw CocoaError.ofAnotherModel(store.url?.path ?? "?", metadata: metadata, migrates: migrates)
        }
        store.beIdentified(by: uuid)
        store.didWriteMetadata(store.metadataEdit)
    }

    private func broken(_ what: String) -> CocoaError { .coreData(.persistentStoreOpen, "\(storeClass).\(what).") }

    func destroy(at url: URL, options: [AnyHashable: Any]?, releasing release: () throws -> Void) throws {
        guard url.isFileURL, try FileManager.default.hasItem(at: url) else { return }
        // What is no store of the class is not removed.
        if !DatabaseOptions.flag(options?[NSPersistentStoreForceDestroyOption]) { _ = try storeClass.metadataForPersistentStore(with: url) }
        try release()
        // As with a database: a link to the data stays, the data go.
        try FileManager.default.removeItem(at: url.resolvingSymlinksInPath())
    }

    func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        try storeClass.metadataForPersistentStore(with: url)
    }

    func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
        try storeClass.setMetadata(metadata, forPersistentStoreAt: url)
    }
}

extension NSPersistentStore {
    /// - Throws: `CocoaError` 134080 for an identifier that cannot be in a URI.
    final func requireIdentifier(_ uuid: String, _ method: String) throws {
        if uuid.isStoreIdentifier { return }
        throw broken(
            method,
            "has set \(NSStoreUUIDKey) to \"\(uuid)\": letters, digits and hyphens can be in the URIs of its objects",
            .persistentStoreOpen
        )
    }

    final func beIdentified(by uuid: String) {
        (knownIdentifier, references) = (uuid, .of(uuid))
        identifier = uuid
    }
}

/// A store that a class of its own stands for.
protocol ClassStore: NSPersistentStore {
    /// Gets ready for requests: metadata are known, and IDs can be made.
    func begin(_ model: NSManagedObjectModel) throws
}

extension NSPersistentStoreCoordinator {
    /// The store gets its number before it is added, so that it can make IDs.
    func identify(_ store: any RowStore, for replaced: (any RowStore)?) throws {
        try stores.withLock { stores in
            guard !stores.all.contains(where: { $0 !== replaced && $0.knownIdentifier == store.knownIdentifier }) else {
                throw Self.addedAlready(store.url)
            }
            stores.identify(store)
        }
    }

    /// The classes of stores that were registered, by type: the class is the pointer of the value.
    public class var registeredStoreTypes: [String: NSValue] {
        StoreTypes.all.mapValues { kind in
            // NB: Linux has no initialiser for a pointer, and no encoding of one: an unsigned number of the same size.
            withUnsafeBytes(of: kind.registeredClass ?? NSPersistentStore.self) { bytes in
                // A metatype is a pointer, which is never empty.
                NSValue(bytes: bytes.baseAddress!, objCType: "Q")
            }
        }
    }

    /// Makes a subclass of `NSAtomicStore` or `NSIncrementalStore` the class of a type of stores; nil takes the registration back.
    ///
    /// Stores that are open stay as they are. The types that come with the library cannot be replaced. A type that gets a second class is
    /// refused by `addPersistentStore` (134000) until both are taken back: nobody could say which is meant.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        guard let storeClass else { return StoreTypes.unregister(storeType) }
        guard let known = storeClass as? NSPersistentStore.Type else {
            misuse("registerStoreClass(_:forStoreType:) takes a subclass of NSAtomicStore or NSIncrementalStore, not \(storeClass).")
        }
        StoreTypes.register(StoreClass(storeClass: known), storeType)
    }

    /// As `registerStoreClass(_:forStoreType:)`.
    public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: type.rawValue)
    }
}
