/// One step of a migration in stages: `NSLightweightMigrationStage` or `NSCustomMigrationStage`.
///
/// > Concurrency: built by one thread, and not changed once a store is being opened with it.
open class NSMigrationStage: NSObject {
    /// A name for people, which errors say.
    open var label: String!
}

/// Versions of a model from each of which to the next a mapping can be inferred.
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The version checksums, the oldest first.
    public let versionChecksums: [String]

    /// A stage over versions, in their order, by the `versionChecksum` of each.
    public init(_ checksums: [String]) {
        versionChecksums = checksums
        super.init()
    }
}

/// The step from one version of a model to the next, with the program's own code before and after it.
///
/// The handlers have the store open in the manager's `container`: with the current model before the step, with the next one after it. What is
/// between them is a lightweight migration in one transaction: what the next version cannot hold any more is read or rewritten before, what
/// it asks for is made after.
///
/// ```swift
/// let stage = NSCustomMigrationStage(migratingFrom: second, to: third)
/// stage.didMigrateHandler = { manager, _ in
///     guard let context = manager.container?.newBackgroundContext() else { return }
///     try context.performAndWait {
///         for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
///             person.setValue("none", forKey: "email")
///         }
///         try context.save()
///     }
/// }
/// ```
///
/// A handler runs again where the process ended before the handler had returned, or where it threw: it must find its own work done.
open class NSCustomMigrationStage: NSMigrationStage {
    /// The version that the stage begins with.
    public let currentModel: NSManagedObjectModelReference
    /// The version that it ends with.
    public let nextModel: NSManagedObjectModelReference

    /// A stage between two versions.
    public init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference) {
        (self.currentModel, self.nextModel) = (currentModel, nextModel)
        super.init()
    }

    /// Runs while the store is of the current version.
    open var willMigrateHandler: ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?
    /// Runs once the store is of the next version.
    open var didMigrateHandler: ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?
}
