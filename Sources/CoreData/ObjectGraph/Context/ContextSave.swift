import Foundation

/// One save of a context, in its steps, and what is known only while it lasts.
///
/// What it freezes goes down to the parent as values; the receipt comes back, and only then do the objects count as saved.
final class ContextSave {
    let context: NSManagedObjectContext
    let parent: any GraphParent
    private let letsChildrenIn: Bool
    let validation: SaveValidation
    /// What merge policies have changed: child contexts believe something else to be saved.
    private var corrections = SavedReferences()
    /// What child contexts save meanwhile stands in here, between them and the context: the save concerns what it froze, and nothing else.
    // It outlives a save after which it could not be taken.
    private(set) var incoming: NSManagedObjectContext?

    /// What changed in the events that ended since `willSave` was called last; nil once that is over.
    private var changedWhilePreparing: [ContiguousArray<NSManagedObject>]?

    /// What is on its way to the parent, or has just arrived there; nil before, and once it counts as saved.
    private var frozen: ChangeSet?
    private var frozenInsertions: Set<RowReference>?

    static let maximumRounds = 1000

    init(of context: NSManagedObjectContext, into parent: any GraphParent, letsChildrenIn: Bool, _ validation: SaveValidation) {
        (self.letsChildrenIn, self.validation) = (letsChildrenIn, validation)
        self.context = context
        self.parent = parent
    }

    func run() throws {
        context.post(.NSManagedObjectContextWillSave, [:])
        try prepareObjects()
        // What a hook has set.
        try context.readWhatWasSetUnread()
        guard context.hasChanges || !context.tracker.locked.isEmpty else { return try saveNothing() }
        finish(try saveResolvingConflicts())
    }

    /// Changed metadata of a store is written although no object changed, and DidSave tells of no objects.
    private func saveNothing() throws {
        try parent.save(ChangeSet(), willCommit: {}).publish()
        // What children have saved has come to nothing, as where two of them delete one object.
        context.moveQueryGeneration()
        context.noteChildSavesSaved(true)
        context.isSaving = false
        let none: Set<NSManagedObject> = []
        let sets: [NSManagedObjectContext.NotificationKey: Any] = [.insertedObjects: none, .updatedObjects: none, .deletedObjects: none]
        context.postDidSave(sets)
    }

    /// `willSave` on every object with changes, and again on those that change meanwhile, until none does.
    ///
    /// - Throws: the error that kept a delete from being carried along relationships.
    private func prepareObjects() throws {
        changedWhilePreparing = []
        defer { changedWhilePreparing = nil }
        if context.registry.saveHooks.contains(.willSave) {
            // A hook may add objects, which are asked in the next round.
            let asked = context.tracker.objects
            asked.forEachBorrowed { if !$0.state.isDisjoint(with: .pending) { $0.willSave() } }
        }
        for _ in 0..<Self.maximumRounds {
            if !context.tracker.hasTouched, context.tracker.unpropagated.isEmpty, changedWhilePreparing?.isEmpty != false { return }
            context.endEvent()
            if let failure = context.tracker.propagationFailure { throw failure }
            for object in takeChangedWhilePreparing() where !object.state.isDisjoint(with: .pending) { object.willSave() }
        }
        misuse(
            "willSave() changes its object every time it is called. Set a value there only where it differs, or set the primitive value."
        )
    }

    /// An event ends: what changed in it has not been asked yet. Hooks end events too, by fetching.
    func noteChanged(_ objects: @autoclosure () -> ContiguousArray<NSManagedObject>) {
        if changedWhilePreparing != nil { changedWhilePreparing?.append(objects()) }
    }

    /// Each object once.
    private func takeChangedWhilePreparing() -> [NSManagedObject] {
        let events = changedWhilePreparing ?? []
        changedWhilePreparing = []
        if events.count <= 1 { return events.first.map(Array.init) ?? [] }
        var known: Set<ObjectIdentifier> = []
        return events.joined().filter { known.insert(ObjectIdentifier($0)).inserted }
    }

    /// What was saved, and what became of it.
    struct Saved {
        let freezer: ChangeFreezer
        let receipt: SaveReceipt
        /// How many events of the context had ended when its changes were frozen.
        let eventCount: Int
        let derived: DerivedChanges
    }

    private func saveResolvingConflicts() throws -> Saved {
        var attempts = RefusedAttempts()
        defer {
            attempts.end()
            context.parentLink?.setReadsNewest(false)
        }
        while true {
            if let failure = context.tracker.propagationFailure { throw failure }
            try validateChanges()
            context.chooseStores()
            context.readReorderedMembers()
            var groups: [ChangeFreezer.Objects] = []
            do {
                return try attempt(&groups)
            } catch let conflicts as SaveConflicts {
                attempts.note(conflicts)
                // What is in the way may not have been there in the query generation that the context reads.
                context.parentLink?.setReadsNewest(true)
                try context.resolve(conflicts, groups, isLastRound: attempts.areEnough)
            }
        }
    }

    /// - Parameter groups: the objects of what was frozen; the conflicts of a parent name them.
    private func attempt(_ groups: inout [ChangeFreezer.Objects]) throws -> Saved {
        if !parent.isStoreSide { try requireUnsaved() }
        context.takePooledKeys(parent)
        context.forwardReferences()
        let freezer = ChangeFreezer(
            context.tracker,
            locked: context.tracker.locked,
            isForStores: parent.isStoreSide,
            tellsOrders: parent.takesOrders
        )
        groups = freezer.groups
        if !parent.isStoreSide { shareRows(of: groups) }
        let eventCount = context.tracker.eventCount
        frozen = freezer.changes
        var isTaken = false
        defer { if !isTaken { endFreeze() } }
        let receipt = try submit(freezer.changes)
        isTaken = true
        let derived = DerivedChanges(before: parent.isStoreSide ? groups : [])
        receipt.publish()
        return Saved(freezer: freezer, receipt: receipt, eventCount: eventCount, derived: derived)
    }

    /// Whether an object is new in what is on its way to the parent: then a delete of it is to be saved, too.
    func inserts(_ object: NSManagedObject) -> Bool {
        guard let frozen else { return false }
        let inserted = frozenInsertions ?? Set(frozen.insertedReferences.map { context.forwarded($0).identity })
        frozenInsertions = inserted
        return inserted.contains(object.rowReference.identity)
    }

    /// What was frozen is about to count as saved.
    func endFreeze() { (frozen, frozenInsertions) = (nil, nil) }

    /// The parent gets the very rows: whoever writes from now on copies them. Where all objects are new to it, none of its hooks is called.
    private func shareRows(of groups: [ChangeFreezer.Objects]) {
        guard groups.contains(where: { !$0.updated.isEmpty || !$0.deleted.isEmpty }) else { return }
        for objects in groups {
            objects.inserted.forEachBorrowed { _ = $0.shareRow() }
            objects.updated.forEachBorrowed { _ = $0.shareRow() }
        }
    }

    /// Asks the parent, before objects get keys, for those that were never in a file as far as is known here.
    private func requireUnsaved() throws {
        let mayBeDropped = context.identityMap.forwardingTable.hasDroppedInsertions
        var updates: [UnsavedUpdate] = []
        let objects = context.tracker.objects
        objects.forEachBorrowed { object in
            guard object.state.intersection(.pending) == .updated, object.key < 0 || mayBeDropped, !object.isForeign else { return }
            let version = object.committedRow?.version
            if object.key < 0 || version == 0 { updates.append(UnsavedUpdate(reference: object.rowReference, baseVersion: version ?? 0)) }
        }
        if !updates.isEmpty { try parent.requireUnsaved(updates) }
    }

    /// The step that may wait for a file. Child contexts are let in meanwhile; what they save waits in `incoming`.
    private func submit(_ changes: ChangeSet) throws -> SaveReceipt {
        guard parent.isStoreSide else { return try parent.save(changes, willCommit: {}) }
        return letsChildrenIn ? try context.queue.lend { try write(changes) } : try write(changes)
    }

    private func write(_ frozen: ChangeSet) throws -> SaveReceipt {
        var changes = frozen
        changes.origin = ChangeOrigin(author: context.transactionAuthor, contextName: context.name)
        guard context.hasHadChildren else { return try parent.save(changes, willCommit: {}) }
        var isPublishing = false
        defer { if isPublishing { context.identityMap.forwardingTable.endPublishing() } }
        let receipt = try parent.save(changes) {
            isPublishing = true
            context.identityMap.forwardingTable.beginPublishing()
        }
        context.identityMap.forwardingTable.record(Self.forwardings(changes, receipt))
        return receipt
    }

    /// The permanent identities that a save has given to objects with temporary keys.
    private static func forwardings(_ changes: ChangeSet, _ receipt: SaveReceipt) -> [(temporary: Int64, permanent: RowReference)] {
        zip(changes.groups, receipt.groups).flatMap { group, receipt in
            zip(group.inserts, receipt.insertedKeys).compactMap { insert, key in
                insert.key < 0
                    ? (insert.key, RowReference(key: key, entity: Int32(group.entity.index), store: receipt.store)) : nil
            }
        }
    }
}

extension ContextSave {
    func note(_ more: SavedReferences) { corrections = corrections.corrected(by: more) }

    /// The corrections, which count as told then.
    func takeCorrections() -> SavedReferences {
        defer { corrections = SavedReferences() }
        return corrections
    }

    /// Where changes of child contexts go.
    func receivingContext() -> NSManagedObjectContext {
        if let incoming { return incoming }
        let made = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        made.setParent(context, ParentContext(context, of: made, seesIncoming: false))
        made.retainsRegisteredObjects = true
        // To those below, the two are one.
        made.registry.changes = context.registry.changes
        incoming = made
        return made
    }

    /// What came in, which leaves the save.
    func takeIncoming() -> NSManagedObjectContext? {
        defer { incoming = nil }
        return incoming
    }

    /// It could not be taken: the next save tries again.
    func keep(_ untaken: NSManagedObjectContext) { incoming = untaken }
}

extension NSManagedObjectContext {
    /// The order of a relationship that was forgotten since, by a refresh, takes all members to be written; so does one of which nobody knows what
    /// comes before a member that was taken out and put back.
    func readReorderedMembers() {
        let objects = tracker.objects
        objects.forEachBorrowed { object in
            guard object.state.contains(.extras), !object.state.isDisjoint(with: .pending) else { return }
            object.forEachChangedToMany { index, contents in
                if contents.members == nil, contents.isReordered || contents.hasReturned { _ = object.members(of: index) }
            }
        }
    }
}
