import Foundation

/// What an incremental store is asked to write.
///
/// The objects are in a context of their own, as they are to be saved, and have permanent IDs. They are good during the call only.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    open private(set) var insertedObjects: Set<NSManagedObject>?
    open private(set) var updatedObjects: Set<NSManagedObject>?
    open private(set) var deletedObjects: Set<NSManagedObject>?
    /// Objects that did not change, and must not have changed in the store either.
    open private(set) var lockedObjects: Set<NSManagedObject>?

    public init(
        inserted insertedObjects: Set<NSManagedObject>?,
        updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?,
        locked lockedObjects: Set<NSManagedObject>?
    ) {
        super.init()
        (self.insertedObjects, self.updatedObjects) = (insertedObjects, updatedObjects)
        (self.deletedObjects, self.lockedObjects) = (deletedObjects, lockedObjects)
    }

    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }
}
