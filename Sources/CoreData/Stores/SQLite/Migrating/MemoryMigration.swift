import Foundation
import SQLiteDriver

/// The migration of what a store has in memory, for those that are written as a whole.
enum MemoryMigration {
    /// The model with which a store was written that carries none.
    ///
    /// - Throws: `CocoaError` 134130 that lists the hashes and the places.
    static func source(of metadata: [String: Any], _ opening: StoreOpening, _ url: URL) throws -> SourceModelSearch.Found {
        var own = StoreMetadata(model: NSManagedObjectModel(), configuration: nil)
        own.dictionary = metadata
        let staged = opening.options?[DatabaseOptions.stagedModelKey] as? NSManagedObjectModel
        let atHand = [staged, opening.model].compactMap { $0 }
        return try SourceModelSearch(metadata: own, configuration: opening.configurationName, url: url, atHand: atHand).find()
    }

    /// Calls `body` with a copy of all rows that is of the new version.
    ///
    /// - Throws: as migrating a database, or what `body` throws.
    static func run<Result>(
        _ store: NSPersistentStore,
        _ opening: StoreOpening,
        _ body: (any RowStore) throws -> Result
    ) throws -> Result {
        guard let source = (store as? any DatabaseBacked)?.backing as? SQLiteStore else {
            throw CocoaError.removedStore("The store was removed from its coordinator; it cannot be migrated.")
        }
        let memory = try MemoryDatabase.fresh()
        try source.copyDatabase(to: memory)
        var options = opening.options ?? [:]
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        do {
            let migrated = try SQLiteStore.open(
                .memory(memory),
                model: opening.model,
                configurationName: opening.configurationName,
                options: options
            )
            defer { migrated.close() }
            return try body(migrated)
        } catch let error as CocoaError {
            throw renamed(error, memory.url.path, opening.url?.path ?? "?")
        }
    }

    /// The error of a database in memory as one of the file that stands for it.
    private static func renamed(_ error: CocoaError, _ path: String, _ place: String) -> CocoaError {
        var userInfo = error.userInfo
        for key in [NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey] { userInfo[key] = nil }
        userInfo[NSFilePathErrorKey] = place
        return .coreData(error.code, error.localizedDescription.replacingOccurrences(of: path, with: place), userInfo: userInfo)
    }
}
