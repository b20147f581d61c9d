import Foundation
import SQLiteDriver

/// What is done with stores that no coordinator need have open.
extension StorePlace {
    /// Empties the database, after the saves in this process that wait already, and removes the files with its data beside it. The file itself
    /// stays: others may have it open, who would go on writing into one that nobody finds any more.
    ///
    /// - Throws: a `CocoaError` where the file is no database and this is not `isForced`, or where it cannot be written within `timeout`.
    func destroy(timeout: TimeInterval, isForced: Bool) throws {
        do {
            if !isForced { try refuseFragment() }
            let connection = try connect(.readWrite, timeout: timeout)
            defer { connection.close() }
            try lock().write {
                if !isForced { _ = try connection.rows("PRAGMA schema_version") }
                try connection.empty()
            }
        } catch let error as SQLiteError {
            throw CocoaError(error, url: url, doing: "destroy the store")
        }
        if let ownSupportFolder, FileManager.default.fileExists(atPath: ownSupportFolder.path) {
            try FileManager.default.removeItem(at: ownSupportFolder)
        }
    }

    /// Removes all objects, and what programs have put into the metadata, if the store is still the one with that identifier: it is another one then.
    /// Compared and emptied in one transaction, after the saves in this process that wait already.
    ///
    /// - Throws: a `CocoaError` where it cannot be read, or written within `timeout`; all objects are there then.
    func empty(_ identifier: String, timeout: TimeInterval) throws {
        do {
            try refuseFragment()
            let connection = try connect(.readWrite, timeout: timeout)
            defer { connection.close() }
            try lock().write {
                let files: [URL]? = try connection.emptyingTransaction {
                    guard let metadata = try StoreMetadata.read(from: connection), metadata.uuid == identifier else { return nil }
                    try SQLiteStore.empty(connection, becoming: metadata.ofEmptiedStore)
                    return ownSupportFolder.map { ExternalFiles($0).all } ?? []
                }
                if let files { SQLiteStore.loggingFailure { try connection.discardRemains(files) } }
            }
        } catch let error as SQLiteError {
            throw CocoaError(error, url: url, doing: "empty the store")
        }
    }

    /// Writes what the store says of itself, after the saves in this process that wait already. What says which model it is of stays.
    ///
    /// - Throws: a `CocoaError` where there is no store, where it cannot be written within `timeout`, or where a value cannot be kept.
    func setMetadata(_ values: [String: Any], timeout: TimeInterval) throws {
        _ = try metadata(timeout: timeout)
        do {
            let connection = try connect(.readWrite, timeout: timeout)
            defer { connection.close() }
            try lock().write {
                try connection.transaction(.immediate) {
                    guard var metadata = try StoreMetadata.read(from: connection) else { return }
                    let own = metadata.values.filter { StoreMetadata.ownKeys.contains($0.key) }
                    metadata.replaceNotes(by: values.merging(own) { $1 })
                    // Who has the store closed may say that a stage has ended, or what it was before it was migrated into this place.
                    for key in [DatabaseOptions.stageKey, DatabaseOptions.stagedVersionKey] { metadata.values[key] = values[key] }
                    if let versions = values[StoreMetadata.formerVersionsKey] {
                        metadata.values[StoreMetadata.formerVersionsKey] = versions
                    }
                    try metadata.write(to: connection)
                }
            }
        } catch let error as SQLiteError {
            throw CocoaError(error, url: url, doing: "write metadata")
        }
    }

    /// What the store says of itself.
    ///
    /// - Throws: a `CocoaError` where there is no metadata that can be read within `timeout`.
    func metadata(timeout: TimeInterval) throws -> StoreMetadata {
        do {
            try refuseFragment()
            let connection = try connectForReading(timeout: timeout, isAlone: true)
            defer { connection.close() }
            return try metadata(on: connection)
        } catch let error as SQLiteError {
            throw CocoaError(error, url: url, doing: "read metadata")
        }
    }

    /// - Throws: `CocoaError` 134020 where there is none.
    func metadata(on connection: Connection) throws -> StoreMetadata {
        if let metadata = try readMetadata(connection) { return metadata }
        throw CocoaError.coreData(
            .persistentStoreIncompatibleSchema,
            "\(url.path) is not a Core Data store.",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }

    private func readMetadata(_ connection: Connection) throws -> StoreMetadata? {
        // A file is read beside writers, in this process or another; a database in memory is not.
        guard let database else { return try StoreMetadata.read(from: connection) }
        return try database.lock.read { try StoreMetadata.read(from: connection) }
    }
}
