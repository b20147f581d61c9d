import Foundation
import SQLiteDriver

/// The migration of a store's file for tools: first what it would do, then that.
///
/// > Concurrency: one thread at a time.
package struct StoreFileMigration {
    /// One difference between the versions, and what it costs.
    package struct Row: Codable, Sendable {
        package let place: String
        package let change: String
        /// How many objects of the entity there are.
        package let rows: Int64
        /// What becomes of the table that they are in.
        package let manner: String

        /// Whether there are objects, and all of them go: their entity has no successor.
        package var isLoss: Bool { manner == Self.removed && rows > 0 }
        fileprivate static let removed = "removed"
    }

    package let rows: [Row]
    /// Whether no object of the store has a successor, and there are objects: the model is likely that of another program.
    package let losesAll: Bool
    let place: StorePlace
    private let source: SourceModelSearch.Found
    private let model: NSManagedObjectModel

    /// Looks at the store; nothing is written. Nil for one that opens with the model as it is.
    ///
    /// - Parameter source: the model of the store; nil to find it, most likely in the store itself.
    /// - Throws: a `CocoaError`: 134130 where the store's model is not found, or that one is not the store's; 134190 where no mapping can be inferred.
    package init?(of url: URL, to model: NSManagedObjectModel, from source: NSManagedObjectModel? = nil) throws {
        let inspector = try StoreInspector(url: url)
        defer { inspector.connection.close() }
        if inspector.isCompatible(with: model) { return nil }
        place = .file(url)
        self.model = model
        self.source = try Self.sourceModel(inspector, url, source)
        model.freeze()
        let (place, found) = (place, self.source)
        (rows, losesAll) = try inStore(url) {
            let migration = try StoreMigration(inspector.connection, place, from: found, to: model, configuration: found.configuration)
            let rows = try migration.transition.rows(inspector)
            return (rows, try rows.contains(where: \.isLoss) && !migration.transition.keepsObjects(inspector))
        }
    }

    /// The model of a store: the given one, if it is that.
    static func sourceModel(_ inspector: StoreInspector, _ url: URL, _ source: NSManagedObjectModel?) throws -> SourceModelSearch.Found {
        try inStore(url) {
            guard let metadata = try StoreMetadata.read(from: inspector.connection) else { throw isNoStore(url) }
            let search = SourceModelSearch(metadata: metadata, configuration: nil, url: url)
            guard let source else { return try search.find(in: inspector.connection) }
            guard let found = search.fitting(source) else { throw isNotOfStore(url) }
            return found
        }
    }

    /// Migrates the store. `progress` is called after each step with how many are done, and how many there are.
    ///
    /// - Throws: a `CocoaError`: 134110 with its reason underneath; the store is what it was.
    package func run(progress: @escaping (Int, Int) -> Void = { _, _ in }) throws {
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let database = try StoreDatabase(place: place, options: DatabaseOptions(options, isInMemory: false))
        try place.refuseFragment()
        let connection = try place.connect(.readWrite, timeout: database.options.timeout)
        defer { connection.close() }
        try place.lock().write {
            try inStore(place.url) {
                try database.migrateIfAsked(connection, model, source.configuration, from: source, progress: progress)
            }
        }
    }

    private static func isNoStore(_ url: URL) -> CocoaError {
        .coreData(.persistentStoreIncompatibleSchema, "\(url.path) is not a Core Data store.", userInfo: [NSFilePathErrorKey: url.path])
    }

    private static func isNotOfStore(_ url: URL) -> CocoaError {
        .coreData(
            .migrationMissingSourceModel,
            "The store at \(url.path) was written with another model than that one.",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }
}

extension SchemaTransition {
    fileprivate func rows(_ inspector: StoreInspector) throws -> [StoreFileMigration.Row] {
        try models.pairing.difference.steps.map { step in
            let name = String(step.place.split(separator: ".")[0])
            let entity = models.destination.entitiesByName[name]
            let before = entity.flatMap(models.origin) ?? (entity == nil ? models.source.entitiesByName[name] : nil)
            return StoreFileMigration.Row(
                place: step.place,
                change: step.text,
                rows: try before.map { try count($0, inspector) } ?? 0,
                manner: entity.flatMap(manner) ?? StoreFileMigration.Row.removed
            )
        }
    }

    fileprivate func keepsObjects(_ inspector: StoreInspector) throws -> Bool {
        try models.destination.entities.contains { try models.origin(of: $0).map { try count($0, inspector) > 0 } ?? false }
    }

    /// How many objects of an entity there are, without those of subentities.
    private func count(_ entity: NSEntityDescription, _ inspector: StoreInspector) throws -> Int64 {
        guard let stored = old.entityIfStored(entity) else { return 0 }
        return try inspector.number("SELECT count(*) FROM \(stored.table) WHERE Z_ENT = ?1", [.integer(Int64(stored.number))])
    }

    private func manner(_ entity: NSEntityDescription) -> String? {
        switch tables.first(where: { $0.table.entities[0] === entity.rootEntity })?.manner {
        case .new?: "new table"
        case .inPlace?: "in place"
        case .rebuilt?: "rebuilt"
        case .split?: "copied"
        case nil: nil
        }
    }
}

extension StorePlace {
    /// Writes a copy of the store as it is to a file that is not there yet; what it has in files of their own is not in it.
    func copyDatabase(to copy: URL) throws {
        let connection = try connectForReading(timeout: SQLiteStore.defaultTimeout)
        defer { connection.close() }
        do {
            // NB: a copy of the files would miss what others are writing.
            try connection.execute("PRAGMA query_only = 0")
            try connection.run("VACUUM INTO ?1", [.text(copy.path)])
        } catch let error as SQLiteError {
            throw CocoaError(error, url: url, doing: "copy the store")
        }
    }

    /// Copies the data that the store has in files of their own to where a copy of it will look for them.
    func copyExternalFiles(besides copy: URL) throws {
        if let supportFolder, let target = StorePlace.file(copy).supportFolder { try ExternalFiles(supportFolder).copy(to: target) }
    }
}
