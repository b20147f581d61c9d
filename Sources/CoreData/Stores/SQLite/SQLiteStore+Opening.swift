import Foundation
import SQLiteDriver

/// A database that has been opened and found fit for its model.
struct OpenedDatabase {
    let schema: SQLSchema
    let metadata: StoreMetadata
    let pool: ConnectionPool
    let counter: StatementCounter
    /// The type of stores in such places.
    let type: String
    /// Whether it cannot be written, whatever was asked for.
    let isReadOnly: Bool
    var history: HistoryTables?
}

extension SQLiteStore {
    static let defaultTimeout: TimeInterval = 30

    /// Opens the database, or makes it.
    ///
    /// - Throws: a `CocoaError`: 134100 where it is of another model, 259 where the file is no database, 134020 where it is a database of
    ///   something else, 134080 and others where it cannot be opened. What was there is untouched.
    static func open(
        _ place: StorePlace,
        model: NSManagedObjectModel,
        configurationName: String?,
        options: [AnyHashable: Any]?,
        mayMigrate: Bool = true,
        hasMappingModel: @escaping @Sendable (NSManagedObjectModel, NSManagedObjectModel) -> Bool = { _, _ in false }
    ) throws -> SQLiteStore {
        try checkModel(model, configurationName)
        var settings = try DatabaseOptions(options, isInMemory: place.database != nil)
        if !mayMigrate { settings.migrates = false }
        var database = StoreDatabase(place: place, options: settings)
        database.hasMappingModel = hasMappingModel
        do {
            return SQLiteStore(
                try database.open(model, configurationName),
                model: model,
                configurationName: configurationName,
                url: place.url,
                options: options
            )
        } catch let error as SQLiteError {
            throw CocoaError(error, url: place.url, doing: "open the store", default: .persistentStoreOpen)
        }
    }

    private static func checkModel(_ model: NSManagedObjectModel, _ configurationName: String?) throws {
        try model.requireConfiguration(configurationName)
        try model.requireStorableAttributes(forConfigurationName: configurationName, isComputing: true)
    }
}
