import Foundation

/// A migration into a new store at a place of its own.
struct MigrationToPlace {
    let manager: NSMigrationManager
    let mapping: NSMappingModel
    let source: StoreSite
    let destination: StoreSite

    func run() throws {
        if manager.run != nil { misuse("A migration of this manager is under way: use another manager for another one.") }
        manager.reset()
        try requireRoom()
        guard destination.isMovable else { return try migrateThere() }
        WorkFile.removeAbandoned(at: destination.url)
        let work = WorkFile(forNewStoreAt: destination.url)
        defer { work.remove() }
        var site = destination
        site.url = work.url
        site.options = work.options(destination)
        try migrate(to: site)
        try work.move(to: destination.url)
    }

    /// A class of the program's makes its store where it is to be. What it has made of one that is not finished would be in the way of the next attempt.
    private func migrateThere() throws {
        let isFree = isInFile && access(destination.url.path, F_OK) != 0
        do { try migrate(to: destination) } catch {
            if isFree { try? FileManager.default.removeItem(at: destination.url) }
            throw error
        }
    }

    private func migrate(to site: StoreSite) throws {
        do {
            if try !migrateBySQL(to: site) {
                try MigrationByObjects(manager: manager, mapping: mapping, source: source, destination: site, place: destination.url).run()
            }
        } catch let cancellation as MigrationCancellation {
            throw cancellation.error
        }
    }

    private var isInFile: Bool {
        let url = destination.url
        return url.isFileURL && MemoryDatabase.name(in: url) == nil && url.path != "/dev/null"
    }

    /// - Throws: `CocoaError` 134160 where there is something at the place.
    private func requireRoom() throws {
        guard isInFile else { return }
        let url = destination.url
        if source.url.resolvingSymlinksInPath() == url.resolvingSymlinksInPath() {
            throw CocoaError.destination(url, "source and destination are one place. Choose another, and replace the store afterwards.")
        }
        var status = stat()
        guard stat(url.path, &status) == 0, status.st_size > 0 else { return }
        throw CocoaError.destination(url, "there is something already. Remove it before, or choose another place.")
    }

    /// Copies the database, and changes the copy in place, where the mapping model says nothing that does not follow from the models.
    private func migrateBySQL(to site: StoreSite) throws -> Bool {
        guard manager.usesStoreSpecificMigrationManager, source.isDatabase, site.isDatabase, site.configuration == nil,
            mapping.isInferred(from: manager.sourceModel, to: manager.destinationModel)
        else { return false }
        try manager.note(0)
        let migration: StoreFileMigration?
        do {
            migration = try StoreFileMigration(of: source.url, to: manager.destinationModel, from: manager.sourceModel)
        } catch {
            throw CocoaError.source(source.url, error)
        }
        do {
            try migration?.place.copyExternalFiles(besides: site.url)
            try migration?.place.copyDatabase(to: site.url)
        } catch {
            throw CocoaError.destination(destination.url, error.localizedDescription, error)
        }
        guard migration != nil, let copy = try StoreFileMigration(of: site.url, to: manager.destinationModel, from: manager.sourceModel)
        else {
            return false
        }
        try copy.run()
        try manager.note(1)
        return true
    }
}

/// A migration by objects, from store to store.
struct MigrationByObjects {
    let manager: NSMigrationManager
    let mapping: NSMappingModel
    let source: StoreSite
    /// A store that is not there yet.
    let destination: StoreSite
    /// Where that is to be in the end, as errors say.
    let place: URL

    /// - Throws: `CocoaError` 134150, 134160, 134110; `MigrationCancellation`.
    func run() throws {
        let sides = try (opened(source, manager.sourceModel), opened(destination, manager.destinationModel))
        defer { sides.0.close() }
        // A store in memory lasts as long as somebody has it.
        defer { if destination.isMovable { sides.1.close() } }
        let watch = try SourceWatch(sides.0.store)
        defer { watch?.close() }
        let rows = manager.usesStoreSpecificMigrationManager ? RowCopy.between(sides.0.store, sides.1.store) : nil
        if let observe = manager.onCopyStatement { rows?.observe(observe) }
        defer { rows?.close() }
        let run = try MigrationRun(manager, mapping, from: sides.0, to: sides.1, by: rows)
        manager.begin(run)
        defer { manager.run = nil }
        var metadata = sides.0.store.metadata ?? [:]
        if let mark = destination.options?[DatabaseOptions.stageKey] { metadata[DatabaseOptions.stageKey] = mark }
        metadata[StoreMetadata.formerVersionsKey] = StoreMetadata.formerVersions(
            metadata,
            leavingFor: manager.destinationModel,
            destination.configuration
        )
        if !destination.isDatabase { sides.1.store.metadata = Self.applicationMetadata(metadata) }
        try reporting {
            try run.run()
            try sides.1.store.goOnCounting(after: sides.0.store)
            try watch?.requireUnchanged()
        }
        rows?.close()
        sides.1.close()
        guard destination.isDatabase else { return }
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: destination.type, at: destination.url)
    }

    /// - Throws: `CocoaError` 134110 for whatever the migration comes upon; `MigrationCancellation`.
    private func reporting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as CocoaError where error.code == .migration {
            throw error
        } catch let cancellation as MigrationCancellation {
            throw cancellation
        } catch {
            throw CocoaError.migration("The store at \(source.url.path) was not migrated: \(error.localizedDescription)", error)
        }
    }

    private static func applicationMetadata(_ metadata: [String: Any]) -> [String: Any] {
        metadata.filter { !StoreMetadata.ownKeys.contains($0.key) && $0.key != NSStoreUUIDKey }
    }

    private func opened(_ site: StoreSite, _ model: NSManagedObjectModel) throws -> MigrationSide {
        let isSource = model === manager.sourceModel && site.url == source.url
        do {
            var site = site
            if isSource { site.options = site.readOnlyOptions }
            return try MigrationSide(site, model)
        } catch {
            throw isSource ? CocoaError.source(site.url, error) : CocoaError.destination(place, error.localizedDescription, error)
        }
    }
}

extension StoreSite {
    /// The options with which nothing is changed.
    fileprivate var readOnlyOptions: [AnyHashable: Any] {
        let reading: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: true, NSMigratePersistentStoresAutomaticallyOption: false,
        ]
        return (options ?? [:]).merging(reading) { $1 }
    }
}
