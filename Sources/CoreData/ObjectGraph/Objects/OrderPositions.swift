/// The positions of an ordered relationship's members in the store, and which of them the next save has to give one.
///
/// Every member that needs none has a saved position, and these ascend with the order.
struct OrderPositions {
    /// As of the last save.
    private(set) var saved: MemberPositions
    /// Members that were put in or moved since, in no order.
    private var moved: MemberList
    /// Whether all members were put in another order.
    private var isReordered = false
    /// What the save under way writes.
    private var assigned = MemberPositions()
    private var assignedMembers = MemberList()

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

    mutating func noteMove(of member: NSManagedObject) {
        moved.append(member)
        forgetAssigned()
    }

    mutating func noteRemoval(of member: NSManagedObject) {
        moved.remove(member)
        forgetAssigned()
    }

    mutating func forget(_ member: NSManagedObject) { saved[member] = nil }

    mutating func noteReordering() {
        isReordered = true
        forgetAssigned()
    }

    private mutating func forgetAssigned() {
        if !assignedMembers.isEmpty { (assigned, assignedMembers) = (MemberPositions(), MemberList()) }
    }

    /// The positions are in the store. False where none were assigned: then nobody knows any.
    mutating func didSave(without removed: MemberList) -> Bool {
        guard !assignedMembers.isEmpty || (moved.isEmpty && !isReordered) else { return false }
        removed.forEach { saved[$0] = nil }
        assignedMembers.forEach { saved[$0] = assigned[$0] }
        forgetAssigned()
        (moved, isReordered) = (MemberList(), false)
        return true
    }
}

/// A save.
extension OrderPositions {
    /// Finds positions for the members that need one, and calls `body` with them.
    ///
    /// - Parameter body: with a member, its position, and whether the store has it there already.
    mutating func assign(to members: MemberList, _ body: (NSManagedObject, Int64, Bool) -> Void) {
        forgetAssigned()
        if isReordered { assignAll(members) } else { assignMoved(in: members) }
        assignedMembers.forEach { member in
            if let position = assigned[member] { body(member, position, saved[member] == position) }
        }
    }

    /// As few new positions as possible.
    private mutating func assignAll(_ members: MemberList) {
        let all = members.array
        assigned = MemberPositions(all, at: OrderKeys.positions(for: all.map { saved[$0] }))
        assignedMembers = members
    }

    private mutating func assignMoved(in members: MemberList) {
        let indexes = moved.compactMap(members.index).sorted()
        var next = 0
        while next < indexes.count {
            let first = next
            while next + 1 < indexes.count, indexes[next + 1] == indexes[next] + 1 { next += 1 }
            assign(indexes[first]..<indexes[next] + 1, members)
            next += 1
        }
    }

    /// Gives positions to a run of members; and to neighbours, where there is no room between them.
    ///
    /// NB: the more neighbours it takes, the more room they must get, or the next insertion here would take as many again.
    private mutating func assign(_ run: Range<Int>, _ members: MemberList) {
        var (low, high, width, required) = (run.lowerBound, run.upperBound, 1, Int64(1))
        while true {
            // Neighbours whose own turn is still to come say nothing.
            while low > 0, position(members[low - 1]) == nil { low -= 1 }
            while high < members.count, position(members[high]) == nil { high += 1 }
            let before = low > 0 ? position(members[low - 1]) ?? OrderKeys.spacing : OrderKeys.spacing
            let after = high < members.count ? position(members[high]) : nil
            let step = OrderKeys.step(of: high - low, between: before, and: after)
            if let step, step >= required { return number(low..<high, members, from: before, by: step) }
            if low == 0, high == members.count { return number(low..<high, members, from: OrderKeys.spacing, by: OrderKeys.spacing) }
            (low, high) = (max(0, low - width), min(members.count, high + width))
            width *= 2
            required = min(Int64(width), OrderKeys.spacing / 2)
        }
    }

    private mutating func number(_ run: Range<Int>, _ members: MemberList, from start: Int64, by step: Int64) {
        var position = start
        for index in run {
            position += step
            let member = members[index]
            assigned[member] = position
            assignedMembers.append(member)
        }
    }

    /// The position that a member has, or will have; nil where it is yet to be found.
    private func position(_ member: NSManagedObject) -> Int64? {
        assigned[member] ?? (moved.contains(member) ? nil : saved[member])
    }
}
