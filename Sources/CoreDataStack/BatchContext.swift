import CoreData
import Foundation

/// A context on a coordinator of its own, which tells the stack what it saved.
// Sendable as every context: what is added is set before the context is used.
final class BatchContext: StackContext, @unchecked Sendable {
    static let insertsPerTurn = 1000

    /// The contexts that merge what this one saves: root and main.
    var followers: (root: StackContext?, main: StackContext?) {
        get { (root, main) }
        set { (root, main) = newValue }
    }
    private weak var root: StackContext?
    private weak var main: StackContext?

    override func save() throws {
        guard let root, let main else { return try super.save() }
        let saved = try recorded { try super.save() }
        if !saved.isEmpty { tell(saved, root, main) }
    }

    override func saveOneLayer() throws -> (any Error)? {
        try save()
        return nil
    }

    /// What a save wrote: with what delete rules and `willSave` have added to it.
    private func recorded(_ save: () throws -> Void) throws -> BatchSave {
        let saved = Guarded(BatchSave())
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: self, queue: nil) { note in
            saved.with { $0.add(note) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try save()
        return saved.with { $0 }
    }

    /// Root first, whose row cache main reads; then main, in turns that leave the main queue time for others.
    private func tell(_ saved: BatchSave, _ root: StackContext, _ main: StackContext) {
        core.gate.enter()
        root.perform { [core] in
            saved.merge(intoRoot: root)
            let turns = saved.turns(of: Self.insertsPerTurn)
            for (index, turn) in turns.enumerated() {
                main.perform {
                    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: turn.info, into: [main])
                    if index == turns.count - 1 { core.gate.leave() }
                }
            }
            if turns.isEmpty { core.gate.leave() }
        }
    }
}

/// What a batch context saved, or others.
struct BatchSave: Sendable {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []

    init(inserted: [NSManagedObjectID] = [], updated: [NSManagedObjectID] = [], deleted: [NSManagedObjectID] = []) {
        (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
    }

    init(_ part: HistoryPart) {
        let changes = part.changes
        func ids(_ key: String) -> [NSManagedObjectID] { Array(changes[key] as? Set<NSManagedObjectID> ?? []) }
        self.init(inserted: ids(NSInsertedObjectIDsKey), updated: ids(NSUpdatedObjectIDsKey), deleted: ids(NSDeletedObjectIDsKey))
    }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    mutating func add(_ didSave: Notification) {
        func ids(_ key: String) -> [NSManagedObjectID] {
            (didSave.userInfo?[key] as? Set<NSManagedObject>)?.map(\.objectID) ?? []
        }
        inserted += ids(NSInsertedObjectsKey)
        updated += ids(NSUpdatedObjectsKey)
        deleted += ids(NSDeletedObjectsKey)
    }

    /// In the form of a notification.
    var info: [AnyHashable: Any] {
        [NSInsertedObjectsKey: inserted, NSUpdatedObjectsKey: updated, NSDeletedObjectsKey: deleted]
    }

    /// Root has nothing of what is new, but for objects that it was asked for before they were there.
    ///
    /// > Concurrency: on root's queue.
    func merge(intoRoot root: NSManagedObjectContext) {
        let known = BatchSave(inserted: inserted.filter { root.registeredObject(for: $0) != nil }, updated: updated, deleted: deleted)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: known.info, into: [root])
    }

    /// Changes and deletes at once, inserts in slices.
    func turns(of count: Int) -> [BatchSave] {
        var turns = updated.isEmpty && deleted.isEmpty ? [] : [BatchSave(updated: updated, deleted: deleted)]
        for start in stride(from: 0, to: inserted.count, by: count) {
            turns.append(BatchSave(inserted: Array(inserted[start..<min(start + count, inserted.count)])))
        }
        return turns
    }
}
