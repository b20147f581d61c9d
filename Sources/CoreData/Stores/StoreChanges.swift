/// The part of a change set that one store takes.
package struct StoreChanges {
    /// The groups, with their indexes in the whole change set.
    package var groups: [(index: Int, group: ChangeSet.Group)] = []
    package var links: [ChangeSet.LinkChange] = []
    var positions: [ChangeSet.PositionChange] = []
    var rowPositions: [ChangeSet.RowPositions] = []
    var appends: [ChangeSet.Append] = []

    /// Whether any row of these can hold a reference: only then must temporary keys be found again.
    var refersToOthers: Bool {
        !links.isEmpty || !positions.isEmpty || groups.contains { !$0.group.entity.shape.layout.referenceSlots.isEmpty }
    }
}
