import Foundation

@testable import CoreData

/// A context of a walk, with what it must remember.
final class WalkedContext {
    /// An unsaved value, and how sure it is that a save writes it.
    struct Edit: Equatable {
        enum Certainty { case sure, orAsBefore, unknown }
        var value: WalkValue
        var certainty = Certainty.sure
        /// What the cell was in the context before its first edit.
        var base = WalkValue.empty
    }

    let name: String
    let side: Int
    let context: NSManagedObjectContext
    // The walk has both; the other way would keep them for ever.
    unowned let parent: WalkedContext?
    var child: WalkedContext?

    var edits: [WalkCell: Edit] = [:]
    var inserted: [Int: WalkModel.Kind] = [:]
    var deleted: Set<Int> = []
    /// What `delete(_:)` was called with since the last save, or came as deleted with a merge.
    var requested: Set<Int> = []
    /// Deletes that others had saved, and may take back.
    var deletesOfOthers: Set<Int> = []
    /// The order that an item's parts were given.
    var orders: [Int: [Int]] = [:]
    /// What others saved and this context has not heard of.
    var behind: Set<Int> = []
    /// Objects of which one side of a relationship was dropped.
    var tainted: Set<Int> = []
    /// Whether a context above changed since this one was reset.
    var isStale = false
    var held: [Int: NSManagedObject] = [:]
    /// Objects whose transient was set, and to what: no file knows that.
    var notes: [Int: (object: NSManagedObject, text: String)] = [:]
    /// Objects of strangers' IDs.
    var strangers: [NSManagedObject] = []
    var announcedInsertions: [Int: Int] = [:]
    var announcedDeletions: [Int: Int] = [:]
    private(set) var lastSave: Notification?
    private var tokens: [any NSObjectProtocol] = []

    init(_ name: String, side: Int, on coordinator: NSPersistentStoreCoordinator) {
        (self.name, self.side, parent) = (name, side, nil)
        context = Library.context(on: coordinator)
        context.name = name
    }

    init(_ name: String, childOf parent: WalkedContext) {
        (self.name, side, self.parent) = (name, parent.side, parent)
        context = Layers.child(of: parent.context, name)
        parent.child = self
    }

    deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

    /// Counts what is announced; `serial` says which object one is.
    func observe(_ serial: @escaping (NSManagedObject) -> Int?) {
        // The notifications are posted on the thread that the walk runs on.
        nonisolated(unsafe) weak let me = self
        nonisolated(unsafe) let serial = serial
        func add(_ name: Notification.Name, _ body: @escaping (WalkedContext, Notification) -> Void) {
            nonisolated(unsafe) let body = body
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { if let me { body(me, $0) } }
            )
        }
        add(.NSManagedObjectContextObjectsDidChange) { me, note in
            for object in note.objects(NSInsertedObjectsKey) {
                if let serial = serial(object) { me.announcedInsertions[serial, default: 0] += 1 }
            }
            for object in note.objects(NSDeletedObjectsKey) {
                if let serial = serial(object) { me.announcedDeletions[serial, default: 0] += 1 }
            }
        }
        add(.NSManagedObjectContextDidSave) { me, note in me.lastSave = note }
    }

    func takeLastSave() -> Notification? {
        defer { lastSave = nil }
        return lastSave
    }

    /// Nothing is unsaved any more.
    func clear() {
        (edits, inserted, deleted, requested, deletesOfOthers, orders, tainted) = ([:], [:], [], [], [], [:], [])
        (announcedInsertions, announcedDeletions) = ([:], [:])
    }

    /// This context and those above, from the topmost down.
    var chain: [WalkedContext] { (parent?.chain ?? []) + [self] }
    var hasEdits: Bool { !edits.isEmpty || !inserted.isEmpty || !deleted.isEmpty }

    /// Writes down that a cell was set. One that is set to what it was, here or in the file, may come to nothing.
    func edit(_ cell: WalkCell, _ value: WalkValue, before: WalkValue, committed: WalkValue) {
        let base = edits[cell]?.base ?? before
        // What it is already is no edit, unless it became that by one.
        let isNone = value == before && edits[cell]?.certainty != .sure
        edits[cell] = Edit(value: value, certainty: isNone || value == base || value == committed ? .orAsBefore : .sure, base: base)
    }

    /// An object is gone from here: nothing refers to it any more.
    func forget(_ serial: Int) {
        notes[serial] = nil
        edits = edits.filter { $0.key.serial != serial && $0.key.other != serial }
        for (cell, edit) in edits where edit.value.target == serial {
            let mayDangle = cell.key == "cover"
            edits[cell] = Edit(value: mayDangle ? edit.value : .empty, certainty: mayDangle ? .unknown : .orAsBefore, base: edit.base)
        }
        orders[serial] = nil
        for item in orders.keys { orders[item]?.removeAll { $0 == serial } }
    }
}

extension Notification {
    func objects(_ key: String) -> Set<NSManagedObject> { userInfo?[key] as? Set<NSManagedObject> ?? [] }
}

/// What somebody saved, as the others may hear of it, later and more than once.
struct WalkNews {
    let author: String
    let side: Int
    let notification: Notification
    let uris: [AnyHashable: Any]
    /// Those of the rows that it has written, but for new ones.
    let versions: [Int: Int]
    let deleted: Set<Int>
}
