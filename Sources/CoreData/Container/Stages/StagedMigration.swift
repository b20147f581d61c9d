import Foundation
import Logging

/// The migration of one store, stage by stage, up to the point from which opening it goes on by itself.
struct StagedMigration {
    private let manager: NSStagedMigrationManager
    private let chain: StageChain
    private let opening: StoreOpening
    private let url: URL
    private let kind: any StoreKind
    private let models: StageModels

    /// Nil where there is no store yet.
    ///
    /// - Throws: where nobody can say, as others have locked it.
    init?(_ manager: NSStagedMigrationManager, _ opening: StoreOpening) throws {
        guard let url = opening.url else { return nil }
        (self.manager, self.opening, self.url) = (manager, opening, url)
        chain = StageChain(manager.stages)
        kind = try StoreTypes.kind(of: opening.type)
        models = StageModels(chain, destination: opening.model, configuration: opening.configurationName)
        guard try isStore() else { return nil }
    }

    /// What is no store is for the opening to say. One that cannot be read now may be of any version: opened, it would go past the stages.
    private func isStore() throws -> Bool {
        do {
            _ = try metadata()
            return true
        } catch let error as CocoaError where error.code == .persistentStoreTimeout {
            throw error
        } catch {
            return false
        }
    }

    /// - Throws: `CocoaError` 134110 that names the stage, or 134506; what reading the store throws.
    func run() throws {
        guard try isNeeded() else { return StageTurn.removeAbandoned(url) }
        try StageTurn.holding(url, runInTurn)
    }

    private func runInTurn() throws {
        guard try isNeeded() else { return }
        var place = try start()
        try finishUnfinished(place)
        let end = try self.end(place)
        while place < end { place = try advance(from: place, end: end) }
        // What comes after all stages; the opening may not know the model that the last one has led to.
        if try !models.isDestination(metadata()) { try migrate(to: opening.model) }
        // A stage that has not ended may be one that only another manager knows.
        try note { $0[DatabaseOptions.stagedVersionKey] = nil }
    }

    private func metadata() throws -> [String: Any] { try kind.metadata(at: url, options: opening.options) }

    /// Whether the store is of another version than the coordinator's, or a stage has not ended, or one after it not begun.
    private func isNeeded() throws -> Bool {
        let metadata = try metadata()
        let isUnderWay = [DatabaseOptions.stageKey, DatabaseOptions.stagedVersionKey].contains { metadata[$0] != nil }
        return isUnderWay || !models.isDestination(metadata)
    }

    /// The place of the store's version.
    private func start() throws -> Int {
        let metadata = try metadata()
        if let place = models.place(of: metadata) { return place }
        if models.isDestination(metadata) { return chain.place(of: opening.model.versionChecksum) ?? chain.versions.count }
        if let place = try carriedPlace() { return place }
        let checksum = StageModels.checksum(of: metadata)
        throw CocoaError.coreData(
            .migration,
            "The store at \(url.path) was not migrated: it has the version checksum \(checksum), with which none of the \(manager.stages.count) stages begins.",
            userInfo: [NSFilePathErrorKey: url.path, NSPersistentStoreModelVersionChecksumKey: checksum]
        )
    }

    /// The place of the model that the store has a copy of: of one configuration it may be all that says which version it is of.
    private func carriedPlace() throws -> Int? {
        guard opening.configurationName != nil else { return nil }
        return try StoreTypes.kind(of: opening.type).model(ofStoreAt: url).flatMap { chain.place(of: $0.versionChecksum) }
    }

    /// The place of the coordinator's version; the last one, where the opening goes on from there.
    private func end(_ place: Int) throws -> Int {
        guard let end = chain.place(of: opening.model.versionChecksum) else { return chain.versions.count - 1 }
        guard end < place else { return end }
        throw CocoaError.coreData(
            CocoaError.Code(rawValue: NSStagedMigrationBackwardMigrationError),
            """
            The store at \(url.path) was not migrated: the stages lead from the coordinator's model, \(chain.versions[end]), to that of the store, \
            \(chain.versions[place]), and not back.
            """,
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }

    /// One step; the place where the store is afterwards.
    private func advance(from place: Int, end: Int) throws -> Int {
        try naming(place) {
            if let stage = chain.customs[place] {
                try run(stage)
                return place + 1
            }
            let last = chain.endOfLightweight(from: place, end: end)
            // A last version that nobody has a model of is not needed: the opening goes to the coordinator's.
            guard let model = try models.model(at: last, isRequired: chain.customs[last] != nil) else { return last }
            do {
                try migrate(to: model)
            } catch let error as CocoaError where error.code == .migrationMissingMappingModel && last > place + 1 {
                try migrateOverModels(between: place, last)
            }
            return last
        }
    }

    private func migrateOverModels(between place: Int, _ last: Int) throws {
        for next in (place + 1)...last {
            if let model = try models.model(at: next, isRequired: false) { try migrate(to: model) }
        }
    }

    private func run(_ stage: NSCustomMigrationStage) throws {
        let (current, next) = (try stage.currentModel.resolve(), try stage.nextModel.resolve())
        if let handler = stage.willMigrateHandler { try call(handler, stage, current) }
        try migrate(to: next, mark: stage.didMigrateHandler == nil ? nil : next.versionChecksum)
        try finish(stage, next)
    }

    private func finish(_ stage: NSCustomMigrationStage, _ model: NSManagedObjectModel) throws {
        if let handler = stage.didMigrateHandler { try call(handler, stage, model) }
        try note {
            $0[DatabaseOptions.stageKey] = nil
            // The entities of a configuration may not say with which version.
            $0[DatabaseOptions.stagedVersionKey] = opening.configurationName == nil ? nil : model.versionChecksum
        }
    }

    /// Changes what the store says of its way through the stages.
    private func note(_ change: (inout [String: Any]) -> Void) throws {
        let before = try metadata()
        var after = before
        change(&after)
        let keys = [DatabaseOptions.stageKey, DatabaseOptions.stagedVersionKey]
        guard keys.contains(where: { before[$0] as? String != after[$0] as? String }) else { return }
        try kind.setMetadata(after, at: url, options: opening.options)
    }

    /// A handler that was to run after its stage, when the process ended.
    private func finishUnfinished(_ place: Int) throws {
        guard let mark = try metadata()[DatabaseOptions.stageKey] as? String, place > 0, let stage = chain.customs[place - 1],
            stage.nextModel.versionChecksum == mark
        else { return }
        try naming(place - 1) { try finish(stage, stage.nextModel.resolve()) }
    }

    private func call(
        _ handler: (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void,
        _ stage: NSCustomMigrationStage,
        _ model: NSManagedObjectModel
    ) throws {
        let container = NSPersistentContainer(name: url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        let coordinator = container.persistentStoreCoordinator
        try add(to: coordinator, options: [NSMigratePersistentStoresAutomaticallyOption: false])
        defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
        try manager.withContainer(container) { try handler(manager, stage) }
    }

    /// Opens the store with a model, which migrates it, and closes it.
    private func migrate(to model: NSManagedObjectModel, mark: String? = nil) throws {
        model.freeze()
        let coordinator = NSPersistentStoreCoordinator(unclaimed: model)
        let notes: [AnyHashable: Any?] = [DatabaseOptions.stageKey: mark, DatabaseOptions.stagedModelKey: try present()]
        try add(to: coordinator, options: notes.compactMapValues { $0 })
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// The model that the store is of, where anything that the stages name, or the program carries, is it.
    private func present() throws -> NSManagedObjectModel? {
        try models.place(of: metadata()).flatMap { try models.model(at: $0, isRequired: false) }
    }

    private func add(to coordinator: NSPersistentStoreCoordinator, options: [AnyHashable: Any]) throws {
        var options = (opening.options ?? [:]).merging(options) { $1 }
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        try coordinator.addPersistentStore(
            ofType: opening.type,
            configurationName: opening.configurationName,
            at: url,
            options: options
        )
    }

    private func naming<Result>(_ place: Int, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            let name = chain.name(ofStageAt: place)
            throw CocoaError.coreData(
                .migration,
                "The store at \(url.path) was not migrated to the end; \(state()). Its \(name) failed: \(error.localizedDescription)",
                userInfo: [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error, "stage": name, "reason": error.localizedDescription]
            )
        }
    }

    /// What there is of the store now. A handler may have destroyed it.
    private func state() -> String {
        do {
            _ = try metadata()
            return "it is a valid one of the version that it has come to, from which the next attempt goes on"
        } catch let error as CocoaError where [.fileReadNoSuchFile, .persistentStoreIncompatibleSchema].contains(error.code) {
            return "there is none any more"
        } catch {
            return "it is of the version that it has come to, and cannot be read now (\(error.localizedDescription))"
        }
    }
}
