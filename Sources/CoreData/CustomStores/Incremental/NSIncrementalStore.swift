import Foundation

/// A store whose objects are somewhere else, and come one by one as they are needed: a service, a large file, another database.
///
/// A subclass overrides `loadMetadata()`, `execute(_:with:)` and `newValuesForObject(with:with:)`; `newValue(forRelationship:forObjectWith:with:)` where its
/// entities have relationships; `obtainPermanentIDs(for:)` where it can be written. What identifies an object there is a text or a number, which
/// `newObjectID(for:referenceObject:)` makes an ID of.
///
/// The context that a hook is given is one of its own, for making objects and for reading; it is not the one that asks, and lasts as long as the
/// call.
///
/// > Concurrency: the hooks that answer are called one at a time in each coordinator, on the queue of whoever adds the store, fetches or saves. The
/// two that tell which objects contexts have come while others run, too.
open class NSIncrementalStore: NSPersistentStore {
    /// Nil before the store is open, and once it is closed.
    final let rowsAtHand = Lock<RowCache?>(nil)
    final let saves = PublicationOrder()
    final let saved = SavedObjects()
    final let turns = SaveTurns()
    final let calls = HookCalls()
    /// Whether the class is asked to save; with `hooks` held.
    final var isWriting = false
    final override var isWritingHere: Bool { hooks.isMine && isWriting }

    /// Behind it may be a service that the class knows.
    override class var needsURL: Bool { false }

    final override func leaveOwner() { calls.remove { owner = nil } }

    // The hooks stand here because on Linux a method of an extension cannot be overridden.

    /// Answers a request.
    ///
    /// - An `NSFetchRequest<any NSFetchRequestResult>`: for `.managedObjectResultType` an array of objects, made with `context.object(with:)`, or of
    ///   their IDs; predicate, order, limit and offset are the store's to keep. For `.countResultType` a number, or an array of one.
    /// - An `NSSaveChangesRequest`: writes all of it or nothing, and returns an empty array.
    /// - A batch request, or one of a class of the program's own, that `execute(_:)` of a context or `execute(_:with:)` of the coordinator was given:
    ///   what is returned is what the caller gets, who takes an `NSPersistentStoreResult`. The context is that which asks. Rows that are at hand are
    ///   read anew after a batch request, not after others.
    ///
    /// - Throws: why not. After a save that throws, all changes are unsaved still, and the caller of `save()` gets the error as it is.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw CocoaError.coreData(
            .persistentStoreUnsupportedRequestType,
            "\(Self.self).execute(_:with:) does not know requests of class \(Swift.type(of: request)).",
            userInfo: [NSAffectedStoresErrorKey: [self]]
        )
    }

    /// The values of one object.
    ///
    /// - Throws: `CocoaError` 133000 (`managedObjectReferentialIntegrity`) where there is no such object; others where it cannot be read.
    open func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
        throw lacks("newValuesForObject(with:with:)")
    }

    /// The end of a to-one relationship that the object's node does not say: an ID, or `NSNull`. Those of a to-many one: an array of IDs, in the
    /// order of an ordered one.
    ///
    /// - Throws: `CocoaError` 133000 where there is no such object: it has no ends then; others where they cannot be read.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        throw lacks("newValue(forRelationship:forObjectWith:with:)")
    }

    /// The IDs under which new objects will be saved, in the order of the objects.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] { throw lacks("obtainPermanentIDs(for:)") }

    /// A context has objects with these IDs from now on: fetched, followed, made as faults or saved for the first time. Each context tells of its own.
    ///
    /// Called on the context's queue; only where a class overrides it. The hook must not use the context. Does nothing unless it is overridden.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// A context no longer has objects with these IDs: they were let go of, deleted, or the context was reset or is gone.
    ///
    /// Called on whichever thread has let go of the last of them; only where a class overrides it, for whatever
    /// `managedObjectContextDidRegisterObjects(with:)` was called for. Does nothing unless it is overridden.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// What identifies a store that is made at a place.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    private final func lacks(_ method: String) -> CocoaError {
        .coreData(.persistentStoreUnsupportedRequestType, "\(Self.self) does not override \(method), which is needed for this.")
    }
}

extension NSIncrementalStore {
    /// The ID of the object that a text or a number identifies. The same ID for the same entity and reference object, in every coordinator.
    ///
    /// - Precondition: the entity is one of the coordinator's model; `data` is a text or a whole number.
    public final func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        makeID(for: entity, data)
    }

    /// What identifies an object of this store.
    public final func referenceObject(for objectID: NSManagedObjectID) -> Any { referenceValue(of: objectID) }
}
