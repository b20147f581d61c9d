/// What one object's to-many relationship holds: the unsaved difference to the store, and the whole once it has been read.
// NB: not checked for exclusive access: it belongs to an object, which is confined to its context's queue, and no access spans a call to
// user code.
final class ToManyContents {
    /// All members, or nil while the store's part has not been read.
    @exclusivity(unchecked) var members: MemberList?
    /// What was put in and taken out since the last save. Empty while the owner itself is new: then everything was put in.
    @exclusivity(unchecked) var added = MemberList()
    @exclusivity(unchecked) var removed = MemberList()
    /// Whether members were put elsewhere than at the end, so that places must be written anew.
    @exclusivity(unchecked) var isReordered = false
    /// The places of the members in the store; nil but for ordered relationships that have been read or saved.
    @exclusivity(unchecked) var places: MemberPlaces?
    /// The places that the save under way writes.
    @exclusivity(unchecked) var newPlaces: MemberPlaces?
    /// Whether the owner has never been saved.
    @exclusivity(unchecked) var ownerIsNew: Bool
    /// The order that was given to members which were forgotten since.
    @exclusivity(unchecked) private var order: [NSManagedObject] = []
    private let isOrdered: Bool

    init(ownerIsNew: Bool, isOrdered: Bool) {
        self.ownerIsNew = ownerIsNew
        self.isOrdered = isOrdered
        if ownerIsNew { members = MemberList() }
    }

    var hasChanges: Bool { isReordered || !added.isEmpty || !removed.isEmpty || (ownerIsNew && members?.isEmpty == false) }

    /// Adds a member at the end; false where it is known to be in already.
    @discardableResult func add(_ object: NSManagedObject) -> Bool {
        if members?.append(object) == false { return false }
        noteAddition(of: object)
        return true
    }

    func insert(_ object: NSManagedObject, at position: Int) {
        members?.insert(object, at: position)
        isReordered = true
        noteAddition(of: object)
    }

    // NB: while the store's part is unknown, so is whether a member taken out was ever in. The edits are kept as they came: a member among
    // both the removed and the added was taken out, then put at the end. `realize` drops the edits that come to nothing.
    private func noteAddition(of object: NSManagedObject) {
        if ownerIsNew { return }
        if members != nil, removed.remove(object) {
            // It was in, but not necessarily at the end.
            if isOrdered { isReordered = true }
        } else {
            added.append(object)
        }
    }

    /// Takes a member out; false where it is known not to be in.
    @discardableResult func remove(_ object: NSManagedObject) -> Bool {
        if members?.remove(object) == false { return false }
        let wasAdded = added.remove(object)
        if ownerIsNew || (wasAdded && members != nil) { return true }
        // One that was never saved is not in the store's part.
        if object.state.contains(.inserted) { return wasAdded }
        removed.append(object)
        return true
    }

    /// A member is gone from the store: no difference to it remains.
    func forget(_ object: NSManagedObject) {
        members?.remove(object)
        added.remove(object)
        removed.remove(object)
    }

    /// Puts the members in another order.
    func reorder(_ objects: [NSManagedObject]) {
        members = MemberList(objects)
        isReordered = true
    }

    /// Forgets what the store held; the unsaved difference stays.
    func forgetStored() {
        guard !ownerIsNew, let known = members else { return }
        if isReordered { order = known.array }
        (members, places) = (nil, nil)
    }

    /// Takes what the store holds, under the unsaved difference.
    func realize(_ stored: [NSManagedObject]) {
        let known = MemberList(stored)
        members = MemberList(stored.filter { !removed.contains($0) } + added.array)
        for object in added.array where known.contains(object) {
            added.remove(object)
            if removed.remove(object), isOrdered { isReordered = true }
        }
        for object in removed.array where !known.contains(object) { removed.remove(object) }
        guard !order.isEmpty, let found = members else { return }
        let asked = MemberList(order)
        members = MemberList(order.filter(found.contains) + found.array.filter { !asked.contains($0) })
        order = []
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
        (added, removed) = (MemberList(), MemberList())
        (isReordered, ownerIsNew, order) = (false, false, [])
        if let newPlaces { places = newPlaces }
        newPlaces = nil
    }
}
