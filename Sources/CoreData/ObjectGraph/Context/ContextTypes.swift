import Foundation

/// The queue that a context's blocks run on.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// No checks: whoever uses the context sees to it that one thread does at a time. For code from before contexts had queues, and for tests.
    /// Blocks run as on a private queue. What others save is merged when the context is used next: by a fetch, a save, `processPendingChanges()`
    /// or a block.
    case confinementConcurrencyType = 0
    /// A queue of the context's own. Its blocks run on whichever thread asks for them first, one at a time.
    case privateQueueConcurrencyType = 1
    /// The main dispatch queue, where also code outside blocks may use the context.
    case mainQueueConcurrencyType = 2
}

/// Why `awake(fromSnapshotEvents:)` is called.
public struct NSSnapshotEventType: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let undoInsertion = Self(rawValue: 1 << 1)
    public static let undoDeletion = Self(rawValue: 1 << 2)
    public static let undoUpdate = Self(rawValue: 1 << 3)
    public static let rollback = Self(rawValue: 1 << 4)
    public static let refresh = Self(rawValue: 1 << 5)
    public static let mergePolicy = Self(rawValue: 1 << 6)
}

extension NSManagedObjectContext {
    /// The kinds of queues, in the form of newer code.
    public struct ConcurrencyType: Hashable, RawRepresentable, Sendable {
        public var rawValue: NSManagedObjectContextConcurrencyType
        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
        public static let privateQueue = Self(rawValue: .privateQueueConcurrencyType)
        public static let mainQueue = Self(rawValue: .mainQueueConcurrencyType)
    }

    /// When an awaited block runs.
    public enum ScheduledTaskType: Hashable, Sendable {
        /// At once where the caller is on the context's queue already.
        case immediate
        /// Behind everything that waits.
        case enqueued
    }

    /// The keys of the context's notifications.
    public enum NotificationKey: String, Sendable {
        case queryGeneration = "newQueryGeneration"
        case invalidatedAllObjects = "invalidatedAll"
        case insertedObjects = "inserted"
        case updatedObjects = "updated"
        case deletedObjects = "deleted"
        case refreshedObjects = "refreshed"
        case invalidatedObjects = "invalidated"
        case insertedObjectIDs = "inserted_objectIDs"
        case updatedObjectIDs = "updated_objectIDs"
        case deletedObjectIDs = "deleted_objectIDs"
        case refreshedObjectIDs = "refreshed_objectIDs"
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }

    public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
    public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
    public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
    public static var didSaveObjectIDsNotification: Notification.Name { .NSManagedObjectContextDidSaveObjectIDs }
    public static let didMergeChangesObjectIDsNotification = Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs
}

extension Notification.Name {
    /// A context is about to save. No user info.
    public static let NSManagedObjectContextWillSave = Self("NSManagingContextWillSaveChangesNotification")
    /// A context has saved: the objects under `NSInsertedObjectsKey`, `NSUpdatedObjectsKey`, `NSDeletedObjectsKey`.
    public static let NSManagedObjectContextDidSave = Self("NSManagingContextDidSaveChangesNotification")
    /// Objects of a context changed in the event that has just ended.
    public static let NSManagedObjectContextObjectsDidChange = Self("NSObjectsChangedInManagingContextNotification")
    /// As DidSave, with sets of object IDs under the `…ObjectIDs` keys.
    ///
    /// Posted by saves of contexts once a program has asked for this name: making the IDs costs every save.
    public static var NSManagedObjectContextDidSaveObjectIDs: Self {
        SavedObjectIDs.areAskedFor.store(true, ordering: .relaxed)
        return SavedObjectIDs.notificationName
    }
    /// Changes of others were merged into a context: sets of object IDs under the `…ObjectIDs` keys.
    public static let NSManagedObjectContextDidMergeChangesObjectIDs = Self("NSManagedObjectContextDidMergeChangesObjectIDsNotification")
}
