import Foundation

/// A change to a row that the store has.
protocol MeasuredChange: Sendable {
    var key: Int64 { get }
    /// What the change is measured against; nil where the object's row was never read.
    var base: Row? { get }
}

/// Everything that one save changes, frozen: rows by reference, in a stable order.
package struct ChangeSet: Sendable {
    package struct Insert: Sendable {
        package let row: Row
        /// The object's key so far; temporary, or permanent when its ID was obtained before the save.
        package let key: Int64
    }

    package struct Update: MeasuredChange {
        package let row: Row
        package let key: Int64
        /// What the changes are measured against; nil where the object's row was never read.
        package let base: Row?
        /// The slots to write; empty where only the version advances.
        package let slots: SlotMask
    }

    package struct Delete: MeasuredChange {
        package let key: Int64
        package let base: Row?
        var reason = DeleteReason.decision
    }

    /// Why an object counts as deleted.
    package enum DeleteReason {
        /// A program wants it.
        case decision
        /// As before; but by then nobody had its row.
        case decisionWithoutRow
        /// Others have told of having deleted its row.
        case othersDelete
        /// Its row was looked for, and nobody had it.
        case missingRow
    }

    /// The changes to objects of one entity in one store.
    package struct Group: Sendable {
        package let entity: NSEntityDescription
        /// 0 for inserts that no store has been chosen for.
        package let store: Int32
        package var inserts: ContiguousArray<Insert> = []
        /// Parallel to `inserts`, for a parent that is a context, where uniqueness constraints may merge objects: the slots that were set.
        var setSlots: [SlotMask] = []
        package var updates: ContiguousArray<Update> = []
        package var deletes: ContiguousArray<Delete> = []
        /// Rows that did not change but must be as they were read: `detectConflicts(for:)`.
        package var locks: ContiguousArray<Delete> = []
    }

    /// The difference of a to-many relationship that no row of a member says: many-to-many, or without an inverse.
    package struct LinkChange: Sendable {
        let relationship: NSRelationshipDescription
        let owner: RowReference
        let added: [RowReference]
        let removed: [RowReference]
    }

    /// Positions in an ordered relationship, for members whose own rows are not written.
    package struct PositionChange: Sendable {
        let relationship: NSRelationshipDescription
        let owner: RowReference
        let positions: [(member: RowReference, position: Int64)]
    }

    /// Positions in an ordered relationship that the store puts into rows of the change set, which it writes anyway.
    package struct RowPositions: Sendable {
        let owner: RowReference
        let slot: Int
        var rows: ContiguousArray<(row: Row, position: Int64)> = []
    }

    /// A row that is put at the end of an ordered relationship which nobody has read.
    package struct Append: Sendable {
        let row: Row
        let member: RowReference
    }

    /// The order that a context has given to the members of an ordered relationship, for a parent that is a context and stores without positions.
    package struct OrderChange: Sendable {
        let relationship: NSRelationshipDescription
        let owner: RowReference
        /// All members, or where nothing was moved those that were put at the end.
        let members: [RowReference]
        let isWhole: Bool
    }

    /// Transient values that were set since the last save, for a parent that is a context.
    // Sendable as values go from context to context: whoever set one has no more business with it than with any value he hands to an object.
    package struct TransientChange: @unchecked Sendable {
        let object: RowReference
        let values: [String: Any]
    }

    /// The to-many relationships of an object that changed, by their indexes in its shape, wherever the store writes them.
    package struct ToManyChange: Sendable {
        let owner: RowReference
        let relationships: SlotMask
    }

    /// For the history of what stores write.
    var origin = ChangeOrigin()
    var groups: [Group] = []
    /// Of objects with rows, for stores.
    var changedToManys: [ToManyChange] = []
    /// In the order of their positions; each is also in a group.
    var appends: [Append] = []
    var orders: [OrderChange] = []
    var links: [LinkChange] = []
    var positions: [PositionChange] = []
    var rowPositions: [RowPositions] = []
    var transients: [TransientChange] = []
    /// What was refused before because others have changed it: it stays measured against its base, for a parent that is a context.
    var outdated: Set<RowReference> = []

    var isEmpty: Bool { groups.isEmpty && links.isEmpty && positions.isEmpty && orders.isEmpty && transients.isEmpty }
}

/// A to-many relationship of one object.
struct ToManyEnd: Hashable {
    let relationship: ObjectIdentifier
    let owner: RowReference
}

/// What became of a change set.
struct SaveReceipt {
    /// For each group, in order: the store, and the permanent keys of its inserts.
    package struct Group: Sendable {
        var store: Int32
        var insertedKeys: ContiguousArray<Int64> = []
    }
    var groups: [Group] = []
    /// Completes the rows with what the store gave them, and hands them to the row cache. To be called once, on the saving context's queue:
    /// until then, the rows may be read by others.
    var publish: () -> Void = {}
}

/// An unsaved change to one object, as a context's children see it.
struct UnsavedRow {
    enum State {
        case row(Row)
        /// Only a to-many relationship changed, of an object whose row nobody has read.
        case unread
        case deleted
    }
    let reference: RowReference
    let state: State
}

/// A change to an object that was never in a file, as far as the saving context knows.
struct UnsavedUpdate: Sendable {
    let reference: RowReference
    let baseVersion: Int32
}

/// A row that was not what the save was measured against.
package struct RowConflict: Sendable {
    let reference: RowReference
    /// The row now, as the cache has it or as the store has it; nil where it was deleted.
    let current: Row?
    let currentVersion: Int32
    let baseVersion: Int32
    /// Whether the store itself was ahead of the row cache.
    let isStoreAhead: Bool
}

/// Rows of one save that a uniqueness constraint keeps apart: they have the same values, or a row of the store has them.
package struct ConstraintBreach: Sendable {
    /// A row of the save: which group it is in, and where among the inserts or the updates.
    package struct Member: Sendable {
        let group: Int
        let index: Int
        let isInsert: Bool
    }
    /// The properties that the constraint names.
    let names: [String]
    /// In the order of the save; two at least where no row of the store is concerned.
    let members: [Member]
    let stored: (reference: RowReference, row: Row)?
}

/// A save that met rows changed by others, or rows with values that only one may have. Nothing was written.
package struct SaveConflicts: Error {
    let conflicts: [RowConflict]
    var breaches: [ConstraintBreach] = []
    /// Lets those go on who would write into the store meanwhile. Where nobody calls it they wait a little, not for ever.
    private(set) var endTurn: @Sendable () -> Void = {}

    package init(conflicts: [RowConflict], breaches: [ConstraintBreach] = []) { (self.conflicts, self.breaches) = (conflicts, breaches) }

    func keepingTurn(_ end: @escaping @Sendable () -> Void) -> SaveConflicts {
        var kept = self
        kept.endTurn = { [endTurn] in
            end()
            endTurn()
        }
        return kept
    }
}
