/// What only some objects need, made on demand.
final class ObjectExtras {
    /// What the object's `owner` would be without this: a `RowBatch` or an `OwnRow`.
    var rowOwner: AnyObject
    var objectID: NSManagedObjectID?
    /// Slots from 31 on changed in that event; the object's own word has the others.
    var highChanges = SlotMask()
    /// To-many relationships that have been touched, by their index in the shape.
    var toMany: [ToManyContents?] = []
    /// Transient attributes.
    var transients: [String: Any] = [:]
    /// Slots changed since the last save in events before the one that the object changed in last.
    var changesBeforeEvent = SlotMask()
    /// To-many relationships changed in that event, by their index in the shape.
    var toManysOfEvent = SlotMask()
    /// Relationship values between `willChangeValue(forKey:)` and `didChangeValue(forKey:)`.
    var valuesBeforeChange: [String: Any] = [:]

    init(rowOwner: AnyObject) { self.rowOwner = rowOwner }
}
