import Foundation
import SQLiteDriver
import Synchronization

/// A store in an SQLite database with Core Data's schema: in a file, or in memory.
// Sendable: the pool and the cache do their own locking; metadata stands behind a lock; the rest is set before the store is shared.
final class SQLiteStore: NSPersistentStore, @unchecked Sendable {
    let model: NSManagedObjectModel
    let schema: SQLSchema
    let pool: ConnectionPool
    let cache: RowCache
    let plans: PlanCache
    let counter: StatementCounter
    let orderMarks = OrderMarks()
    let changesByOthers = ChangesByOthers()
    let publicationOrder = PublicationOrder()
    let keyPool = KeyPool()
    let snapshots = HeldSnapshots()
    /// By relationship of the store's model, which keeps it.
    let relationshipPlans = Lock<[ObjectIdentifier: RelationshipPlan]>([:])
    let entityStatements = Lock<[Int: EntityStatements]>([:])
    let openedVersionHashes: [String: Data]
    /// The version of the tables that was found to be of a known model.
    let tablesVersion = Atomic<Int64>(-1)
    /// Where its history is; nil for a store without one.
    let history: HistoryTables?
    /// The identifier of the empty store that is about to take this one's place.
    let successor = Lock<String?>(nil)
    /// Files beside the store with data of objects that are gone.
    let remains = Lock<[URL]>([])
    let watch = Lock<StoreWatch?>(nil)
    private let kind: String
    let state: Lock<MetadataState>

    struct MetadataState {
        var metadata: StoreMetadata
        /// How often they were set, and how often they had been when they were written last.
        var edits = 0
        var writtenEdits = 0
    }

    init(
        _ opened: OpenedDatabase,
        model: NSManagedObjectModel,
        configurationName: String?,
        url: URL,
        options: [AnyHashable: Any]?,
        plans: PlanCache? = nil
    ) {
        self.model = model
        schema = opened.schema
        pool = opened.pool
        counter = opened.counter
        kind = opened.type
        history = opened.history
        self.plans = plans ?? PlanCache(schema: opened.schema)
        cache = RowCache(entityCount: model.entitiesInIndexOrder.count)
        state = Lock(MetadataState(metadata: opened.metadata))
        openedVersionHashes = opened.metadata.versionHashes
        super.init(persistentStoreCoordinator: nil, configurationName: configurationName, at: url, options: options)
        identifier = opened.metadata.uuid
        if opened.isReadOnly { isReadOnly = true }
    }

    required convenience init(_ construction: StoreConstruction) {
        misuse("Stores in SQLite databases are opened by their coordinator: addPersistentStore(ofType:configurationName:at:options:).")
    }

    // Batches that the cache keeps for a while are listed in it, and keep it in turn.
    deinit {
        stopWatching()
        snapshots.end()
        cache.forgetAll()
    }

    override var type: String { kind }

    override var metadata: [String: Any]! {
        get { state.withLock { $0.metadata.dictionary } }
        set {
            state.withLock {
                let uuid = $0.metadata.uuid
                $0.metadata.replaceNotes(by: newValue ?? [:])
                $0.metadata.uuid = uuid
                $0.metadata.stamp(model: model, configuration: explicitConfiguration, type: kind)
                $0.edits += 1
            }
        }
    }

    /// The database has become that of another store.
    func become(_ metadata: StoreMetadata) {
        snapshots.end()
        state.withLock { $0 = MetadataState(metadata: metadata) }
        identifier = metadata.uuid
        cache.forgetAll()
        orderMarks.forget()
        changesByOthers.forget()
    }

    var explicitConfiguration: String? { explicitConfigurationName }

    /// The identifier that the database has.
    var uuid: String { state.withLock { $0.metadata.uuid } }

    /// The metadata to write, if they were changed since the last save, and which edit of them it is.
    var changedMetadata: (metadata: StoreMetadata, edit: Int)? {
        state.withLock { $0.edits != $0.writtenEdits ? ($0.metadata, $0.edits) : nil }
    }

    /// What was set since that edit is still to be written.
    func didWriteMetadata(edit: Int) { state.withLock { $0.writtenEdits = edit } }

    /// The turn at the database. Two stores with one lock are on one database.
    var lock: StoreLock { pool.lock }

    /// Sees whether what is read is what others find: the file that is open is the one at its place.
    func requireFile() throws { if let url { try lock.identity.requireFile(at: url) } }

    /// Sees whether what is written is found by others, in its transaction: in the file at its place, or in the log beside it.
    func requireFile(of connection: Connection) throws {
        try requireFile()
        if !pool.locksReaders, !connection.isLogInPlace { throw SQLiteError.ofMovedFile }
    }

    func holds(_ entity: NSEntityDescription) -> Bool { schema.entityIfStored(entity) != nil }

    func watchCommits(_ tell: @escaping @Sendable (Int64?) -> Void) throws {
        let made = try reporting("watch the store") { try StoreWatch(self, tell) }
        watch.withLock { $0 = made }
    }

    /// Before the connections close: the last one takes the log into the file.
    private func stopWatching() {
        watch.withLock { watch in
            defer { watch = nil }
            return watch
        }?.stop()
    }

    func close() {
        stopWatching()
        snapshots.end()
        pool.close()
        cache.forgetAll()
    }

    /// Runs `body`, turning an error of SQLite into one of Core Data.
    func reporting<Result>(_ doing: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as SQLiteError { throw CocoaError(error, url: url, doing: doing) }
    }
}
