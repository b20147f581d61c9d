/// What only some objects need, made on demand.
// NB: not checked for exclusive access: it belongs to an object, which is confined to its context's queue, and no access spans a call to
// user code.
final class ObjectExtras {
    /// What the object's `rowKeeper` would be without this: a `RowBatch` or an `OwnRow`.
    @exclusivity(unchecked) var rowOwner: AnyObject
    @exclusivity(unchecked) var objectID: NSManagedObjectID?
    /// The first of the to-many relationships that have been touched, in the order of their indexes: few, so that they are a chain.
    @exclusivity(unchecked) private var toManys: ToManyContents?
    /// To-many relationships changed in the last event that changed the object, by their index in the shape.
    @exclusivity(unchecked) var toManysOfEvent = SlotMask()
    @exclusivity(unchecked) private var uncommon: Uncommon?
    /// The targets of to-one relationships that a fetch has read along, so that they are there when they are asked for.
    @exclusivity(unchecked) private var prefetched: [(slot: Int, target: NSManagedObject)] = []

    init(rowOwner: AnyObject) { self.rowOwner = rowOwner }

    /// What hardly any object needs.
    private final class Uncommon {
        var highChanges = SlotMask()
        var changesBeforeEvent = SlotMask()
        var quietChanges = SlotMask()
        var transients: [String: Any] = [:]
        var transientsBefore: [String: Any?] = [:]
        var transformed: [Int: TransformedValue] = [:]
        var valuesBeforeChange: [String: Any] = [:]
        var fetched: [String: [NSManagedObject]] = [:]
        var uninsertedTargets: [Int: NSManagedObject] = [:]
        var observation: ObjectObservation?
    }

    private var madeUncommon: Uncommon {
        if let uncommon { return uncommon }
        let made = Uncommon()
        uncommon = made
        return made
    }
}

/// The to-many relationships that have been touched.
extension ObjectExtras {
    /// Calls `body` with each, by ascending index.
    @inline(__always) func forEachToMany(_ body: (ToManyContents) throws -> Void) rethrows {
        var next = toManys
        while let contents = next {
            next = contents.next
            try body(contents)
        }
    }

    func contents(_ index: Int) -> ToManyContents? {
        var next = toManys
        while let contents = next, contents.index < index { next = contents.next }
        return next?.index == index ? next : nil
    }

    /// - Precondition: there are none of that index yet.
    func add(_ contents: ToManyContents) {
        guard var before = toManys, before.index < contents.index else {
            contents.next = toManys
            toManys = contents
            return
        }
        while let next = before.next, next.index < contents.index { before = next }
        contents.next = before.next
        before.next = contents
    }

    /// Forgets those that have nothing to save, and of the others what the store holds; and what fetched properties have found.
    func forgetStoredMembers() {
        fetched = [:]
        prefetched = []
        let known = toManys
        toManys = nil
        var next = known
        while let contents = next {
            next = contents.next
            contents.next = nil
            guard contents.hasChanges else { continue }
            contents.forgetStored()
            add(contents)
        }
    }
}

extension ObjectExtras {
    /// Slots from 31 on changed in that event; the object's own word has the others.
    var highChanges: SlotMask {
        get { uncommon?.highChanges ?? SlotMask() }
        set { if uncommon != nil || !newValue.isEmpty { madeUncommon.highChanges = newValue } }
    }

    /// Slots changed since the last save in events before the one that the object changed in last.
    var changesBeforeEvent: SlotMask {
        get { uncommon?.changesBeforeEvent ?? SlotMask() }
        set { if uncommon != nil || !newValue.isEmpty { madeUncommon.changesBeforeEvent = newValue } }
    }

    /// Slots changed since the last save that nobody was told of: by primitive setters, and while values came in.
    var quietChanges: SlotMask {
        get { uncommon?.quietChanges ?? SlotMask() }
        set { if uncommon != nil || !newValue.isEmpty { madeUncommon.quietChanges = newValue } }
    }

    /// What the transient attributes that were set since the last save were before; nil for those that had no value.
    var transientsBefore: [String: Any?] {
        get { uncommon?.transientsBefore ?? [:] }
        set { if uncommon != nil || !newValue.isEmpty { madeUncommon.transientsBefore = newValue } }
    }

    /// Transient attributes have the values of the last save again.
    func restoreTransients() {
        for (key, value) in transientsBefore { transients[key] = value }
        transientsBefore = [:]
    }

    /// Transient attributes; nil as `NSNull`.
    var transients: [String: Any] {
        get { uncommon?.transients ?? [:] }
        set { if uncommon != nil || !newValue.isEmpty { madeUncommon.transients = newValue } }
    }

    /// The values of transformable attributes that have been read or set, by slot.
    var transformed: [Int: TransformedValue] {
        get { uncommon?.transformed ?? [:] }
        set { if uncommon != nil || !newValue.isEmpty { madeUncommon.transformed = newValue } }
    }

    /// The results of fetched properties that have been read.
    var fetched: [String: [NSManagedObject]] {
        get { uncommon?.fetched ?? [:] }
        set { if uncommon != nil || !newValue.isEmpty { madeUncommon.fetched = newValue } }
    }

    /// What is observed of the object; nil where nobody does.
    var observation: ObjectObservation? {
        get { uncommon?.observation }
        set { madeUncommon.observation = newValue }
    }

    /// The other ends of to-one relationships, by slot, of an object that was never inserted: there is no key yet to refer to them by.
    var uninsertedTargets: [Int: NSManagedObject] {
        get { uncommon?.uninsertedTargets ?? [:] }
        set { if uncommon != nil || !newValue.isEmpty { madeUncommon.uninsertedTargets = newValue } }
    }

    /// Lets go of the objects in relationships and fetched properties, and of what has changed about them.
    func forgetObjects() {
        forEachToMany { $0.showCommitted() }
        toManys = nil
        fetched = [:]
        prefetched = []
    }

    /// Keeps the target of a to-one relationship, in place of the one that was kept before.
    func hold(_ target: NSManagedObject, _ slot: Int) {
        if let index = prefetched.firstIndex(where: { $0.slot == slot }) {
            prefetched[index].target = target
        } else {
            prefetched.append((slot, target))
        }
    }

    /// Whether releasing this may release objects.
    var holdsObjects: Bool { toManys != nil || uncommon != nil || !prefetched.isEmpty }

    /// Lets go of all that may hold objects: nobody will ask for it any more.
    func forgetEverything() {
        toManys = nil
        uncommon = nil
        prefetched = []
    }

    /// Relationship values between `willChangeValue(forKey:)` and `didChangeValue(forKey:)`.
    var valuesBeforeChange: [String: Any] {
        get { uncommon?.valuesBeforeChange ?? [:] }
        set { if uncommon != nil || !newValue.isEmpty { madeUncommon.valuesBeforeChange = newValue } }
    }
}
