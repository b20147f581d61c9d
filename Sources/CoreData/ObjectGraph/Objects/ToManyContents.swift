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
    @exclusivity(unchecked) private var uncommon: Uncommon?
    /// Whether members were put elsewhere than at the end, so that positions must be written anew.
    @exclusivity(unchecked) private(set) var isReordered = false
    /// Whether the owner has never been saved.
    @exclusivity(unchecked) private(set) var ownerIsNew: Bool
    /// Whether the members are in the store at the positions of a new list: most are, and the positions need not be kept.
    @exclusivity(unchecked) private var hasPositionsOfNewList = false
    /// Whether the save under way puts them there.
    @exclusivity(unchecked) private var willHavePositionsOfNewList = false
    private let isOrdered: Bool

    init(_ index: Int, ownerIsNew: Bool, isOrdered: Bool) {
        self.index = index
        self.ownerIsNew = ownerIsNew
        self.isOrdered = isOrdered
        if ownerIsNew { members = MemberList() }
    }

    /// What few relationships need.
    private final class Uncommon {
        var removed = MemberList()
        var positions: MemberPositions?
        var newPositions: MemberPositions?
        var order: [NSManagedObject] = []
    }

    private var madeUncommon: Uncommon {
        if let uncommon { return uncommon }
        let made = Uncommon()
        uncommon = made
        return made
    }

    var hasChanges: Bool {
        isReordered || !added.isEmpty || (ownerIsNew && members?.isEmpty == false) || uncommon?.removed.isEmpty == false
    }

    /// Adds a member at the end; false where it is known to be in already.
    @discardableResult func add(_ object: NSManagedObject) -> Bool {
        keepPositions()
        if members?.append(object) == false { return false }
        noteAddition(of: object)
        return true
    }

    func insert(_ object: NSManagedObject, at index: Int) {
        keepPositions()
        members?.insert(object, at: index)
        isReordered = true
        noteAddition(of: object)
    }

    // NB: while the store's part is unknown, so is whether a member taken out was ever in. The edits are kept as they came: a member among
    // both the removed and the added was taken out, then put at the end. `realize` drops the edits that come to nothing.
    private func noteAddition(of object: NSManagedObject) {
        if ownerIsNew { return }
        if members != nil, let uncommon, uncommon.removed.remove(object) {
            // It was in, but not necessarily at the end.
            if isOrdered { isReordered = true }
        } else {
            added.append(object)
        }
    }

    /// Takes a member out; false where it is known not to be in.
    @discardableResult func remove(_ object: NSManagedObject) -> Bool {
        keepPositions()
        if members?.remove(object) == false { return false }
        let wasAdded = added.remove(object)
        if ownerIsNew || (wasAdded && members != nil) { return true }
        // One that was never saved, or that others have deleted, is not in the store's part.
        if !object.state.isDisjoint(with: [.inserted, .rowGone]) { return wasAdded }
        madeUncommon.removed.append(object)
        return true
    }

    /// Nothing about a member is to be saved any more: what the store holds counts again.
    func dropEdit(of object: NSManagedObject) {
        keepPositions()
        if ownerIsNew { members?.remove(object) }
        added.remove(object)
        uncommon?.removed.remove(object)
        forgetStored()
    }

    /// Puts the members in another order.
    func reorder(_ objects: [NSManagedObject]) {
        keepPositions()
        members = MemberList(objects)
        isReordered = true
    }

    /// Forgets what the store held; the unsaved difference stays.
    func forgetStored() {
        guard !ownerIsNew, let known = members else { return }
        if isReordered { madeUncommon.order = known.array }
        members = nil
        positions = nil
    }

    /// Takes what the store holds, under the unsaved difference.
    func realize(_ stored: [NSManagedObject]) {
        let known = MemberList(stored)
        members = MemberList(stored.filter { !removed.contains($0) } + added.array)
        for object in added.array where known.contains(object) {
            added.remove(object)
            if uncommon?.removed.remove(object) == true, isOrdered { isReordered = true }
        }
        for object in removed.array where !known.contains(object) { uncommon?.removed.remove(object) }
        guard let uncommon, !uncommon.order.isEmpty, let found = members else { return }
        let asked = MemberList(uncommon.order)
        members = MemberList(uncommon.order.filter(found.contains) + found.array.filter { !asked.contains($0) })
        uncommon.order = []
    }

    /// The members as of the last save, in the order of then, where they have been read.
    var committed: [NSManagedObject]? {
        if ownerIsNew { return [] }
        let known = members.map { $0.array.filter { !added.contains($0) } + removed.array }
        guard let positions else { return known }
        return known?.sorted { positions[$0] ?? .max < positions[$1] ?? .max }
    }

    /// The difference is in the store now.
    func didSave() {
        if !added.isEmpty { added = MemberList() }
        (isReordered, ownerIsNew) = (false, false)
        if willHavePositionsOfNewList { (hasPositionsOfNewList, willHavePositionsOfNewList) = (true, false) }
        guard let uncommon else { return }
        (uncommon.removed, uncommon.order) = (MemberList(), [])
        if hasPositionsOfNewList { uncommon.positions = nil } else if let new = uncommon.newPositions { uncommon.positions = new }
        uncommon.newPositions = nil
    }
}

extension ToManyContents {
    /// What was taken out since the last save.
    var removed: MemberList { uncommon?.removed ?? MemberList() }

    /// The positions of the members in the store; nil but for ordered relationships that have been read or saved.
    var positions: MemberPositions? {
        get { hasPositionsOfNewList ? members.map(MemberPositions.init(ofNew:)) : uncommon?.positions }
        set {
            hasPositionsOfNewList = false
            if uncommon != nil || newValue != nil { madeUncommon.positions = newValue }
        }
    }

    /// The save under way writes these positions; nil stands for those of a new list.
    func willSave(at positions: MemberPositions?) {
        willHavePositionsOfNewList = positions == nil
        if uncommon != nil || positions != nil { madeUncommon.newPositions = positions }
    }

    /// The members are about to be others than those that the positions follow from.
    @inline(__always) private func keepPositions() {
        willHavePositionsOfNewList = false
        if hasPositionsOfNewList { positions = positions }
    }
}
