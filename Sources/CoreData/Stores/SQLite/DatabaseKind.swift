import Foundation

/// Stores in SQLite databases, in files or in memory.
struct DatabaseKind: StoreKind {
    let type: String

    func open(_ opening: StoreOpening) throws -> any RowStore {
        let place = try StorePlace(type: type, url: opening.url)
        // NB: SQLite must never open one file by two names: each would have a log of its own.
        try opening.requireUnused(place.identity.map(StoreLocation.database), place.database == nil ? place.url : nil)
        return try SQLiteStore.open(
            place,
            model: opening.model,
            configurationName: opening.configurationName,
            options: opening.options,
            hasMappingModel: opening.hasMappingModel
        )
    }

    func destroy(at url: URL, options: [AnyHashable: Any]?, releasing release: () throws -> Void) throws {
        guard let place = try StorePlace.existing(type: type, url: url) else { return }
        try release()
        try place.destroy(
            timeout: DatabaseOptions.timeout(options),
            isForced: DatabaseOptions.flag(options?[NSPersistentStoreForceDestroyOption])
        )
    }

    func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        guard let place = try StorePlace.existing(type: type, url: url) else { throw Self.isMissing(url) }
        return try place.metadata(timeout: DatabaseOptions.timeout(options)).dictionary
    }

    func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
        guard let place = try StorePlace.existing(type: type, url: url) else { throw Self.isMissing(url) }
        try place.setMetadata(metadata, timeout: DatabaseOptions.timeout(options))
    }

    private static func isMissing(_ url: URL) -> CocoaError {
        .coreData(.fileReadNoSuchFile, "There is no store at \(url.path).", userInfo: [NSFilePathErrorKey: url.path])
    }
}
