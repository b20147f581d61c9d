import Foundation

@available(
    *,
    unavailable,
    message: "There is no migration yet: open a store with the model that it was written with, or migrate it on a Mac."
)
open class NSMappingModel: NSObject {
    public init?(from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?, destinationModel: NSManagedObjectModel?) {
        absent()
    }
    open class func inferredMappingModel(forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) throws
        -> NSMappingModel
    { absent() }
    public init?(contentsOf url: URL?) { absent() }
    open var entityMappings: [NSEntityMapping]! {
        get { absent() }
        set { absent() }
    }
    open var entityMappingsByName: [String: NSEntityMapping] { absent() }
}

@available(
    *,
    unavailable,
    message: "There is no migration yet: open a store with the model that it was written with, or migrate it on a Mac."
)
open class NSEntityMapping: NSObject {
    open var name: String! {
        get { absent() }
        set { absent() }
    }
    open var mappingType: NSEntityMappingType {
        get { absent() }
        set { absent() }
    }
    open var sourceEntityName: String? {
        get { absent() }
        set { absent() }
    }
    open var sourceEntityVersionHash: Data? {
        get { absent() }
        set { absent() }
    }
    open var destinationEntityName: String? {
        get { absent() }
        set { absent() }
    }
    open var destinationEntityVersionHash: Data? {
        get { absent() }
        set { absent() }
    }
    open var attributeMappings: [NSPropertyMapping]? {
        get { absent() }
        set { absent() }
    }
    open var relationshipMappings: [NSPropertyMapping]? {
        get { absent() }
        set { absent() }
    }
    open var sourceExpression: NSExpression? {
        get { absent() }
        set { absent() }
    }
    open var userInfo: [AnyHashable: Any]? {
        get { absent() }
        set { absent() }
    }
    open var entityMigrationPolicyClassName: String? {
        get { absent() }
        set { absent() }
    }
}

@available(
    *,
    unavailable,
    message: "There is no migration yet: open a store with the model that it was written with, or migrate it on a Mac."
)
public enum NSEntityMappingType: UInt {
    case undefinedEntityMappingType = 0
    case customEntityMappingType = 1
    case addEntityMappingType = 2
    case removeEntityMappingType = 3
    case copyEntityMappingType = 4
    case transformEntityMappingType = 5
}

@available(
    *,
    unavailable,
    message: "There is no migration yet: open a store with the model that it was written with, or migrate it on a Mac."
)
open class NSPropertyMapping: NSObject {
    open var name: String? {
        get { absent() }
        set { absent() }
    }
    open var valueExpression: NSExpression? {
        get { absent() }
        set { absent() }
    }
    open var userInfo: [AnyHashable: Any]? {
        get { absent() }
        set { absent() }
    }
}
