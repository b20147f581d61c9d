import Foundation

@available(
    *,
    unavailable,
    message:
        "There are no batch requests yet: change objects in a context of their own; CoreDataStack's newBatchOperationContext imports fast."
)
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) { absent() }
    public convenience init(objectIDs objects: [NSManagedObjectID]) { absent() }
    open var resultType: NSBatchDeleteRequestResultType {
        get { absent() }
        set { absent() }
    }
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> { absent() }
}

@available(
    *,
    unavailable,
    message:
        "There are no batch requests yet: change objects in a context of their own; CoreDataStack's newBatchOperationContext imports fast."
)
public enum NSBatchDeleteRequestResultType: UInt {
    case resultTypeStatusOnly = 0
    case resultTypeObjectIDs = 1
    case resultTypeCount = 2
}

@available(
    *,
    unavailable,
    message:
        "There are no batch requests yet: change objects in a context of their own; CoreDataStack's newBatchOperationContext imports fast."
)
open class NSBatchDeleteResult: NSPersistentStoreResult {
    open var result: Any? { absent() }
    open var resultType: NSBatchDeleteRequestResultType { absent() }
}
