import Foundation

/// Stores in SQLite databases, in files or in memory.
struct DatabaseKind: StoreKind {
    let type: String

    func open(_ opening: StoreOpening) throws -> any RowStore {
        let place = try StorePlace(type: type, url: opening.url)
        // NB: SQLite must never open one file by two names: each would have a log of its own.
        try opening.requireUnused(place.identity.map(StoreLocation.database), place.database == nil ? place.url : nil)
        let isInFile = place.database == nil
        let isKnown = opening.hasMappingModel
        // NB: nothing could take the place of what is in memory, which migrates by what can be inferred.
        let hasMappingModel: @Sendable (NSManagedObjectModel, NSManagedObjectModel) -> Bool = { isInFile && isKnown($0, $1) }
        return try SQLiteStore.open(
            place,
            model: opening.model,
            configurationName: opening.configurationName,
            options: opening.options,
            hasMappingModel: hasMappingModel
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

    func empty(_ identifier: String, at url: URL) throws {
        try StorePlace.existing(type: type, url: url)?.empty(identifier, timeout: DatabaseOptions.timeout(nil))
    }

    func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        guard let place = try StorePlace.existing(type: type, url: url) else { throw Self.isMissing(url) }
        return try place.metadata(timeout: DatabaseOptions.timeout(options)).dictionary
    }

    func model(ofStoreAt url: URL) throws -> NSManagedObjectModel? {
        let inspector = try StoreInspector(url: url)
        defer { inspector.connection.close() }
        do {
            return try StoreFileMigration.sourceModel(inspector, url, nil).model
        } catch let error as CocoaError where error.code == .migrationMissingSourceModel {
            return nil
        }
    }

    func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
        guard let place = try StorePlace.existing(type: type, url: url) else { throw Self.isMissing(url) }
        try place.setMetadata(metadata, timeout: DatabaseOptions.timeout(options))
    }

    func move(_ store: any RowStore, _ opening: StoreOpening, commit: @escaping (any RowStore) -> Void) throws {
        guard let source = (store as? any DatabaseBacked)?.backing as? SQLiteStore else { throw Self.cannotMove(store.type, to: type) }
        let place = try StorePlace(type: type, url: opening.url)
        try opening.requireUnused(place.identity.map(StoreLocation.database), place.database == nil ? place.url : nil)
        try DatabaseMove(source: source, destination: place, options: opening.options, metadata: store.metadata ?? [:]).run(commit: commit)
    }

    func replace(_ destination: StoreLocator, with source: StoreLocator, releasing release: () throws -> Void) throws {
        guard let old = try StorePlace.existing(type: type, url: source.url) else { throw Self.isMissing(source.url) }
        let replacement = DatabaseReplacement(
            source: old,
            destination: try StorePlace(type: type, url: destination.url),
            timeout: DatabaseOptions.timeout(destination.options),
            isForced: DatabaseOptions.flag(destination.options?[NSPersistentStoreForceDestroyOption])
        )
        try replacement.run(releasing: release)
    }

    private static func isMissing(_ url: URL) -> CocoaError {
        .coreData(.fileReadNoSuchFile, "There is no store at \(url.path).", userInfo: [NSFilePathErrorKey: url.path])
    }
}
