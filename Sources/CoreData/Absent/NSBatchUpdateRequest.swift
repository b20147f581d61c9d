import Foundation

@available(
    *,
    unavailable,
    message:
        "There are no batch requests yet: change objects in a context of their own; CoreDataStack's newBatchOperationContext imports fast."
)
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    public init(entityName: String) { absent() }
    public init(entity: NSEntityDescription) { absent() }
    open var entityName: String { absent() }
    open var entity: NSEntityDescription { absent() }
    open var predicate: NSPredicate? {
        get { absent() }
        set { absent() }
    }
    open var includesSubentities: Bool {
        get { absent() }
        set { absent() }
    }
    open var resultType: NSBatchUpdateRequestResultType {
        get { absent() }
        set { absent() }
    }
    open var propertiesToUpdate: [AnyHashable: Any]? {
        get { absent() }
        set { absent() }
    }
}

@available(
    *,
    unavailable,
    message:
        "There are no batch requests yet: change objects in a context of their own; CoreDataStack's newBatchOperationContext imports fast."
)
public enum NSBatchUpdateRequestResultType: UInt {
    case statusOnlyResultType = 0
    case updatedObjectIDsResultType = 1
    case updatedObjectsCountResultType = 2
}

@available(
    *,
    unavailable,
    message:
        "There are no batch requests yet: change objects in a context of their own; CoreDataStack's newBatchOperationContext imports fast."
)
open class NSBatchUpdateResult: NSPersistentStoreResult {
    open var result: Any? { absent() }
    open var resultType: NSBatchUpdateRequestResultType { absent() }
}
