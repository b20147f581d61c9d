import Foundation

/// The contexts that have a context as their parent, as long as they live.
struct ChildContexts {
    private struct Reference {
        weak var context: NSManagedObjectContext?
    }
    private var references: [Reference] = []
    /// Whether there has ever been one.
    private(set) var hasHadAny = false
    var saves = ChildSaves()

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

    /// What child contexts have saved while this one was saving, as long as it has not been taken.
    var incoming: NSManagedObjectContext? { latestSave?.incoming }

    /// Takes what a child saved, and tells who observes.
    ///
    /// - Parameter areTaken: whether they were saved while this context was saving, and count as taken already. What they were saved for may have
    ///   been dropped above since then: the next save finds that out, and the merge policy resolves it.
    /// - Returns: what had to be changed of it.
    func receive(_ changes: ChangeSet, areTaken: Bool = false) throws -> SavedReferences {
        let corrections = try receiveSilently(changes, areTaken: areTaken)
        processPendingChanges()
        return corrections
    }

    /// As before; who observes is still to be told.
    ///
    /// - Parameter areOwn: whether they are the context's own, which come back: nobody has validated them, and what is deleted was told so.
    func receiveSilently(_ changes: ChangeSet, areOwn: Bool = false, areTaken: Bool = false) throws -> SavedReferences {
        var reception = ChangeReception(changes, in: self, areOwn: areOwn, areTaken: areTaken)
        try reception.run()
        return reception.corrections
    }

    /// Where changes of child contexts go: while this context saves, to what stands between.
    var receivingContext: NSManagedObjectContext {
        guard let latestSave, isSaving || latestSave.incoming != nil else { return self }
        return latestSave.receivingContext()
    }

    /// The save is over: what came in meanwhile becomes unsaved changes of this context.
    ///
    /// - Throws: a store's error. What came in stays beside this context then, seen by its children, and its next save tries again.
    func takeIncoming() throws {
        guard let save = latestSave, let incoming = save.takeIncoming() else { return }
        incoming.catchUp()
        incoming.readReorderedMembers()
        incoming.passNames(to: self)
        let changes = ChangeFreezer(incoming.tracker, locked: [], isForStores: false).changes
        do {
            tellChildren(of: try queue.whileReceiving { try receive(changes, areTaken: true) })
        } catch {
            save.keep(incoming)
            throw error
        }
    }
}
