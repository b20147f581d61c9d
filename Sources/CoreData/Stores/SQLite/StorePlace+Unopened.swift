import Foundation
import SQLiteDriver

/// What is done with stores that no coordinator need have open.
extension StorePlace {
    /// Empties the database, after the saves in this process that wait already; then removes its files.
    ///
    /// - Throws: a `CocoaError` where the file is no database and this is not `isForced`, or where it cannot be written within `timeout`.
    func destroy(timeout: TimeInterval, isForced: Bool) throws {
        do {
            if !isForced { try refuseFragment() }
            let connection = try connect(.readWrite)
            defer { connection.close() }
            connection.setBusyTimeout(seconds: timeout)
            try lock().write {
                if !isForced { _ = try connection.rows("PRAGMA schema_version") }
                try connection.empty()
            }
        } catch let error as SQLiteError {
            throw CocoaError(error, url: url, doing: "destroy the store")
        }
        try removeFiles()
    }

    private func removeFiles() throws {
        guard database == nil else { return }
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let path = url.path + suffix
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        }
    }

    /// What the store says of itself.
    ///
    /// - Throws: a `CocoaError` where there is no metadata that can be read.
    func metadata() throws -> StoreMetadata {
        do {
            let connection = try connectForReading()
            defer { connection.close() }
            if let metadata = try readMetadata(connection) { return metadata }
        } catch let error as SQLiteError {
            throw CocoaError(error, url: url, doing: "read metadata")
        }
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
