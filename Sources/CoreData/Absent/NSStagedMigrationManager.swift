import Foundation

@available(
    *,
    unavailable,
    message: "There is no migration yet: open a store with the model that it was written with, or migrate it on a Mac."
)
open class NSMigrationStage: NSObject {
    open var label: String! {
        get { absent() }
        set { absent() }
    }
}

@available(
    *,
    unavailable,
    message: "There is no migration yet: open a store with the model that it was written with, or migrate it on a Mac."
)
open class NSLightweightMigrationStage: NSMigrationStage {
    public convenience init(_ checksums: [String]) { absent() }
    open var versionChecksums: [String] { absent() }
}

@available(
    *,
    unavailable,
    message: "There is no migration yet: open a store with the model that it was written with, or migrate it on a Mac."
)
open class NSCustomMigrationStage: NSMigrationStage {
    public convenience init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference) {
        absent()
    }
    open var currentModel: NSManagedObjectModelReference { absent() }
    open var nextModel: NSManagedObjectModelReference { absent() }
    open var willMigrateHandler: ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)?
    {
        get { absent() }
        set { absent() }
    }
    open var didMigrateHandler: ((_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage) throws -> Void)? {
        get { absent() }
        set { absent() }
    }
}

@available(
    *,
    unavailable,
    message: "There is no migration yet: open a store with the model that it was written with, or migrate it on a Mac."
)
open class NSStagedMigrationManager: NSObject {
    public convenience init(_ stages: [NSMigrationStage]) { absent() }
    open var stages: [NSMigrationStage] { absent() }
    open var container: NSPersistentContainer? { absent() }
}
