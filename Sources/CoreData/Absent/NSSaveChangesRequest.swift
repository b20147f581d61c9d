import Foundation

@available(*, unavailable, message: "There are no stores of one's own yet, which such requests are for: call save() of the context.")
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    public init(
        inserted insertedObjects: Set<NSManagedObject>?,
        updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?,
        locked lockedObjects: Set<NSManagedObject>?
    ) { absent() }
    open var insertedObjects: Set<NSManagedObject>? { absent() }
    open var updatedObjects: Set<NSManagedObject>? { absent() }
    open var deletedObjects: Set<NSManagedObject>? { absent() }
    open var lockedObjects: Set<NSManagedObject>? { absent() }
}
