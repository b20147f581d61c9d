import CSQLite
import Foundation
import SQLiteDriver

/// The file of a store on its way to being open.
///
/// Until a file is known to be of the model, nothing is written to it.
struct StoreFile: Sendable {
    let url: URL
    let options: StoreOptions

    func openReadOnly(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> OpenedFile {
        try requireFile()
        let counter = StatementCounter()
        let connection = try connect(.readOnly)
        defer { connection.close() }
        let metadata = try compatibleMetadata(connection, model, configurationName)
        let schema = try SQLSchema(reading: connection, model: model, configuration: configurationName)
        return OpenedFile(schema: schema, metadata: metadata, pool: pool(counter), counter: counter)
    }

    func openForWriting(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> OpenedFile {
        let counter = StatementCounter()
        let connection = try connect(.readWriteCreate)
        SQLLog.observe(connection, counter: counter)
        do {
            let opened = try open(connection, counter, model, configurationName)
            opened.pool.adopt(writer: connection)
            return opened
        } catch {
            connection.close()
            throw error
        }
    }

    private func open(
        _ connection: Connection,
        _ counter: StatementCounter,
        _ model: NSManagedObjectModel,
        _ configurationName: String?
    ) throws -> OpenedFile {
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
        return OpenedFile(schema: schema, metadata: metadata, pool: pool(counter), counter: counter)
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
            try StoreMetadata(model: model, configuration: configurationName).write(to: connection)
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

    private func pool(_ counter: StatementCounter) -> ConnectionPool {
        ConnectionPool { mode in
            let connection = try connect(mode)
            try runPragmas(on: connection)
            SQLLog.observe(connection, counter: counter)
            return connection
        }
    }

    private func connect(_ mode: Connection.Mode) throws -> Connection {
        try refuseFragment()
        let connection = try options.isReadOnly ? Self.readOnlyConnection(url) : Connection(path: url.path, mode: mode)
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
}

extension StoreFile {
    private func requireFile() throws {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CocoaError.coreData(
                .fileReadNoSuchFile,
                "There is no store at \(url.path), and it is to be opened read-only.",
                userInfo: [NSFilePathErrorKey: url.path]
            )
        }
    }

    /// NB: SQLite takes a file of one byte for an empty one, and would write over it. No database is smaller than 512 bytes.
    private func refuseFragment() throws {
        let size = try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)[.size] as? NSNumber
        guard let size, (1..<512).contains(size.intValue) else { return }
        throw CocoaError.coreData(
            .fileReadCorruptFile,
            "\(url.path) is no database: it has only \(size) bytes.",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }

    /// A connection that reads only, also in a folder that cannot be written.
    ///
    /// NB: in WAL mode even readers need a `-shm` file. Where none can be made, and there is no log either, the file is read as one that
    /// nobody changes, which is what such a place promises.
    static func readOnlyConnection(_ url: URL) throws -> Connection {
        let connection = try Connection(path: url.path, mode: .readOnly)
        do {
            _ = try connection.rows("PRAGMA schema_version")
            return connection
        } catch let error as SQLiteError where error.code == SQLITE_CANTOPEN || error.code == SQLITE_READONLY {
            connection.close()
            let path = url.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
            guard let path, !FileManager.default.fileExists(atPath: url.path + "-wal") else { throw error }
            return try Connection(path: "file:\(path)?immutable=1", mode: .readOnly, isURI: true)
        }
    }
}
