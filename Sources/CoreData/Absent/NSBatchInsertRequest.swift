import Foundation

@available(
    *,
    unavailable,
    message:
        "There are no batch requests yet: change objects in a context of their own; CoreDataStack's newBatchOperationContext imports fast."
)
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    open var entityName: String { absent() }
    open var entity: NSEntityDescription? { absent() }
    open var objectsToInsert: [[String: Any]]? {
        get { absent() }
        set { absent() }
    }
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)? {
        get { absent() }
        set { absent() }
    }
    open var managedObjectHandler: ((NSManagedObject) -> Bool)? {
        get { absent() }
        set { absent() }
    }
    open var resultType: NSBatchInsertRequestResultType {
        get { absent() }
        set { absent() }
    }
    public init(entityName: String, objects dictionaries: [[String: Any]]) { absent() }
    public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) { absent() }
    public convenience init(entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) { absent() }
    public convenience init(entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) { absent() }
    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) { absent() }
    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) { absent() }
}

@available(
    *,
    unavailable,
    message:
        "There are no batch requests yet: change objects in a context of their own; CoreDataStack's newBatchOperationContext imports fast."
)
public enum NSBatchInsertRequestResultType: UInt {
    case statusOnly = 0
    case objectIDs = 1
    case count = 2
}

@available(
    *,
    unavailable,
    message:
        "There are no batch requests yet: change objects in a context of their own; CoreDataStack's newBatchOperationContext imports fast."
)
open class NSBatchInsertResult: NSPersistentStoreResult {
    open var result: Any? { absent() }
    open var resultType: NSBatchInsertRequestResultType { absent() }
}
