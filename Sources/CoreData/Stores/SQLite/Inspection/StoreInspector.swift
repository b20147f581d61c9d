import Foundation
import ModelFormat
import SQLiteDriver

/// Looks into a store's file without a coordinator: for tools. Nothing in the file is changed.
///
/// Reads attributes of all types, those too that a coordinator refuses. All that it sees is of one moment, whatever others write or migrate
/// meanwhile; one that is not alone sees for each statement what there is then.
///
/// > Concurrency: one thread at a time.
package final class StoreInspector {
    package let connection: Connection
    package let url: URL
    /// What the store says about itself, with `NSStoreUUID`.
    package let metadata: [String: Any]
    let isAlone: Bool

    /// - Parameter isAlone: whether others may be kept waiting while this looks.
    /// - Throws: a `CocoaError` where there is no file, no database, or no store in it.
    package init(url: URL, isAlone: Bool = true) throws {
        var isFolder: ObjCBool = false
        guard try FileManager.default.hasItem(at: url) else {
            throw CocoaError.coreData(.fileReadNoSuchFile, "There is no store at \(url.path).", userInfo: [NSFilePathErrorKey: url.path])
        }
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue {
            throw CocoaError.coreData(.fileReadUnknown, "\(url.path) is a folder, not a store.", userInfo: [NSFilePathErrorKey: url.path])
        }
        let place = StorePlace.file(url)
        try place.refuseFragment()
        let connection = try inStore(url) { try Self.connection(to: place, isAlone) }
        (self.connection, self.url, self.isAlone) = (connection, url, isAlone)
        metadata = try inStore(url) { try place.metadata(on: connection).dictionary }
    }

    private static func connection(to place: StorePlace, _ isAlone: Bool) throws -> Connection {
        let connection = try place.connectForReading(timeout: SQLiteStore.defaultTimeout, isAlone: isAlone)
        if isAlone { try connection.execute("BEGIN") }
        try connection.allowOnlyReading()
        return connection
    }

    package var uuid: String { metadata[NSStoreUUIDKey] as? String ?? "" }

    /// The version hashes of the model that the store was written with.
    package var versionHashes: [String: Data] { metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:] }

    /// The model that the store carries with it; nil for a store without one.
    ///
    /// - Throws: a `CocoaError` that names the file, where it cannot be read.
    package func storedModel() throws -> Model? {
        do {
            return try inStore(url) { try ModelCache.read(from: connection) }
        } catch let error as ModelFormatError {
            throw CocoaError.coreData(
                .fileReadCorruptFile,
                "The model that the store at \(url.path) carries cannot be read: \(error).",
                userInfo: [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error]
            )
        }
    }

    /// All rows of a statement that reads.
    ///
    /// - Throws: a `CocoaError` with what SQLite says.
    package func rows(_ sql: String, _ values: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        try inStore(url) { try connection.rows(sql, values) }
    }

    /// Where everything that a model describes is in this file.
    ///
    /// - Throws: `CocoaError.persistentStoreIncompatibleSchema` with the first thing that is missing.
    func schema(of model: NSManagedObjectModel) throws -> SQLSchema {
        model.freeze()
        let configuration = fittingConfiguration(of: model)
        return try inStore(url) { try SQLSchema(reading: connection, model: model, configuration: configuration) }
    }

    /// The configuration of the model that the store was made with; nil for all of the model, and for another model.
    package func fittingConfiguration(of model: NSManagedObjectModel) -> String? {
        guard !fits(model, nil) else { return nil }
        return model.configurations.sorted(by: binaryOrder).first { fits(model, $0) }
    }

    private func fits(_ model: NSManagedObjectModel, _ configuration: String?) -> Bool {
        model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
    }

    /// Whether the store opens with the model, or with a configuration of it, as it is.
    package func isCompatible(with model: NSManagedObjectModel) -> Bool { fits(model, fittingConfiguration(of: model)) }

    /// The text of the one column of a statement's rows.
    func texts(_ sql: String, _ values: [SQLiteValue] = []) throws -> [String] {
        try rows(sql, values).compactMap { if case .text(let text)? = $0.first { text } else { nil } }
    }

    func number(_ sql: String, _ values: [SQLiteValue] = []) throws -> Int64 {
        if case .integer(let number)? = try rows(sql, values).first?.first { number } else { 0 }
    }
}

/// Runs `body`, whose SQLite errors are about the store at `url`.
func inStore<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as SQLiteError {
        throw CocoaError(error, url: url, doing: "read the store")
    }
}
