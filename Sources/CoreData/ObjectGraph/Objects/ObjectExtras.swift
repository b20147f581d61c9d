/// What only some objects need, made on demand.
// NB: not checked for exclusive access: it belongs to an object, which is confined to its context's queue, and no access spans a call to
// user code.
final class ObjectExtras {
    /// What the object's `owner` would be without this: a `RowBatch` or an `OwnRow`.
    @exclusivity(unchecked) var rowOwner: AnyObject
    @exclusivity(unchecked) var objectID: NSManagedObjectID?
    /// To-many relationships that have been touched, by their index in the shape.
    @exclusivity(unchecked) var toMany: [ToManyContents?] = []
    /// To-many relationships changed in the last event that changed the object, by their index in the shape.
    @exclusivity(unchecked) var toManysOfEvent = SlotMask()
    @exclusivity(unchecked) private var rarities: Rarities?

    init(rowOwner: AnyObject) { self.rowOwner = rowOwner }

    /// What hardly any object needs.
    private final class Rarities {
        var highChanges = SlotMask()
        var changesBeforeEvent = SlotMask()
        var transients: [String: Any] = [:]
        var transformed: [Int: TransformedValue] = [:]
        var valuesBeforeChange: [String: Any] = [:]
        var fetched: [String: [NSManagedObject]] = [:]
    }

    private var madeRarities: Rarities {
        if let rarities { return rarities }
        let made = Rarities()
        rarities = made
        return made
    }
}

extension ObjectExtras {
    /// Slots from 31 on changed in that event; the object's own word has the others.
    var highChanges: SlotMask {
        get { rarities?.highChanges ?? SlotMask() }
        set { if rarities != nil || !newValue.isEmpty { madeRarities.highChanges = newValue } }
    }

    /// Slots changed since the last save in events before the one that the object changed in last.
    var changesBeforeEvent: SlotMask {
        get { rarities?.changesBeforeEvent ?? SlotMask() }
        set { if rarities != nil || !newValue.isEmpty { madeRarities.changesBeforeEvent = newValue } }
    }

    /// Transient attributes.
    var transients: [String: Any] {
        get { rarities?.transients ?? [:] }
        set { if rarities != nil || !newValue.isEmpty { madeRarities.transients = newValue } }
    }

    /// The values of transformable attributes that have been read or set, by slot.
    var transformed: [Int: TransformedValue] {
        get { rarities?.transformed ?? [:] }
        set { if rarities != nil || !newValue.isEmpty { madeRarities.transformed = newValue } }
    }

    /// The results of fetched properties that have been read.
    var fetched: [String: [NSManagedObject]] {
        get { rarities?.fetched ?? [:] }
        set { if rarities != nil || !newValue.isEmpty { madeRarities.fetched = newValue } }
    }

    /// Lets go of what the object holds of others, and of their changes.
    func forgetObjects() {
        toMany = []
        fetched = [:]
    }

    /// Relationship values between `willChangeValue(forKey:)` and `didChangeValue(forKey:)`.
    var valuesBeforeChange: [String: Any] {
        get { rarities?.valuesBeforeChange ?? [:] }
        set { if rarities != nil || !newValue.isEmpty { madeRarities.valuesBeforeChange = newValue } }
    }
}
