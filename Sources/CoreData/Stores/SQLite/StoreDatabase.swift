import CSQLite
import Foundation
import SQLiteDriver

/// The database of a store on its way to being open.
///
/// Until it is known to be of the model, nothing is written to it.
struct StoreDatabase: Sendable {
    let place: StorePlace
    let options: DatabaseOptions

    private var url: URL { place.url }

    /// A database in memory that nobody has yet is made, though it is to be read only.
    private var isFileToRead: Bool { options.isReadOnly && place.database == nil }

    func open(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> OpenedDatabase {
        try isFileToRead ? openForReading(model, configurationName) : openForWriting(model, configurationName)
    }

    private func openForReading(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> OpenedDatabase {
        try requireFile()
        let counter = StatementCounter()
        let connection = try connect(.readOnly)
        defer { connection.close() }
        let metadata = try compatibleMetadata(connection, model, configurationName)
        let schema = try SQLSchema(reading: connection, model: model, configuration: configurationName)
        return OpenedDatabase(schema: schema, metadata: metadata, pool: try pool(counter), counter: counter, type: place.type)
    }

    private func openForWriting(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> OpenedDatabase {
        let counter = StatementCounter()
        // NB: a database in memory lets nobody in who only sets up a connection while another one writes.
        let connection = try place.database?.lock.write { try connect(.readWriteCreate) } ?? connect(.readWriteCreate)
        SQLLog.observe(connection, counter: counter)
        do {
            let pool = try pool(counter)
            return try pool.lock.write {
                let (schema, metadata) = try prepare(connection, model, configurationName)
                pool.adopt(writer: connection)
                return OpenedDatabase(schema: schema, metadata: metadata, pool: pool, counter: counter, type: place.type)
            }
        } catch {
            connection.close()
            throw error
        }
    }

    /// Makes the tables where there are none, and sees whether they are the model's.
    private func prepare(
        _ connection: Connection,
        _ model: NSManagedObjectModel,
        _ configurationName: String?
    ) throws -> (SQLSchema, StoreMetadata) {
        // NB: the last connection that closes takes the write-ahead log into the file; not if the file turns out to be somebody else's.
        connection.setCheckpointsOnClose(false)
        if try connection.rows("SELECT name FROM sqlite_master LIMIT 1").isEmpty {
            try create(connection, model, configurationName)
        }
        let metadata = try compatibleMetadata(connection, model, configurationName)
        let schema = try SQLSchema(reading: connection, model: model, configuration: configurationName)
        connection.setCheckpointsOnClose(true)
        try connection.execute("PRAGMA journal_mode = \(options.journalMode)")
        try runPragmas(on: connection)
        return (schema, metadata)
    }

    /// Makes the tables. Another process that does the same at this moment wins or waits.
    private func create(_ connection: Connection, _ model: NSManagedObjectModel, _ configurationName: String?) throws {
        try connection.execute("PRAGMA page_size = \(options.pageSize)")
        try connection.execute("PRAGMA auto_vacuum = 2")
        try runPragmas(on: connection)
        try connection.execute("PRAGMA journal_mode = \(options.journalMode)")
        try connection.transaction(.immediate) {
            guard try connection.rows("SELECT name FROM sqlite_master LIMIT 1").isEmpty else { return }
            for statement in SQLSchema(model: model, configuration: configurationName).creationStatements {
                try connection.execute(statement)
            }
            try StoreMetadata(model: model, configuration: configurationName, type: place.type).write(to: connection)
            try ModelCache.write(model, to: connection)
        }
    }

    private func compatibleMetadata(
        _ connection: Connection,
        _ model: NSManagedObjectModel,
        _ configurationName: String?
    ) throws -> StoreMetadata {
        guard let metadata = try StoreMetadata.read(from: connection) else {
            throw CocoaError.coreData(
                .persistentStoreIncompatibleSchema,
                "\(url.path) is an SQLite database, but not one that Core Data made.",
                userInfo: [NSFilePathErrorKey: url.path]
            )
        }
        let isCompatible = model.isConfiguration(withName: configurationName, compatibleWithStoreMetadata: metadata.dictionary)
        guard options.ignoresVersions || isCompatible else {
            throw CocoaError.coreData(
                .persistentStoreIncompatibleVersionHash,
                "The model used to open the store at \(url.path) is not the one used to create it.",
                userInfo: [
                    "metadata": metadata.dictionary, NSFilePathErrorKey: url.path,
                    "reason": "The model used to open the store is incompatible with the one used to create the store",
                ]
            )
        }
        return metadata
    }

    private func pool(_ counter: StatementCounter) throws -> ConnectionPool {
        ConnectionPool(lock: try place.lock(), locksReaders: !options.hasLog) { mode in
            let connection = try connect(mode)
            try runPragmas(on: connection)
            SQLLog.observe(connection, counter: counter)
            return connection
        }
    }

    private func connect(_ mode: Connection.Mode) throws -> Connection {
        try place.refuseFragment()
        let connection = try isFileToRead ? place.connectForReading() : place.connect(mode)
        connection.setBusyTimeout(seconds: options.timeout)
        try PredicateFunctions.register(on: connection)
        try connection.defineSink()
        try connection.execute("PRAGMA recursive_triggers = 1")
        try connection.execute("PRAGMA synchronous = NORMAL")
        return connection
    }

    private func runPragmas(on connection: Connection) throws {
        for (name, value) in options.pragmas {
            do {
                try connection.execute("PRAGMA \(name) = \(value)")
            } catch let error as SQLiteError where error.code == SQLITE_READONLY {
                // One that changes the file, on a connection that cannot: it is the writing connection's to set.
                continue
            }
        }
    }

    private func requireFile() throws {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CocoaError.coreData(
                .fileReadNoSuchFile,
                "There is no store at \(url.path), and it is to be opened read-only.",
                userInfo: [NSFilePathErrorKey: url.path]
            )
        }
    }
}
