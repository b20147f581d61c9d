import Foundation

@available(
    *,
    unavailable,
    message: "There is no history yet: observe NSManagedObjectContextDidSave, whose changes mergeChanges(fromContextDidSave:) takes."
)
open class NSPersistentHistoryToken: NSObject {}

@available(
    *,
    unavailable,
    message: "There is no history yet: observe NSManagedObjectContextDidSave, whose changes mergeChanges(fromContextDidSave:) takes."
)
open class NSPersistentHistoryTransaction: NSObject {
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { absent() }
    open class var entityDescription: NSEntityDescription? { absent() }
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { absent() }
    open var timestamp: Date { absent() }
    open var changes: [NSPersistentHistoryChange]? { absent() }
    open var transactionNumber: Int64 { absent() }
    open var storeID: String { absent() }
    open var bundleID: String { absent() }
    open var processID: String { absent() }
    open var contextName: String? { absent() }
    open var author: String? { absent() }
    open var token: NSPersistentHistoryToken { absent() }
    open func objectIDNotification() -> Notification { absent() }
}

@available(
    *,
    unavailable,
    message: "There is no history yet: observe NSManagedObjectContextDidSave, whose changes mergeChanges(fromContextDidSave:) takes."
)
open class NSPersistentHistoryChange: NSObject {
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { absent() }
    open class var entityDescription: NSEntityDescription? { absent() }
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { absent() }
    open var changeID: Int64 { absent() }
    open var changedObjectID: NSManagedObjectID { absent() }
    open var changeType: NSPersistentHistoryChangeType { absent() }
    open var tombstone: [AnyHashable: Any]? { absent() }
    open var transaction: NSPersistentHistoryTransaction? { absent() }
    open var updatedProperties: Set<NSPropertyDescription>? { absent() }
}

@available(
    *,
    unavailable,
    message: "There is no history yet: observe NSManagedObjectContextDidSave, whose changes mergeChanges(fromContextDidSave:) takes."
)
public enum NSPersistentHistoryChangeType: Int {
    case insert = 0
    case update = 1
    case delete = 2
}

@available(
    *,
    unavailable,
    message: "There is no history yet: observe NSManagedObjectContextDidSave, whose changes mergeChanges(fromContextDidSave:) takes."
)
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    open class func fetchHistory(after date: Date) -> Self { absent() }
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self { absent() }
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self { absent() }
    open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self { absent() }
    open class func deleteHistory(before date: Date) -> Self { absent() }
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self { absent() }
    open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self { absent() }
    open var resultType: NSPersistentHistoryResultType {
        get { absent() }
        set { absent() }
    }
    open var token: NSPersistentHistoryToken? { absent() }
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        get { absent() }
        set { absent() }
    }
}

@available(
    *,
    unavailable,
    message: "There is no history yet: observe NSManagedObjectContextDidSave, whose changes mergeChanges(fromContextDidSave:) takes."
)
public enum NSPersistentHistoryResultType: Int {
    case statusOnly = 0
    case objectIDs = 1
    case count = 2
    case transactionsOnly = 3
    case changesOnly = 4
    case transactionsAndChanges = 5
}

@available(
    *,
    unavailable,
    message: "There is no history yet: observe NSManagedObjectContextDidSave, whose changes mergeChanges(fromContextDidSave:) takes."
)
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    open var result: Any? { absent() }
    open var resultType: NSPersistentHistoryResultType { absent() }
}
