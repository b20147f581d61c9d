import Foundation

@available(
    *,
    unavailable,
    message: "There is no migration yet: open a store with the model that it was written with, or migrate it on a Mac."
)
open class NSEntityMigrationPolicy: NSObject {
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { absent() }
    open func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    { absent() }
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { absent() }
    open func createRelationships(forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    { absent() }
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { absent() }
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { absent() }
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { absent() }
}

@available(
    *,
    unavailable,
    message: "There is no migration yet: open a store with the model that it was written with, or migrate it on a Mac."
)
open class NSMigrationManager: NSObject {
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) { absent() }
    open func migrateStore(
        from sourceURL: URL,
        sourceType sStoreType: String,
        options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?,
        toDestinationURL dURL: URL,
        destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws { absent() }
    open func migrateStore(
        from sourceURL: URL,
        type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel,
        to destinationURL: URL,
        type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws { absent() }
    open func reset() { absent() }
    open var mappingModel: NSMappingModel { absent() }
    open var sourceModel: NSManagedObjectModel { absent() }
    open var destinationModel: NSManagedObjectModel { absent() }
    open var sourceContext: NSManagedObjectContext { absent() }
    open var destinationContext: NSManagedObjectContext { absent() }
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? { absent() }
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? { absent() }
    open func associate(
        sourceInstance: NSManagedObject,
        withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) { absent() }
    open func destinationInstances(forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?) -> [NSManagedObject] {
        absent()
    }
    open func sourceInstances(forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?) -> [NSManagedObject] {
        absent()
    }
    open var currentEntityMapping: NSEntityMapping { absent() }
    open var migrationProgress: Float { absent() }
    open var userInfo: [AnyHashable: Any]? {
        get { absent() }
        set { absent() }
    }
    open func cancelMigrationWithError(_ error: any Error) { absent() }
}
