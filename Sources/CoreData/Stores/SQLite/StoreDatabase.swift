import CSQLite
import Foundation
import SQLiteDriver

/// The database of a store on its way to being open.
///
/// Until it is known to be of the model, nothing is written to it.
struct StoreDatabase: Sendable {
    let place: StorePlace
    let options: DatabaseOptions
    /// Whether there is a mapping model that leads from one model to another, which is asked before what can be inferred.
    var hasMappingModel: @Sendable (NSManagedObjectModel, NSManagedObjectModel) -> Bool = { _, _ in false }

    private var url: URL { place.url }

    func open(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> OpenedDatabase {
        // A database in memory that nobody has yet is made, though it is to be read only.
        if options.isReadOnly, place.database == nil { return try openForReading(model, configurationName) }
        return try openForWriting(model, configurationName) ?? openForReading(model, configurationName)
    }

    private func openForReading(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> OpenedDatabase {
        if place.database == nil { try requireFile() }
        _ = try checkAbandonedLog(model, configurationName)
        let known = try place.lock()
        let (counter, lock) = (StatementCounter(), options.takesNoTurns ? StoreLock(known.identity) : known)
        let connection = try connectForReading()
        defer { connection.close() }
        // A file is read beside writers, in this process or another; a database in memory is not.
        let read = { (try check(connection, model, configurationName), try Self.hasLog(connection)) }
        let ((schema, metadata), hasLog) = place.database == nil ? try read() : try lock.read(read)
        let history =
            try place.database == nil ? HistoryTables(in: connection, place) : lock.read { try HistoryTables(in: connection, place) }
        let pool = ConnectionPool(lock: lock, locksReaders: !hasLog) { _ in
            let connection = try connectForReading()
            try lock.identity.requireFile(at: url)
            return observed(connection, counter)
        }
        return OpenedDatabase(
            schema: schema,
            metadata: metadata,
            pool: pool,
            counter: counter,
            type: place.type,
            isReadOnly: true,
            history: history
        )
    }

    /// Nil for a store that has a history, which is not to be written without one.
    private func openForWriting(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> OpenedDatabase? {
        let log = try checkAbandonedLog(model, configurationName)
        let counter = StatementCounter()
        // NB: a database in memory lets nobody in who only sets up a connection while another one writes.
        let connection = try place.database?.lock.write { try connect(.readWriteCreate) } ?? connect(.readWriteCreate)
        SQLLog.observe(connection, counter: counter, slow: options.slowStatementThreshold)
        do {
            let lock = try place.lock()
            return try lock.write {
                // NB: the last connection that closes takes the write-ahead log into the file; not if the file turns out to be somebody else's.
                connection.setCheckpointsOnClose(log == .none || log == .empty)
                if try connection.rows("SELECT name FROM sqlite_master LIMIT 1").isEmpty {
                    try create(connection, model, configurationName)
                }
                let mustNotWrite = try mustNotWrite(connection)
                try migrateIfAsked(connection, model, configurationName)
                let (schema, metadata) = try check(connection, model, configurationName)
                if mustNotWrite {
                    connection.close()
                    return nil
                }
                connection.setCheckpointsOnClose(true)
                try connection.trustSchemaWithVirtualTables()
                let hasLog = try begin(connection)
                let history = try options.tracksHistory ? HistoryTables.prepared(in: connection, place, schema) : nil
                let pool = pool(lock, hasLog: hasLog, counter)
                pool.adopt(writer: connection)
                return OpenedDatabase(
                    schema: schema,
                    metadata: metadata,
                    pool: pool,
                    counter: counter,
                    type: place.type,
                    isReadOnly: false,
                    history: history
                )
            }
        } catch {
            connection.close()
            throw error
        }
    }

    /// A log that nobody has open gets an index by being read, which stays: so what is refused is refused before.
    private func checkAbandonedLog(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> LogState {
        let log = place.database == nil ? LogState(of: place.url) : .none
        guard log == .abandoned else { return log }
        let connection = try place.connectForReading(timeout: options.timeout, isAlone: true)
        defer { connection.close() }
        if try !connection.rows("SELECT name FROM sqlite_master LIMIT 1").isEmpty, try !mayMigrate(connection, model, configurationName) {
            _ = try check(connection, model, configurationName)
        }
        return log
    }

    private func mayMigrate(_ connection: Connection, _ model: NSManagedObjectModel, _ configurationName: String?) throws -> Bool {
        try !options.isReadOnly && options.migrates && versionDiffers(connection, model, configurationName)
    }

    /// Sees whether the database is one of a store of the model.
    private func check(
        _ connection: Connection,
        _ model: NSManagedObjectModel,
        _ configurationName: String?
    ) throws -> (SQLSchema, StoreMetadata) {
        let metadata = try compatibleMetadata(connection, model, configurationName)
        return (try SQLSchema(reading: connection, model: model, configuration: configurationName), metadata)
    }

    /// Sets a connection up that writes; whether changes go to a log, so that readers see the last commit and wait for nobody.
    private func begin(_ connection: Connection) throws -> Bool {
        try setJournalMode(connection)
        let hasLog = try Self.hasLog(connection)
        try setSynchronous(connection, hasLog: hasLog)
        try runPragmas(on: connection)
        return hasLog
    }

    /// Others who have the file open may keep it as it is: it stays so.
    private func setJournalMode(_ connection: Connection) throws {
        do {
            try connection.execute("PRAGMA journal_mode = \(options.journalMode)")
        } catch let error as SQLiteError where error.code == SQLITE_BUSY {
            return
        }
    }

    /// NB: the mode is the file's, whatever the options say: others may keep it as it is, and some places have no room for a log's index.
    private static func hasLog(_ connection: Connection) throws -> Bool { try connection.rows("PRAGMA journal_mode") == [[.text("wal")]] }

    /// NB: "WAL mode is always consistent with synchronous=NORMAL"; a rollback journal is safe against a loss of power with FULL only.
    private func setSynchronous(_ connection: Connection, hasLog: Bool) throws {
        try connection.execute("PRAGMA synchronous = \(hasLog ? "NORMAL" : "FULL")")
    }

    /// Makes the tables. Another process that does the same at this moment wins or waits.
    private func create(_ connection: Connection, _ model: NSManagedObjectModel, _ configurationName: String?) throws {
        try connection.execute("PRAGMA page_size = \(options.pageSize)")
        try connection.execute("PRAGMA auto_vacuum = 2")
        try runPragmas(on: connection)
        try setJournalMode(connection)
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
            throw CocoaError.ofAnotherModel(url.path, metadata: metadata.dictionary, migrates: options.migrates)
        }
        return metadata
    }

    private func pool(_ lock: StoreLock, hasLog: Bool, _ counter: StatementCounter) -> ConnectionPool {
        ConnectionPool(lock: lock, locksReaders: !hasLog) { mode in
            let connection = try connect(mode)
            try lock.identity.requireFile(at: url)
            if mode != .readOnly {
                try setSynchronous(connection, hasLog: hasLog)
                try connection.trustSchemaWithVirtualTables()
            }
            try runPragmas(on: connection)
            return observed(connection, counter)
        }
    }

    private func observed(_ connection: Connection, _ counter: StatementCounter) -> Connection {
        SQLLog.observe(connection, counter: counter, slow: options.slowStatementThreshold)
        return connection
    }

    private func connect(_ mode: Connection.Mode) throws -> Connection {
        try place.refuseFragment()
        return try place.connect(mode, timeout: options.timeout)
    }

    private func connectForReading() throws -> Connection {
        try place.refuseFragment()
        let connection = try place.connectForReading(timeout: options.timeout)
        try runPragmas(on: connection)
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
        guard try FileManager.default.hasItem(at: url) else {
            throw CocoaError.coreData(
                .fileReadNoSuchFile,
                "There is no store at \(url.path), and it is to be opened read-only.",
                userInfo: [NSFilePathErrorKey: url.path]
            )
        }
    }
}
