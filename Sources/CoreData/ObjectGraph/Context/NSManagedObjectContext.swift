import Foundation

/// A scratchpad of objects: fetches them, keeps one instance of each, tracks what changes, and saves it as a whole.
///
/// > Concurrency: A context has a queue: the main one, or its own. Use it and its objects inside `perform` and `performAndWait`, and a
/// main-queue context also directly on the main queue; debug builds stop where it is used elsewhere. Setting it up (coordinator, name, merge
/// policy) may happen anywhere before its first use.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // Sendable by contract: everything but the set-up is used on the context's queue only.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    let queue: ContextQueue
    /// Nil where others use the queue to tell of something.
    let news: ConfinedNews?
    final let tracker = ChangeTracker()
    final let identityMap = IdentityMap()
    /// Nil until a coordinator or a parent is set.
    private(set) var parentLink: ParentLink?
    let children = Lock(ChildContexts())
    /// The save under way; or the latest one, as long as something that came in meanwhile waits in it.
    var latestSave: ContextSave?

    /// A name for logs, and for the history of changes.
    open var name: String?
    /// Who the changes of this context are by, in the history of changes.
    open var transactionAuthor: String? {
        willSet { checkSetUp() }
    }
    /// What happens when a save meets rows changed by others: an `NSMergePolicy`. The error policy unless set.
    open var mergePolicy: Any = NSMergePolicy.error
    /// For the application's use.
    public let userInfo = NSMutableDictionary()
    /// Whether deletes are carried along relationships when an event ends, rather than at the save.
    open var propagatesDeletesAtEndOfEvent = true {
        willSet { checkSetUp() }
    }
    /// Whether all objects of the context are kept alive, not only those with changes.
    open var retainsRegisteredObjects: Bool {
        get { identityMap.retainsObjects }
        set {
            checkSetUp()
            identityMap.retainsObjects = newValue
            identityMap.retained = newValue ? Set(identityMap.objects) : []
        }
    }
    /// Whether an object whose row is gone becomes a deleted object without values; otherwise firing it traps.
    open var shouldDeleteInaccessibleFaults = true {
        willSet { checkSetUp() }
    }
    /// How old a cached row may be to fill a fault, in seconds; negative for any age, 0 for none. A fault with an older row reads it again when
    /// it is first used: one statement for each. Objects that were used keep their values.
    ///
    /// The age is that of the first reading. Rows that were read before any context of the process had such a limit count as older than any.
    open var stalenessInterval: TimeInterval = -1 {
        willSet { checkSetUp() }
        didSet { if stalenessInterval >= 0 { RowClock.start() } }
    }

    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        concurrencyType = type
        queue = ContextQueue(type == .mainQueueConcurrencyType ? .main : .own)
        news = type == .confinementConcurrencyType ? ConfinedNews() : nil
        super.init()
        queue.serve(self)
        if queue.isMain { tracker.turn = MainTurn(self) }
    }

    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

    deinit {
        identityMap.registry?.detachContext()
        // Objects whose relationships hold each other would live on.
        for object in identityMap.objects { object.existingExtras?.forgetObjects() }
        identityMap.registry?.dissolve()
    }

    /// The coordinator whose stores this context reads and saves; for a child context, that of its topmost ancestor.
    ///
    /// - Precondition: for setting, the context has no parent, and no objects yet.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { parentLink?.coordinator ?? parentLink?.context?.persistentStoreCoordinator }
        set {
            guard newValue !== parentLink?.coordinator else { return }
            precondition(parentLink?.context == nil, "A context has a parent or a coordinator, not both. Set one of them.")
            guard let newValue else { misuse("A context cannot lose its coordinator. Release the context, or reset() it.") }
            precondition(identityMap.objects.isEmpty, "Set the coordinator before the context has objects.")
            parentLink = ParentLink(to: newValue)
            identityMap.registry = ObjectRegistry(context: self, model: newValue.managedObjectModel)
        }
    }

    /// The context that this one reads from and saves into, instead of a coordinator.
    ///
    /// A fetch here sees the unsaved changes of every context above. `save()` hands the changes to the parent, as unsaved changes there: nothing
    /// reaches a file until the topmost context saves. Where both changed a property, the later save wins; objects that this context has
    /// read do not follow later changes in the parent.
    ///
    /// - Precondition: for setting, the context has no coordinator and no objects yet; the parent has a coordinator, or a parent.
    open var parent: NSManagedObjectContext? {
        get { parentLink?.context }
        set {
            guard newValue !== parentLink?.context else { return }
            guard let newValue else { misuse("A context cannot lose its parent. Release the context, or reset() it.") }
            precondition(parentLink?.coordinator == nil, "A context has a parent or a coordinator, not both. Set one of them.")
            setParent(newValue, ParentContext(newValue, of: self))
            newValue.children.withLock { $0.add(self) }
            newValue.queue.admitGuests()
        }
    }

    func setParent(_ context: NSManagedObjectContext, _ parent: ParentContext) {
        precondition(identityMap.objects.isEmpty, "Set the parent before the context has objects.")
        guard context.parentLink != nil else { misuse("The parent has no persistentStoreCoordinator. Set it before giving it children.") }
        queue.level = context.queue.level + 1
        parentLink = ParentLink(to: context, parent)
        identityMap.join(context.identityMap.forwardingTable)
        identityMap.registry = ObjectRegistry(context: self, model: parent.managedObjectModel)
        identityMap.registry?.changesAbove = ChangesAbove(context.changeCounts)
    }

    /// Whether what others save into the parent or the coordinator is merged into this context, later and on its queue. False unless set.
    ///
    /// - Precondition: for setting, the context has a parent or a coordinator.
    open var automaticallyMergesChangesFromParent: Bool {
        get { parentLink?.followsSaves ?? false }
        set { setFollowsParent(newValue) }
    }

    /// Decides about a fault whose row is gone: true where it was dealt with; called by reads, not by the throwing calls.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject,
        for oid: NSManagedObjectID,
        triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        shouldDeleteInaccessibleFaults
    }

    /// Ends the event: carries deletes along relationships and posts ObjectsDidChange once for everything that changed since.
    ///
    /// Called at the end of each `perform` block, by `save()` and fetches, and once a turn of the main queue for what is done there otherwise.
    open func processPendingChanges() {
        checkQueue()
        hearNews()
        endEvent()
    }

    /// Saves all changes: everything is written, or nothing is and all changes stay pending.
    ///
    /// Without changes it posts WillSave, and DidSave with empty sets; changed metadata of stores is written.
    ///
    /// - Throws: a `CocoaError`: validation (1550–1680, several under 1560), a merge conflict (133020), a
    ///   uniqueness constraint (133021), a store that cannot be written.
    open func save() throws {
        do { try saveMarkingValidation() } catch let failure as ValidationFailure { throw failure.error }
    }

    /// The objects to be written as new rows by the next save.
    public var insertedObjects: Set<NSManagedObject> {
        checkReading()
        return Set(tracker.objects(.inserted))
    }
    /// The objects whose rows the next save updates.
    public var updatedObjects: Set<NSManagedObject> {
        checkReading()
        return Set(tracker.objects(.updated).filter { $0.state.isDisjoint(with: [.inserted, .deleted]) })
    }
    /// The objects whose rows the next save deletes.
    public var deletedObjects: Set<NSManagedObject> {
        checkReading()
        return Set(tracker.objects(.deleted))
    }
    /// All live objects of the context.
    public var registeredObjects: Set<NSManagedObject> {
        checkReading()
        return Set(identityMap.objects)
    }
    /// Whether a save has something to do. True also after a setter that set an equal value.
    public var hasChanges: Bool {
        checkReading()
        return tracker.pendingCount > 0
    }

    var registry: ObjectRegistry {
        guard let registry = identityMap.registry else {
            misuse("The context has no persistentStoreCoordinator. Set it before using the context.")
        }
        return registry
    }

    var parentSource: any GraphParent {
        guard let parentLink else { misuse("The context has no persistentStoreCoordinator. Set it before using the context.") }
        return parentLink.parent
    }

    var watchers: ContextWatchers { tracker.watchers }
    var readAhead: ReadAhead { identityMap.readAhead }

    func store(numbered number: Int32) -> NSPersistentStore? { number == 0 ? nil : parentLink?.source.persistentStore(numbered: number) }
}
