import Foundation
import SQLiteDriver

/// A file that has been opened and found fit for its model.
struct OpenedFile {
    let schema: SQLSchema
    let metadata: StoreMetadata
    let pool: ConnectionPool
    let counter: StatementCounter
}

extension SQLiteStore {
    static let defaultTimeout: TimeInterval = 30

    /// Opens the file, or makes it.
    ///
    /// - Throws: a `CocoaError`: 134100 where the file is of another model, 259 where it is no database, 134020 where it is a database of
    ///   something else, 134080 and others where it cannot be opened. A file that was there is untouched.
    static func open(
        _ url: URL,
        model: NSManagedObjectModel,
        number: Int32,
        configurationName: String?,
        options: [AnyHashable: Any]?
    ) throws -> SQLiteStore {
        try checkModel(model, configurationName)
        let file = try StoreFile(url: url, options: StoreOptions(options))
        do {
            let opened =
                try file.options.isReadOnly ? file.openReadOnly(model, configurationName) : file.openForWriting(model, configurationName)
            return SQLiteStore(opened, model: model, number: number, configurationName: configurationName, url: url, options: options)
        } catch let error as SQLiteError {
            throw CocoaError(error, url: url, doing: "open the store", default: .persistentStoreOpen)
        }
    }

    private static func checkModel(_ model: NSManagedObjectModel, _ configurationName: String?) throws {
        guard model.entities(forConfigurationName: configurationName) != nil else {
            throw CocoaError.coreData(.persistentStoreOpen, "The model has no configuration \"\(configurationName ?? "")\".")
        }
        try model.requireStorableAttributes(forConfigurationName: configurationName)
    }
}
