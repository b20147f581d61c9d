import Foundation

/// What one object's to-many relationship holds: the unsaved difference to the store, and the whole once it has been read.
// NB: not checked for exclusive access: it belongs to an object, which is confined to its context's queue, and no access spans a call to
// user code.
final class ToManyContents {
    /// The relationship's index in the owner's shape.
    let index: Int
    /// The contents of the owner's next relationship that has been touched.
    @exclusivity(unchecked) var next: ToManyContents?
    /// All members, or nil while the store's part has not been read.
    @exclusivity(unchecked) private(set) var members: MemberList? { didSet { uncommon?.collection = nil } }
    /// What was put in since the last save. Empty while the owner itself is new: then everything was put in.
    @exclusivity(unchecked) private(set) var added = MemberList()
    @exclusivity(unchecked) private var uncommon: Uncommon?
    /// Whether members were put elsewhere than at the end, so that positions must be written anew.
    @exclusivity(unchecked) private(set) var isReordered = false
    /// Whether the owner has never been saved.
    @exclusivity(unchecked) private(set) var ownerIsNew: Bool
    /// Whether the members but for those added since are in the store at the positions of a new list: most are, and the positions need not
    /// be kept.
    @exclusivity(unchecked) private var hasPositionsOfNewList = false
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
        /// Those among the added and the removed of which the store is known to say so already: the other end, not read, was changed.
        var restated = MemberList()
        /// The order that somebody gave to members that were forgotten since.
        var order: [NSManagedObject] = []
        /// Others that have the owner among their members, as far as anybody knows while the store's part is not read.
        var partners = MemberList()
        /// What the members were replaced by while they could not be read.
        var replacement: MemberList?
        var positions: OrderPositions?
        /// The members as a collection of Foundation's, where somebody has read them as one since they changed.
        var collection: NSObject?
        /// Shows the members to a program; must follow what changes.
        weak var mirror: MutableOrderedSetProxy?
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

    /// What was taken out since the last save.
    var removed: MemberList { uncommon?.removed ?? MemberList() }

    /// Whether members were taken out and put at the end again, as far as anybody knows while the store's part is not read.
    var hasReturned: Bool { isOrdered && !added.isEmpty && uncommon?.removed.array.contains(where: added.contains) == true }

    /// Whether members were put at the end, one after the other, of what the store holds, which is not read.
    var hasUnplacedAdditions: Bool { isOrdered && members == nil && added.count > 1 }

    /// All members, or those that are known without reading.
    var knownMembers: [NSManagedObject] {
        members?.array ?? added.array + (uncommon?.partners.array.filter { !added.contains($0) && !removed.contains($0) } ?? [])
    }

    /// The members as an `NSOrderedSet`, or an `NSSet`. The collection of many is kept until they change: programs ask for it again and again.
    ///
    /// - Precondition: the members are known.
    var collection: NSObject {
        if let kept = uncommon?.collection { return kept }
        let all = knownMembers
        let made = isOrdered ? NSOrderedSet(array: all) : NSSet(array: all)
        if members?.sharedStorage != nil { madeUncommon.collection = made }
        return made
    }

    /// The other end has the owner among its members; for as long as the members have not been read.
    func notePartner(_ object: NSManagedObject) { if members == nil { madeUncommon.partners.append(object) } }
    func isPartner(_ object: NSManagedObject) -> Bool { uncommon?.partners.contains(object) ?? false }
    func forgetPartners() { uncommon?.partners = MemberList() }

    /// The members that there are to be, where those of before could not be read when they were replaced, nor since.
    var replacement: MemberList? { uncommon?.replacement }
    func noteReplacement(_ members: MemberList) { madeUncommon.replacement = members }
    func forgetReplacement() { uncommon?.replacement = nil }
}

/// Changes of members.
extension ToManyContents {
    /// Others have put a member in: the store has it, where all that it had before has been read.
    func noteStored(_ object: NSManagedObject) {
        keepPositions()
        if members?.append(object) == true { uncommon?.mirror?.didAppend(object) }
    }

    /// Adds a member at the end; false where it is known to be in already.
    @discardableResult func add(_ object: NSManagedObject) -> Bool {
        if members?.append(object) == false { return false }
        noteAddition(of: object)
        if let uncommon {
            uncommon.positions?.noteMove(of: object)
            uncommon.mirror?.didAppend(object)
        }
        return true
    }

    /// Puts a member, which is not in, before the one at an index.
    ///
    /// - Precondition: the members are known.
    func insert(_ object: NSManagedObject, at index: Int) {
        if index == members?.count { return _ = add(object) }
        keepPositions()
        members?.insert(object, at: index)
        isReordered = true
        noteAddition(of: object)
        uncommon?.positions?.noteMove(of: object)
        uncommon?.mirror?.didInsert(object, at: index)
    }

    // NB: while the store's part is unknown, so is whether a member taken out was ever in. The edits are kept as they came: a member among
    // both the removed and the added was taken out, then put at the end. `realize` drops the edits that come to nothing.
    private func noteAddition(of object: NSManagedObject) {
        if ownerIsNew { return }
        if members != nil, let uncommon, uncommon.removed.remove(object) {
            // It was in, but not necessarily at the end; unless it was not, and was taken out all the same.
            if uncommon.restated.remove(object) { added.append(object) } else if isOrdered { isReordered = true }
        } else {
            added.append(object)
        }
    }

    /// Takes a member out; false where it is known not to be in.
    @discardableResult func remove(_ object: NSManagedObject) -> Bool {
        keepPositions()
        if !removeKnown(object) { return false }
        let wasAdded = added.remove(object)
        if ownerIsNew || (wasAdded && members != nil && uncommon?.restated.remove(object) != true) { return true }
        // One that was never saved, or that others have deleted, is not in the store's part.
        if !object.state.isDisjoint(with: [.inserted, .rowGone]) { return wasAdded }
        madeUncommon.removed.append(object)
        return true
    }

    /// False where it is known not to be in.
    private func removeKnown(_ object: NSManagedObject) -> Bool {
        guard let uncommon else { return members?.remove(object) != false }
        let index = uncommon.mirror == nil ? nil : members?.index(of: object)
        if members?.remove(object) == false { return false }
        uncommon.positions?.noteRemoval(of: object)
        if let index { uncommon.mirror?.didRemove(at: index) }
        return true
    }

    /// Saves that a member is in, or is not, although that is what is known; false where it is saved already.
    func restate(_ object: NSManagedObject, isIn: Bool) -> Bool {
        guard !ownerIsNew, !(isIn ? added : removed).contains(object) else { return false }
        keepPositions()
        madeUncommon.restated.append(object)
        if isIn {
            added.append(object)
            uncommon?.positions?.noteMove(of: object)
        } else {
            madeUncommon.removed.append(object)
        }
        return true
    }

    /// A member is gone from the store: no difference to it remains.
    func forget(_ object: NSManagedObject) {
        keepPositions()
        _ = removeKnown(object)
        added.remove(object)
        uncommon?.removed.remove(object)
        uncommon?.restated.remove(object)
        uncommon?.positions?.forget(object)
    }

    /// Puts a member to another index.
    ///
    /// - Precondition: it is in; the members are known.
    func move(_ object: NSManagedObject, to index: Int) {
        guard let old = members?.index(of: object), old != index else { return }
        keepPositions()
        members?.remove(object)
        members?.insert(object, at: index)
        isReordered = true
        guard let uncommon else { return }
        uncommon.positions?.noteMove(of: object)
        uncommon.mirror?.didRemove(at: old)
        uncommon.mirror?.didInsert(object, at: index)
    }

    /// Nothing about a member is to be saved any more: what the store holds counts again.
    func dropEdit(of object: NSManagedObject) {
        keepPositions()
        if ownerIsNew { _ = removeKnown(object) }
        added.remove(object)
        uncommon?.removed.remove(object)
        forgetStored()
    }

    /// Nothing is to be saved any more.
    func dropEdits() {
        (added, isReordered) = (MemberList(), false)
        if let uncommon { (uncommon.removed, uncommon.order, uncommon.replacement) = (MemberList(), [], nil) }
        forgetStored()
    }

    /// Nothing is to be saved of an order that was given to the members.
    func dropOrder() {
        isReordered = false
        if let uncommon { uncommon.order = [] }
        forgetStored()
    }

    /// Puts the members in another order.
    func reorder(_ objects: [NSManagedObject]) {
        keepPositions()
        members = MemberList(objects)
        isReordered = true
        uncommon?.positions?.noteReordering()
        uncommon?.mirror?.mirror(self)
    }
}

/// What the store holds.
extension ToManyContents {
    /// Forgets what the store held; the unsaved difference stays.
    func forgetStored() {
        guard !ownerIsNew, let known = members else { return }
        if isReordered { madeUncommon.order = known.array }
        members = nil
        hasPositionsOfNewList = false
        guard let uncommon else { return }
        uncommon.restated = MemberList()
        uncommon.positions = nil
        uncommon.mirror?.membersAreUnknown()
    }

    /// Takes what the store holds, under the unsaved difference; with the positions, where there are any.
    ///
    /// - Returns: the members whose edits have come to nothing by that.
    @discardableResult func realize(_ stored: [NSManagedObject], at positions: [Int64?] = []) -> [NSManagedObject] {
        forgetPartners()
        hasPositionsOfNewList = false
        let isEdited = !added.isEmpty || !removed.isEmpty
        members = MemberList(isEdited ? stored.filter { !removed.contains($0) } + added.array : stored)
        if positions.contains(where: { $0 != nil }) {
            madeUncommon.positions = OrderPositions(of: stored, at: positions, added: added)
        } else {
            uncommon?.positions = nil
        }
        let vain = isEdited ? dropEdits(provenBy: MemberList(stored)) : []
        restoreOrder()
        uncommon?.mirror?.mirror(self)
        return vain
    }

    /// Drops the edits that come to nothing, now that it is known what the store holds.
    private func dropEdits(provenBy known: MemberList) -> [NSManagedObject] {
        let (vainlyAdded, vainlyRemoved) = (added.array.filter(known.contains), removed.array.filter { !known.contains($0) })
        for object in vainlyAdded {
            added.remove(object)
            if uncommon?.removed.remove(object) == true, isOrdered { isReordered = true }
        }
        for object in vainlyRemoved { uncommon?.removed.remove(object) }
        return vainlyAdded + vainlyRemoved
    }

    /// The other end of a member has been read, and says what was restated here for its sake: nothing of that is to be saved.
    func takeBackRestatement(of object: NSManagedObject) {
        if uncommon?.restated.remove(object) == true { dropEdit(of: object) }
    }

    /// The order that was given to the members before they were forgotten.
    private func restoreOrder() {
        guard let uncommon, !uncommon.order.isEmpty, let found = members else { return }
        let asked = MemberList(uncommon.order)
        members = MemberList(uncommon.order.filter(found.contains) + found.array.filter { !asked.contains($0) })
        uncommon.order = []
        uncommon.positions?.noteReordering()
    }

    /// The members as of the last save, in the order of then, where they have been read.
    var committed: [NSManagedObject]? {
        if ownerIsNew { return [] }
        let restated = uncommon?.restated ?? MemberList()
        let known = members.map { members in
            members.array.filter { !added.contains($0) || restated.contains($0) } + removed.array.filter { !restated.contains($0) }
        }
        guard let positions = uncommon?.positions?.saved else { return known }
        return known?.sorted { positions[$0] ?? .max < positions[$1] ?? .max }
    }

    /// The difference is in the store now.
    func didSave() {
        if let uncommon {
            let isRenewed = hasPositionsOfNewList || (hasChanges && uncommon.positions?.didSave(without: uncommon.removed) == false)
            if isRenewed { uncommon.positions = nil }
            (uncommon.removed, uncommon.restated, uncommon.order) = (MemberList(), MemberList(), [])
        }
        if !added.isEmpty { added = MemberList() }
        (isReordered, ownerIsNew) = (false, false)
    }
}

/// Positions in the store.
extension ToManyContents {
    /// What a save is about to know of the positions.
    enum NewPositions {
        /// Those of a new list.
        case ofNewList
        case some(AssignedPositions)
        /// Nothing else than before.
        case unchanged
    }

    /// Calls `body` with the members that a save must give a position, and others that need none but have moved with them.
    ///
    /// - Complexity: O(n) for a list that is new, or was put in another order as a whole; else O(m log m), m the number of members that
    ///   were put in or moved.
    ///
    /// - Parameter body: with a member, its position, and whether the store has it there already. It must not use these contents.
    /// - Returns: for `note(_:)`, once these are in the store.
    func newPositions(_ body: (NSManagedObject, Int64, Bool) -> Void) -> NewPositions {
        guard let members else { return .unchanged }
        if hasPositionsOfNewList {
            // Only appended to since, or the positions would be kept one by one.
            number(added, from: members.count - added.count, body)
            return .unchanged
        }
        guard let known = uncommon?.positions else {
            number(members, from: 0, body)
            return .ofNewList
        }
        let assigned = AssignedPositions(to: members, after: known)
        assigned.forEach { body($0, $1, known.saved[$0] == $1) }
        return .some(assigned)
    }

    /// A save has given these positions; `didSave()` follows.
    func note(_ new: NewPositions) {
        switch new {
        case .ofNewList: hasPositionsOfNewList = true
        case .some(let assigned): uncommon?.positions?.note(assigned)
        case .unchanged: break
        }
    }

    private func number(_ list: MemberList, from start: Int, _ body: (NSManagedObject, Int64, Bool) -> Void) {
        var index = start
        list.forEach { member in
            body(member, OrderKeys.position(ofNew: index), false)
            index += 1
        }
    }

    /// The members are about to be others than those that the positions follow from.
    @inline(__always) private func keepPositions() {
        if hasPositionsOfNewList { makePositions() }
    }

    private func makePositions() {
        hasPositionsOfNewList = false
        guard let members else { return }
        madeUncommon.positions = OrderPositions(ofNew: members, added: added)
    }
}

/// The ordered set that shows the members.
extension ToManyContents {
    var mirror: MutableOrderedSetProxy? {
        get { uncommon?.mirror }
        set { madeUncommon.mirror = newValue }
    }

    /// These contents are given up: until somebody asks what counts instead, the ordered set shows what was committed.
    func showCommitted() {
        guard let mirror = uncommon?.mirror else { return }
        if let committed { mirror.show(committed) } else { mirror.membersAreUnknown() }
    }

    /// Changes many members at once: the mirror follows when all is done.
    func change(_ body: () -> Void) {
        uncommon?.mirror?.membersAreUnknown()
        body()
        uncommon?.mirror?.mirror(self)
    }
}
