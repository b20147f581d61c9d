/// The set of inserted objects.
public let NSInsertedObjectsKey = "inserted"
/// The set of updated objects.
public let NSUpdatedObjectsKey = "updated"
/// The set of deleted objects.
public let NSDeletedObjectsKey = "deleted"
/// The set of refreshed objects.
public let NSRefreshedObjectsKey = "refreshed"
/// The set of invalidated objects.
public let NSInvalidatedObjectsKey = "invalidated"
/// An array of the IDs of all objects, when all were invalidated.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// The set of the IDs of inserted objects.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// The set of the IDs of updated objects.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// The set of the IDs of deleted objects.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// The set of the IDs of refreshed objects.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// The set of the IDs of invalidated objects.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// The query generation that a context is at after a save.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"
/// An array of the stores that were added.
public let NSAddedPersistentStoresKey = "added"
/// An array of the stores that were removed.
public let NSRemovedPersistentStoresKey = "removed"
/// An array of a store before and after its identifier was changed.
public let NSUUIDChangedPersistentStoresKey = "changedUUID"
/// The URL of the store that was changed.
public let NSPersistentStoreURLKey = "storeURL"
/// The token of the history entry that a change made.
public let NSPersistentHistoryTokenKey = "historyToken"
