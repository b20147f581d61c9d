import Foundation

/// The part of a change set that one store takes.
package struct StoreChanges {
    /// The groups, with their indexes in the whole change set.
    package var groups: [(index: Int, group: ChangeSet.Group)] = []
    package var links: [ChangeSet.LinkChange] = []
    /// For stores without positions.
    var orders: [ChangeSet.OrderChange] = []
    var positions: [ChangeSet.PositionChange] = []
    var rowPositions: [ChangeSet.RowPositions] = []
    var appends: [ChangeSet.Append] = []
    /// By owner: the to-many relationships that changed, by their indexes.
    var changedToManys: [RowReference: SlotMask] = [:]
    package var origin = ChangeOrigin()
    /// What `turnToSave()` has given: whoever takes the changes ends it when others can see them.
    package var turn: SaveTurn?

    /// Whether any row of these can hold a reference: only then must temporary keys be found again.
    var refersToOthers: Bool {
        !links.isEmpty || !positions.isEmpty || groups.contains { !$0.group.entity.shape.layout.referenceSlots.isEmpty }
    }
}

extension CocoaError {
    /// What a save throws for a relationship that leads to an object of another store, or of none.
    static func externalRelationship(from store: NSPersistentStore, to target: NSEntityDescription?) -> CocoaError {
        .coreData(
            .managedObjectExternalRelationship,
            """
            A relationship leads from store \(store.url?.lastPathComponent ?? "?") to an object of \(target?.name ?? "?") in another store, or in \
            none: assign(_:to:) gives new objects to one store.
            """
        )
    }
}
