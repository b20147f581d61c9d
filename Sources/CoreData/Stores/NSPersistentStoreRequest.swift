import Foundation

/// What a request asks of the stores.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    case fetchRequestType = 1
    case saveRequestType = 2
    case batchInsertRequestType = 5
    case batchUpdateRequestType = 6
    case batchDeleteRequestType = 7
}

/// Something that a coordinator carries out.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores to ask; nil for all.
    open var affectedStores: [NSPersistentStore]?
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    public override init() { super.init() }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The answer to a request.
open class NSPersistentStoreResult: NSObject {}
