import CSQLite
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
        let file = StoreFile(url: url, options: options)
        do {
            let opened = try file.isReadOnly ? file.openReadOnly(model, configurationName) : file.openForWriting(model, configurationName)
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

/// The file of a store on its way to being open.
private struct StoreFile {
    let url: URL
    let options: [AnyHashable: Any]?

    var isReadOnly: Bool { options?[NSReadOnlyPersistentStoreOption] as? Bool ?? false }
    private var timeout: TimeInterval { options?[NSPersistentStoreTimeoutOption] as? TimeInterval ?? SQLiteStore.defaultTimeout }
    private var pragmas: [String: String] { options?[NSSQLitePragmasOption] as? [String: String] ?? [:] }

    func openReadOnly(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> OpenedFile {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CocoaError.coreData(
                .fileReadNoSuchFile,
                "There is no store at \(url.path), and it is to be opened read-only.",
                userInfo: [NSFilePathErrorKey: url.path]
            )
        }
        let counter = StatementCounter()
        let connection = try connect(.readOnly, counter)
        let metadata = try compatibleMetadata(connection, model, configurationName)
        let schema = try SQLSchema(reading: connection, model: model, configuration: configurationName)
        connection.close()
        return OpenedFile(schema: schema, metadata: metadata, pool: pool(counter), counter: counter)
    }

    func openForWriting(_ model: NSManagedObjectModel, _ configurationName: String?) throws -> OpenedFile {
        let counter = StatementCounter()
        let connection = try connect(.readWriteCreate, counter)
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
        if try connection.rows("SELECT name FROM sqlite_master LIMIT 1").isEmpty {
            try create(connection, model, configurationName)
        }
        // Nothing has been written to a file that was there before, and nothing is until it is known to be of this model.
        let metadata = try compatibleMetadata(connection, model, configurationName)
        let schema = try SQLSchema(reading: connection, model: model, configuration: configurationName)
        try connection.execute("PRAGMA journal_mode = \(journalMode)")
        return OpenedFile(schema: schema, metadata: metadata, pool: pool(counter), counter: counter)
    }

    private var journalMode: String {
        let mode = pragmas.first { $0.key.lowercased() == "journal_mode" }?.value ?? "WAL"
        return mode.allSatisfy(\.isLetter) ? mode : "WAL"
    }

    /// Makes the tables. Another process that does the same at this moment wins or waits.
    private func create(_ connection: Connection, _ model: NSManagedObjectModel, _ configurationName: String?) throws {
        try connection.execute("PRAGMA page_size = \(pageSize)")
        try connection.execute("PRAGMA auto_vacuum = 2")
        try connection.execute("PRAGMA journal_mode = \(journalMode)")
        try connection.transaction(.immediate) {
            guard try connection.rows("SELECT name FROM sqlite_master LIMIT 1").isEmpty else { return }
            for statement in SQLSchema(model: model, configuration: configurationName).creationStatements {
                try connection.execute(statement)
            }
            try StoreMetadata(model: model, configuration: configurationName).write(to: connection)
            try ModelCache.write(model, to: connection)
        }
    }

    private var pageSize: Int { pragmas.first { $0.key.lowercased() == "page_size" }.flatMap { Int($0.value) } ?? 4096 }

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
        let ignoresVersions = options?[NSIgnorePersistentStoreVersioningOption] as? Bool ?? false
        guard ignoresVersions || model.isConfiguration(withName: configurationName, compatibleWithStoreMetadata: metadata.dictionary) else {
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
        // The options are plain values by contract; they are read here and never changed.
        nonisolated(unsafe) let file = self
        return ConnectionPool { try file.connect($0, counter) }
    }

    private func connect(_ mode: Connection.Mode, _ counter: StatementCounter) throws -> Connection {
        let connection = try Connection(path: url.path, mode: mode)
        SQLLog.observe(connection, counter: counter)
        connection.setBusyTimeout(seconds: timeout)
        try PredicateFunctions.register(on: connection)
        try connection.execute("PRAGMA recursive_triggers = 1")
        try connection.execute("PRAGMA synchronous = NORMAL")
        for (name, value) in pragmas where name.lowercased() != "journal_mode" && name.lowercased() != "page_size" {
            guard (name + value).allSatisfy({ $0.isLetter || $0.isNumber || "_-.".contains($0) }) else {
                throw CocoaError.coreData(.persistentStoreOpen, "\(NSSQLitePragmasOption) has a pragma that is none: \(name) = \(value).")
            }
            try connection.execute("PRAGMA \(name) = \(value)")
        }
        return connection
    }
}
