import CSQLite
import Foundation
import SQLiteDriver

extension NSPersistentStoreCoordinator {
    static let hasMappingModel: @Sendable (NSManagedObjectModel, NSManagedObjectModel) -> Bool = {
        NSMappingModel.leading(from: $0, to: $1) != nil
    }

    /// Opens a store. One of an older version for which there is a mapping model is migrated by that, where its options ask for a migration.
    func openMigrating(_ opening: StoreOpening) throws -> any RowStore {
        let store = try openOrMigrate(opening)
        if let site = opening.site, site.isDatabase, !store.isReadOnly { WorkFile.removeAbandoned(besideDatabase: site.url) }
        return store
    }

    private func openOrMigrate(_ opening: StoreOpening) throws -> any RowStore {
        let kind = try StoreTypes.kind(of: opening.type)
        while true {
            do {
                return try kind.open(opening)
            } catch let wanted as MappingModelWanted {
                // NB: somebody may put an older state back before the store is opened: it is migrated, too.
                try migrate(opening, from: wanted.source)
            }
        }
    }

    private func migrate(_ opening: StoreOpening, from source: SourceModelSearch.Found) throws {
        guard let site = opening.site, let mapping = NSMappingModel.leading(from: source.model, to: opening.model) else {
            throw CocoaError.mappingIsGone(opening.url)
        }
        let stamp = FileStamp(site.url)
        do {
            try MigrationInPlace(site: site, source: source, model: opening.model, mapping: mapping).run()
        } catch  where !site.isDatabase && FileStamp(site.url) != stamp {
            // Others may have migrated the document meanwhile, as opening it shows.
        }
    }
}

extension StoreOpening {
    fileprivate var site: StoreSite? {
        url.map { StoreSite(url: $0, type: type, options: options, configuration: configurationName) }
    }
}

/// A migration by mapping model after which the new store is where the old one was.
struct MigrationInPlace {
    let site: StoreSite
    let source: SourceModelSearch.Found
    let model: NSManagedObjectModel
    let mapping: NSMappingModel
    var progress: (Float) -> Void = { _ in }
    /// Called before each statement on the store.
    var onStatement: ((String) throws -> Void)?

    /// Does nothing where the store is of the new version meanwhile.
    ///
    /// - Throws: `CocoaError` 134110 with its reason underneath; the store is what it was.
    func run() throws {
        do {
            try site.isDatabase ? replace() : replaceDocument()
        } catch let error as SQLiteError {
            let reason = CocoaError(error, url: site.url, doing: "migrate the store")
            // Who waits for others may try once more.
            throw error.code == SQLITE_BUSY ? reason : CocoaError.notMigrated(site.url, reason)
        } catch {
            throw CocoaError.notMigrated(site.url, (error as? MigrationCancellation)?.error ?? error)
        }
    }

    private func replace() throws {
        let work = WorkFile(beside: site.url)
        let timeout = DatabaseOptions.timeout(site.options)
        let replacement = StoreReplacement(place: .file(site.url), source: source, timeout: timeout, onStatement: onStatement)
        var isDone = false
        try replacement.run(by: work.url, isNeeded: isOld) {
            // Whoever has left something there is gone: he had the store as this one has it now.
            work.remove()
            try migrate(to: work)
            isDone = true
        } discard: {
            work.remove()
        }
        // Data that were in files of their own are in the rows now.
        if isDone { SupportFolder.remove(of: site.url) }
    }

    private func replaceDocument() throws {
        let stamp = FileStamp(site.url)
        WorkFile.removeAbandoned(at: site.url)
        let work = WorkFile(forNewStoreAt: site.url)
        defer { work.remove() }
        try migrate(to: work)
        try keepIdentity(work.url)
        try AtomicFile.write(Data(contentsOf: work.url), to: site.url) { current in
            if current != stamp { throw CocoaError.source(site.url, CocoaError.migration("It was changed by others meanwhile.")) }
        }
    }

    /// It is still the same store.
    private func keepIdentity(_ url: URL) throws {
        typealias Coordinator = NSPersistentStoreCoordinator
        var metadata = try Coordinator.metadataForPersistentStore(ofType: site.type, at: url, options: site.options)
        let before = try Coordinator.metadataForPersistentStore(ofType: site.type, at: site.url, options: site.options)
        metadata[NSStoreUUIDKey] = before[NSStoreUUIDKey]
        try Coordinator.setMetadata(metadata, forPersistentStoreOfType: site.type, at: url, options: site.options)
    }

    private func isOld(_ metadata: StoreMetadata) -> Bool {
        !model.isConfiguration(withName: site.configuration, compatibleWithStoreMetadata: metadata.dictionary)
    }

    private func migrate(to work: WorkFile) throws {
        let manager = NSMigrationManager(sourceModel: source.model, destinationModel: model)
        manager.onProgress = progress
        var (old, new) = (site, site)
        old.configuration = source.configuration
        // NB: whoever opens the store meanwhile, or saves, has the turn at it, and waits for this migration to let him write.
        if site.isDatabase { old.options = (site.options ?? [:]).merging([DatabaseOptions.noTurnsKey: true]) { $1 } }
        (new.url, new.options) = (work.url, work.options(site))
        try MigrationByObjects(manager: manager, mapping: mapping, source: old, destination: new, place: site.url).run()
    }
}
