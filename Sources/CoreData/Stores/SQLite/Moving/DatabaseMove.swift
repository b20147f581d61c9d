import Foundation
import SQLiteDriver

/// A store whose objects are in a database of this process, in whichever form they are kept.
protocol DatabaseBacked: NSPersistentStore {
    /// The store of the database; nil once this one is closed.
    var backing: (any RowStore)? { get }
}

extension SQLiteStore: DatabaseBacked {
    var backing: (any RowStore)? { self }
}

/// The way of a whole store to another place: its database in one transaction, and before that the data in files of their own.
struct DatabaseMove {
    let source: SQLiteStore
    let destination: StorePlace
    let options: [AnyHashable: Any]?
    /// The metadata of the store, of which some may not be written yet.
    let metadata: [String: Any]

    /// What of them the program has put there.
    private var notes: [String: Any] { metadata.filter { !StoreMetadata.ownKeys.contains($0.key) && $0.key != NSStoreUUIDKey } }

    /// Copies everything and opens the copy. `commit` is called with it while nobody can save into the source; who waits to, fails afterwards.
    ///
    /// - Throws: a `CocoaError`: 516 where there is a database at the destination, and others by their cause. Nothing has changed then.
    func run(commit: (SQLiteStore) throws -> Void) throws {
        let target = try MoveTarget(destination, options)
        do {
            try copyFiles()
            try reporting("copy the store") {
                try source.withSavesHeld {
                    try copy(to: target)
                    target.close()
                    let fresh = try SQLiteStore.open(
                        destination,
                        model: source.model,
                        configurationName: source.explicitConfiguration,
                        options: options
                    )
                    if source.changedMetadata != nil { fresh.metadata = metadata }
                    try commit(fresh)
                }
            }
        } catch {
            target.discard()
            throw error
        }
    }

    /// Calls `body` with a copy in memory of the whole store, while nobody can save into it.
    ///
    /// - Throws: a `CocoaError` 134060 for a store whose objects are in no database, or what `body` throws.
    static func throughMemory(_ store: any RowStore, to type: String, _ body: (any RowStore) throws -> Void) throws {
        guard let source = (store as? any DatabaseBacked)?.backing as? SQLiteStore else {
            throw DatabaseKind.cannotMove(store.type, to: type)
        }
        let memory = try StorePlace.memory(.fresh())
        // It is read alone: a history in it needs nobody to go on with it.
        let options = [NSReadOnlyPersistentStoreOption: true]
        try DatabaseMove(source: source, destination: memory, options: options, metadata: store.metadata ?? [:]).run { rows in
            defer { rows.close() }
            try body(rows)
        }
    }

    private func reporting(_ doing: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as SQLiteError { throw CocoaError(error, url: destination.url, doing: doing) }
    }

    private func copy(to target: MoveTarget) throws {
        if let database = destination.database {
            try copy(to: database, target.connection)
            try adapt(target.connection)
        } else if source.type == destination.type {
            try source.withConnection { try $0.copyDatabase(to: target.connection) }
        } else {
            // What a file is to have is made first: the file has all of it or nothing.
            let stage = try MemoryDatabase.fresh()
            let connection = try stage.connect(.readWrite)
            defer { connection.close() }
            try copy(to: stage, connection)
            try adapt(connection)
            try connection.copyDatabase(to: target.connection)
        }
    }

    /// NB: a database in memory has no log, and one that says it has cannot be opened there.
    private func copy(to database: MemoryDatabase, _ connection: Connection) throws {
        guard source.isInFile, let path = source.url?.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) else {
            return try source.withConnection { try $0.copyDatabase(to: connection) }
        }
        let reader = try Connection(path: "file:\(path)", mode: source.isReadOnly ? .readOnly : .readWrite, isURI: true)
        defer { reader.close() }
        reader.setBusyTimeout(seconds: DatabaseOptions.timeout(source.options))
        try reader.vacuum(into: database.url.absoluteString)
    }

    /// Makes a copy that is in memory one of the destination's type.
    private func adapt(_ connection: Connection) throws {
        try connection.transaction(.immediate) {
            guard var metadata = try StoreMetadata.read(from: connection) else { return }
            // A document's are not in the database of its rows.
            metadata.values = notes.merging(metadata.values.filter { StoreMetadata.ownKeys.contains($0.key) }) { $1 }
            metadata.stamp(model: source.model, configuration: source.explicitConfiguration, type: destination.type)
            try metadata.write(to: connection)
            guard source.isInFile else { return }
            for (entity, column) in source.schema.markedColumns {
                try connection.embed(entity.table, column, of: [entity.number], from: source.supportFolder)
            }
        }
    }

    /// NB: before the database: files that nothing leads to do no harm. Each has a name of its own for ever.
    private func copyFiles() throws {
        guard source.isInFile, let folder = source.supportFolder, let target = destination.supportFolder else { return }
        try ExternalFiles(folder).copy(to: target)
    }
}

/// The database that a store is moved into: empty before, and again where the move fails.
private struct MoveTarget {
    let connection: Connection
    private let place: StorePlace
    private let isNew: Bool

    init(_ place: StorePlace, _ options: [AnyHashable: Any]?) throws {
        try place.refuseFragment()
        self.place = place
        isNew = place.database == nil && !FileManager.default.fileExists(atPath: place.url.path)
        do {
            connection = try place.connect(.readWriteCreate, timeout: DatabaseOptions.timeout(options))
            guard try connection.rows("SELECT name FROM sqlite_master LIMIT 1").isEmpty else {
                connection.close()
                throw CocoaError.coreData(
                    .fileWriteFileExists,
                    "There is a database at \(place.url.path) already: destroyPersistentStore(at:ofType:) empties it, if it may go.",
                    userInfo: [NSFilePathErrorKey: place.url.path]
                )
            }
        } catch let error as SQLiteError {
            throw CocoaError(error, url: place.url, doing: "make a store", default: .persistentStoreOpen)
        }
    }

    func close() { connection.close() }

    /// What cannot be taken away stays behind; the error that led here says why.
    func discard() {
        connection.close()
        guard isNew else {
            let connection = try? place.connect(.readWrite, timeout: 0)
            try? connection?.empty()
            return
        }
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(place.url.path + suffix) }
    }
}

extension SQLiteStore {
    /// Runs `body` while nobody in the process saves. Once it has returned, this store takes no more saves: who waits to make one fails, with all
    /// changes pending.
    fileprivate func withSavesHeld(_ body: () throws -> Void) throws {
        guard !isReadOnly else { return try body() }
        try lock.write {
            try body()
            pool.retire()
        }
    }

    /// Copies what was saved into a database in memory, from another one.
    func copyDatabase(to memory: MemoryDatabase) throws {
        let connection = try memory.connect(.readWrite)
        defer { connection.close() }
        try withConnection { try $0.copyDatabase(to: connection) }
    }

    /// A connection of its own to the whole of what was saved.
    fileprivate func withConnection(_ body: (Connection) throws -> Void) throws {
        let connection = try pool.freshConnection()
        defer { connection.close() }
        try body(connection)
    }

    fileprivate var isInFile: Bool { if case .file = lock.identity { true } else { false } }
}
