import Foundation
import Predicates

/// Migrates a store into a new one as a mapping model says.
///
/// What an entity mapping without a policy only copies goes as rows, from one SQLite store to another; all else object by object. The objects
/// of the source are read a few hundred at a time, and what becomes of them is saved as often: memory does not grow with the store but for 24 bytes an object, which say what became of it. The source is only read. The destination is built in a hidden file beside its
/// place, and takes that when everything is done: it is there as a whole or not at all.
///
/// > Concurrency: one thread, the one that calls `migrateStore`, uses the manager, its contexts and their objects, without `perform`; any thread may
/// read `migrationProgress` and cancel.
open class NSMigrationManager: NSObject, FunctionReceiver {
    public let sourceModel: NSManagedObjectModel
    public let destinationModel: NSManagedObjectModel
    /// Whether what takes no objects, between SQLite stores, is carried out by SQL: a mapping model that is just what would be inferred, or the entity
    /// mappings that only copy. True unless set.
    open var usesStoreSpecificMigrationManager = true
    /// For the application's use: what policies share.
    open var userInfo: [AnyHashable: Any]?
    /// Nil unless a migration is under way.
    final var run: MigrationRun?
    private final var latestMapping: NSMappingModel?
    private let state = Lock(State())

    private struct State {
        var progress: Float = 0
        var cancellation: (any Error)?
    }

    /// Both models can no longer be changed.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        sourceModel.freeze()
        destinationModel.freeze()
        (self.sourceModel, self.destinationModel) = (sourceModel, destinationModel)
        super.init()
    }

    /// Migrates the store at one place into a new store at another.
    ///
    /// Objects of source entities that no mapping names are left out. The destination has the metadata of the source, its identifier too where it is
    /// an SQLite store. Values in files of their own are taken along; the history of changes is not, as its objects have other keys.
    ///
    /// - Precondition: no migration of this manager is under way.
    /// - Throws: a `CocoaError`: 134140 without a mapping model; 134150 where the source cannot be read, or is of another model; 134160 where there
    ///   is something at the destination's place already, or nothing can be written there; 134110 for all else, with the mapping, entity and
    ///   property in the user info, and underneath what a policy threw, 134170 for what is wrong with a policy, or what validation says; 134110
    ///   also where others have written to the source meanwhile.
    ///   What `cancelMigrationWithError(_:)` was given is thrown as it is. There is no destination then.
    open func migrateStore(
        from sourceURL: URL,
        sourceType sStoreType: String,
        options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?,
        toDestinationURL dURL: URL,
        destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw CocoaError.coreData(
                .migrationMissingMappingModel,
                "The store at \(sourceURL.path) cannot be migrated without a mapping model."
            )
        }
        let source = StoreSite(url: sourceURL, type: sStoreType, options: sOptions)
        let destination = StoreSite(url: dURL, type: dStoreType, options: dOptions)
        try FailureLog.noting("The store at \(sourceURL.path) was not migrated to \(dURL.path)") {
            try MigrationToPlace(manager: self, mapping: mappings, source: source, destination: destination).run()
        }
    }

    /// As `migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)`.
    open func migrateStore(
        from sourceURL: URL,
        type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel,
        to destinationURL: URL,
        type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL,
            sourceType: sourceType.rawValue,
            options: sourceOptions,
            with: mapping,
            toDestinationURL: destinationURL,
            destinationType: destinationType.rawValue,
            destinationOptions: destinationOptions
        )
    }

    /// Forgets the latest migration: its associations, contexts and stores, and `userInfo` stays. Called by each migration before it begins.
    ///
    /// - Precondition: no migration is under way.
    open func reset() {
        if run != nil { misuse("A migration of this manager is under way: cancel it, and reset the manager afterwards.") }
        latestMapping = nil
        state.withLock { $0 = State() }
    }

    /// The mapping model of the migration that is under way, or was last.
    ///
    /// - Precondition: there was one.
    open var mappingModel: NSMappingModel { latestMapping ?? underWay.plan.model }

    /// The context with the source's objects, which is only read.
    ///
    /// - Precondition: a migration is under way.
    open var sourceContext: NSManagedObjectContext { underWay.source.context }

    /// The context in which policies insert what becomes of the source's objects. The manager saves it.
    ///
    /// - Precondition: a migration is under way.
    open var destinationContext: NSManagedObjectContext { underWay.destination.context }

    /// The entity of the source objects, of the model of `sourceContext`; nil for a mapping that adds an entity.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? { underWay.planned(mEntity)?.source }

    /// The entity of the destination objects, of the model of `destinationContext`; nil for a mapping that removes an entity.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? { underWay.planned(mEntity)?.destination }

    /// Notes what a source object became: `createRelationships` is called for the destination object, and others find it.
    ///
    /// - Precondition: the objects are of `sourceContext` and of `destinationContext`, the mapping is one of `mappingModel`.
    open func associate(
        sourceInstance: NSManagedObject,
        withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        underWay.associate(sourceInstance, destinationInstance, entityMapping)
    }

    /// What source objects became by a mapping; for nil all that was made by it, each object once. Empty for an unknown mapping.
    ///
    /// - Complexity: O(log n) for each source object.
    open func destinationInstances(forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?) -> [NSManagedObject] {
        underWay.destinationInstances(mappingName, sourceInstances)
    }

    /// What destination objects were, by a mapping; for nil all that became something by it, each object once. Empty for an unknown mapping.
    ///
    /// - Complexity: O(log n) for each destination object.
    open func sourceInstances(forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?) -> [NSManagedObject] {
        underWay.sourceInstances(mappingName, destinationInstances)
    }

    /// The mapping that is being carried out.
    ///
    /// - Precondition: a migration is under way.
    open var currentEntityMapping: NSEntityMapping { underWay.current.mapping }

    /// How much of the migration is done, from 0 to 1. May be read from any thread; there is nothing to observe it by.
    open var migrationProgress: Float { state.withLock { $0.progress } }

    /// Ends the migration as soon as the hook that runs, or the statement, returns; `migrateStore` throws this error. From any thread.
    open func cancelMigrationWithError(_ error: any Error) { state.withLock { $0.cancellation = error } }

    /// Called on the migrating thread each time that progress is made.
    package final var onProgress: ((Float) -> Void)?

    /// Called before each statement that copies rows; where it throws, the statement fails.
    final var onCopyStatement: ((String) throws -> Void)?

    /// The value of `FUNCTION($manager, "name:", …)` in an expression: the functions that mapping models of Xcode's use.
    open func value(forFunction name: String, arguments: [Any?]) throws -> Any? { try underWay.value(forFunction: name, arguments) }

    final var underWay: MigrationRun {
        guard let run else { misuse("No migration of this manager is under way: use this in the hooks of a policy.") }
        return run
    }

    final func begin(_ run: MigrationRun) { (self.run, latestMapping) = (run, run.plan.model) }

    /// - Throws: `MigrationCancellation`.
    final func note(_ progress: Float) throws {
        let cancellation = state.withLock { state in
            state.progress = max(state.progress, progress)
            return state.cancellation
        }
        if let cancellation { throw MigrationCancellation(error: cancellation) }
        onProgress?(progress)
    }

    /// - Throws: `MigrationCancellation`.
    final func checkCancellation() throws {
        if let error = state.withLock({ $0.cancellation }) { throw MigrationCancellation(error: error) }
    }
}
