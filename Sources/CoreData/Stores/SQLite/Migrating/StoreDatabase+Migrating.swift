import CSQLite
import Foundation
import Logging
import SQLiteDriver

extension StoreDatabase {
    /// Brings a store of another version to this one, where the options ask for that. Several processes may want to: one does, the others wait and
    /// find it done.
    ///
    /// - Throws: `CocoaError` 134130 where the store's model is not found, 134140 where no mapping is known or can be inferred, 134110 for any other
    ///   failure, with its reason underneath; `MappingModelWanted` where there is a mapping model. The store is what it was.
    func migrateIfAsked(
        _ connection: Connection,
        _ model: NSManagedObjectModel,
        _ configuration: String?,
        from known: SourceModelSearch.Found? = nil,
        progress: (Int, Int) -> Void = { _, _ in }
    ) throws {
        guard try options.migrates && versionDiffers(connection, model, configuration) else { return }
        var files: Set<String> = []
        do {
            try connection.trustSchemaWithVirtualTables()
            try connection.transaction(.immediate) {
                guard try versionDiffers(connection, model, configuration), let metadata = try StoreMetadata.read(from: connection) else {
                    return
                }
                let search = SourceModelSearch(
                    metadata: metadata,
                    configuration: configuration,
                    url: place.url,
                    atHand: [options.stagedModel, model].compactMap { $0 },
                    former: metadata.wasOnce(model, configuration) ? model : nil
                )
                let source = try known ?? search.find(in: connection)
                if known == nil, hasMappingModel(source.model, model) { throw MappingModelWanted(source: source) }
                guard options.infersMapping else { throw missingMapping(nil) }
                files = try StoreMigration(connection, place, from: source, to: model, configuration: configuration, options)
                    .run(metadata, configuration: configuration, progress: progress)
            }
            if !files.isEmpty, let folder = place.ownSupportFolder { ExternalFiles(folder).remove(files) }
            if case .file = place { Logger(label: "CoreData").notice("The store at \(place.url.path) was migrated.") }
        } catch let error as SQLiteError where error.code == SQLITE_BUSY {
            throw error
        } catch let wanted as MappingModelWanted {
            throw wanted
        } catch {
            throw reported(error)
        }
    }

    /// Whether the store is of another version, and this is to be told from one that is none.
    func versionDiffers(_ connection: Connection, _ model: NSManagedObjectModel, _ configuration: String?) throws -> Bool {
        guard !options.ignoresVersions, let metadata = try StoreMetadata.read(from: connection) else { return false }
        return !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata.dictionary)
    }

    private func missingMapping(_ reason: CocoaError?) -> CocoaError {
        let why =
            reason.map { " \($0.localizedDescription)" }
            ?? " \(NSInferMappingModelAutomaticallyOption) is off, and no mapping model is there."
        var userInfo: [String: Any] = reason?.userInfo ?? [:]
        for key in [NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey] { userInfo[key] = nil }
        userInfo[NSFilePathErrorKey] = place.url.path
        userInfo[NSUnderlyingErrorKey] = reason
        return .coreData(.migrationMissingMappingModel, "The store at \(place.url.path) cannot be migrated.\(why)", userInfo: userInfo)
    }

    func reported(_ error: any Error) -> CocoaError {
        let underlying = (error as? SQLiteError).map { CocoaError($0, url: place.url, doing: "migrate the store") } ?? error as? CocoaError
        if let underlying, [.migrationMissingSourceModel, .migrationMissingMappingModel].contains(underlying.code) { return underlying }
        if underlying?.code == .inferredMappingModel { return missingMapping(underlying) }
        let reason = underlying?.localizedDescription ?? "\(error)"
        return .coreData(
            .migration,
            "The store at \(place.url.path) was not migrated, and is what it was: \(reason)",
            userInfo: [NSFilePathErrorKey: place.url.path, NSUnderlyingErrorKey: underlying ?? error, "reason": reason]
        )
    }
}
