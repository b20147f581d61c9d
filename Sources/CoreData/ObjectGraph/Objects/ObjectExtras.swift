/// What only some objects need, made on demand.
final class ObjectExtras {
    /// What the object's `owner` would be without this: a `RowBatch` or an `OwnRow`.
    var rowOwner: AnyObject
    var objectID: NSManagedObjectID?
    /// Changed slots from 31 on; the object's own word has the others.
    var highChanges = SlotMask()
    /// To-many relationships that have been touched, by their index in the shape.
    var toMany: [ToManyContents?] = []
    /// Transient attributes.
    var transients: [String: Any] = [:]
    /// The row at the beginning of the current event, for `changedValuesForCurrentEvent`.
    var changesBeforeEvent = SlotMask()
    /// Relationship values between `willChangeValue(forKey:)` and `didChangeValue(forKey:)`.
    var valuesBeforeChange: [String: Any] = [:]

    init(rowOwner: AnyObject) { self.rowOwner = rowOwner }
}
