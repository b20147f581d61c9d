/// The positions of an ordered relationship's members in the store, and which of them the next save has to give one.
///
/// Every member that needs none has a saved position, and these ascend with the order.
struct OrderPositions {
    /// As of the last save.
    private(set) var saved: MemberPositions
    /// Members that were put in or moved since, in no order.
    private(set) var moved: MemberList
    /// Whether all members were put in another order.
    private(set) var isReordered = false

    init(ofNew members: MemberList, added: MemberList) {
        saved = MemberPositions(ofNew: members, count: members.count - added.count)
        moved = added
    }

    /// The positions as they were read, which may be missing, and twice the same in a file that others wrote.
    init(of stored: [NSManagedObject], at positions: [Int64?], added: MemberList) {
        var last = Int64.min
        var known: [(member: NSManagedObject, position: Int64)] = []
        known.reserveCapacity(stored.count)
        moved = added
        for (member, position) in zip(stored, positions) {
            guard let position, position > last else {
                moved.append(member)
                continue
            }
            last = position
            known.append((member, position))
        }
        saved = MemberPositions(known.map(\.member), at: known.map(\.position))
    }

    mutating func noteMove(of member: NSManagedObject) { moved.append(member) }

    mutating func noteRemoval(of member: NSManagedObject) { moved.remove(member) }

    mutating func forget(_ member: NSManagedObject) { saved[member] = nil }

    mutating func noteReordering() { isReordered = true }

    /// A save has given these positions.
    mutating func note(_ assigned: AssignedPositions) {
        assigned.forEach { saved[$0] = $1 }
        (moved, isReordered) = (MemberList(), false)
    }

    /// The members are in the store. False where some have positions there that nobody knows.
    mutating func didSave(without removed: MemberList) -> Bool {
        guard moved.isEmpty, !isReordered else { return false }
        removed.forEach { saved[$0] = nil }
        return true
    }
}
