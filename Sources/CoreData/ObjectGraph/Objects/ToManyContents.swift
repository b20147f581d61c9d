/// What one object's to-many relationship holds: the unsaved difference to the store, and the whole once it has been read.
// NB: not checked for exclusive access: it belongs to an object, which is confined to its context's queue, and no access spans a call to
// user code.
final class ToManyContents {
    /// The relationship's index in the owner's shape.
    let index: Int
    /// The contents of the owner's next relationship that has been touched.
    @exclusivity(unchecked) var next: ToManyContents?
    /// All members, or nil while the store's part has not been read.
    @exclusivity(unchecked) private(set) var members: MemberList?
    /// What was put in since the last save. Empty while the owner itself is new: then everything was put in.
    @exclusivity(unchecked) private(set) var added = MemberList()
    @exclusivity(unchecked) private var rarities: Rarities?
    /// Whether members were put elsewhere than at the end, so that places must be written anew.
    @exclusivity(unchecked) private(set) var isReordered = false
    /// Whether the owner has never been saved.
    @exclusivity(unchecked) private(set) var ownerIsNew: Bool
    /// Whether the members are in the store at the places of a new list: most are, and the places need not be kept.
    @exclusivity(unchecked) private var isPlacedAsNew = false
    /// Whether the save under way puts them there.
    @exclusivity(unchecked) private var willBePlacedAsNew = false
    private let isOrdered: Bool

    init(_ index: Int, ownerIsNew: Bool, isOrdered: Bool) {
        self.index = index
        self.ownerIsNew = ownerIsNew
        self.isOrdered = isOrdered
        if ownerIsNew { members = MemberList() }
    }

    /// What few relationships need.
    private final class Rarities {
        var removed = MemberList()
        var places: MemberPlaces?
        var newPlaces: MemberPlaces?
        var order: [NSManagedObject] = []
    }

    private var madeRarities: Rarities {
        if let rarities { return rarities }
        let made = Rarities()
        rarities = made
        return made
    }

    var hasChanges: Bool {
        isReordered || !added.isEmpty || (ownerIsNew && members?.isEmpty == false) || rarities?.removed.isEmpty == false
    }

    /// Adds a member at the end; false where it is known to be in already.
    @discardableResult func add(_ object: NSManagedObject) -> Bool {
        keepPlaces()
        if members?.append(object) == false { return false }
        noteAddition(of: object)
        return true
    }

    func insert(_ object: NSManagedObject, at position: Int) {
        keepPlaces()
        members?.insert(object, at: position)
        isReordered = true
        noteAddition(of: object)
    }

    // NB: while the store's part is unknown, so is whether a member taken out was ever in. The edits are kept as they came: a member among
    // both the removed and the added was taken out, then put at the end. `realize` drops the edits that come to nothing.
    private func noteAddition(of object: NSManagedObject) {
        if ownerIsNew { return }
        if members != nil, let rarities, rarities.removed.remove(object) {
            // It was in, but not necessarily at the end.
            if isOrdered { isReordered = true }
        } else {
            added.append(object)
        }
    }

    /// Takes a member out; false where it is known not to be in.
    @discardableResult func remove(_ object: NSManagedObject) -> Bool {
        keepPlaces()
        if members?.remove(object) == false { return false }
        let wasAdded = added.remove(object)
        if ownerIsNew || (wasAdded && members != nil) { return true }
        // One that was never saved is not in the store's part.
        if object.state.contains(.inserted) { return wasAdded }
        madeRarities.removed.append(object)
        return true
    }

    /// A member is gone from the store: no difference to it remains.
    func forget(_ object: NSManagedObject) {
        keepPlaces()
        members?.remove(object)
        added.remove(object)
        rarities?.removed.remove(object)
    }

    /// Puts the members in another order.
    func reorder(_ objects: [NSManagedObject]) {
        keepPlaces()
        members = MemberList(objects)
        isReordered = true
    }

    /// Forgets what the store held; the unsaved difference stays.
    func forgetStored() {
        guard !ownerIsNew, let known = members else { return }
        if isReordered { madeRarities.order = known.array }
        members = nil
        places = nil
    }

    /// Takes what the store holds, under the unsaved difference.
    func realize(_ stored: [NSManagedObject]) {
        let known = MemberList(stored)
        members = MemberList(stored.filter { !removed.contains($0) } + added.array)
        for object in added.array where known.contains(object) {
            added.remove(object)
            if rarities?.removed.remove(object) == true, isOrdered { isReordered = true }
        }
        for object in removed.array where !known.contains(object) { rarities?.removed.remove(object) }
        guard let rarities, !rarities.order.isEmpty, let found = members else { return }
        let asked = MemberList(rarities.order)
        members = MemberList(rarities.order.filter(found.contains) + found.array.filter { !asked.contains($0) })
        rarities.order = []
    }

    /// The members as of the last save, in the order of then, where they have been read.
    var committed: [NSManagedObject]? {
        if ownerIsNew { return [] }
        let known = members.map { $0.array.filter { !added.contains($0) } + removed.array }
        guard let places else { return known }
        return known?.sorted { places[$0] ?? .max < places[$1] ?? .max }
    }

    /// The difference is in the store now.
    func didSave() {
        if !added.isEmpty { added = MemberList() }
        (isReordered, ownerIsNew) = (false, false)
        if willBePlacedAsNew { (isPlacedAsNew, willBePlacedAsNew) = (true, false) }
        guard let rarities else { return }
        (rarities.removed, rarities.order) = (MemberList(), [])
        if isPlacedAsNew { rarities.places = nil } else if let new = rarities.newPlaces { rarities.places = new }
        rarities.newPlaces = nil
    }
}

extension ToManyContents {
    /// What was taken out since the last save.
    var removed: MemberList { rarities?.removed ?? MemberList() }

    /// The places of the members in the store; nil but for ordered relationships that have been read or saved.
    var places: MemberPlaces? {
        get { isPlacedAsNew ? members.map(MemberPlaces.init(ofNew:)) : rarities?.places }
        set {
            isPlacedAsNew = false
            if rarities != nil || newValue != nil { madeRarities.places = newValue }
        }
    }

    /// The save under way writes these places; nil stands for those of a new list.
    func willSave(at places: MemberPlaces?) {
        willBePlacedAsNew = places == nil
        if rarities != nil || places != nil { madeRarities.newPlaces = places }
    }

    /// The members are about to be others than those that the places follow from.
    @inline(__always) private func keepPlaces() {
        willBePlacedAsNew = false
        if isPlacedAsNew { places = places }
    }
}
