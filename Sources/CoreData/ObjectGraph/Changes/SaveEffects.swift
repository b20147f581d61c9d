/// What becomes of objects once the changes that were frozen are saved. Until then nothing of it has happened: the save may fail.
struct SaveEffects {
    /// Rows that were written in place of those that the objects share with others.
    var rows: [(object: NSManagedObject, row: OwnRow)] = []
    /// Ordered relationships, and what is known of their positions.
    var orders: [(contents: ToManyContents, positions: ToManyContents.NewPositions)] = []

    /// - Precondition: the changes are saved, and the objects do not count as saved yet.
    func apply() {
        for (object, row) in rows {
            let abandoned = object.currentRow
            object.takeOwnRow(row)
            // Its values are the same: a child that has it may measure its changes against what the store holds.
            if object.state.contains(.inserted), abandoned.isOwn {
                EntityLayout.setVersion(abandoned.own.bytes, EntityLayout.version(UnsafeRawPointer(row.bytes)))
            }
        }
        for (contents, positions) in orders { contents.note(positions) }
    }
}
