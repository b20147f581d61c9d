import Foundation

/// The contexts that have a context as their parent, as long as they live.
struct ChildContexts {
    private struct Reference {
        weak var context: NSManagedObjectContext?
    }
    private var references: [Reference] = []
    /// Whether there has ever been one.
    private(set) var hasHadAny = false

    mutating func add(_ context: NSManagedObjectContext) {
        references.removeAll { $0.context == nil }
        references.append(Reference(context: context))
        hasHadAny = true
    }

    /// Whether there is one that lives.
    var hasAny: Bool { references.contains { $0.context != nil } }

    var contexts: [NSManagedObjectContext] { references.compactMap(\.context) }
}

extension NSManagedObjectContext {
    var hasHadChildren: Bool { children.withLock(\.hasHadAny) }

    var childContexts: [NSManagedObjectContext] { children.withLock(\.contexts) }

    /// Takes what a child saved, and tells who observes.
    func receive(_ changes: ChangeSet) throws {
        var reception = ChangeReception(changes, in: self)
        try reception.run()
        processPendingChanges()
    }

    /// Where changes of child contexts go: while this context saves, into one that stands between, so that the save settles what it froze and
    /// nothing else.
    var receivingContext: NSManagedObjectContext {
        if let incoming { return incoming }
        guard isSaving else { return self }
        let made = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        made.setParent(self, ParentContext(self, of: made, seesIncoming: false))
        made.retainsRegisteredObjects = true
        incoming = made
        return made
    }

    /// The save is over: what came in meanwhile becomes unsaved changes of this context.
    ///
    /// - Throws: a store's error. What came in stays beside this context then, seen by its children, and its next save tries again.
    func takeIncoming() throws {
        guard let incoming else { return }
        self.incoming = nil
        incoming.catchUp()
        let changes = ChangeFreezer(incoming.tracker, locked: [], isForStores: false).changes
        do {
            try queue.whileReceiving { try receive(changes) }
        } catch {
            self.incoming = incoming
            throw error
        }
    }
}
