/// The positions that a save gives to members of one ordered relationship. Nothing of the relationship has changed before the save is done.
struct AssignedPositions {
    private let positions: MemberPositions
    private let members: MemberList

    /// Finds positions for the members that need one.
    init(to members: MemberList, after known: OrderPositions) {
        var search = PositionSearch(known)
        search.run(members)
        (positions, self.members) = (search.positions, search.members)
    }

    /// Calls `body` with the members that need a position, and others that need none but have moved with them; and with their positions.
    func forEach(_ body: (NSManagedObject, Int64) -> Void) {
        members.forEach { member in
            if let position = positions[member] { body(member, position) }
        }
    }
}

/// The search for as few new positions as possible.
private struct PositionSearch {
    private let known: OrderPositions
    private(set) var positions = MemberPositions()
    private(set) var members = MemberList()

    init(_ known: OrderPositions) { self.known = known }

    mutating func run(_ members: MemberList) {
        if known.isReordered { assignAll(members) } else { assignMoved(in: members) }
    }

    private mutating func assignAll(_ all: MemberList) {
        let list = all.array
        positions = MemberPositions(list, at: OrderKeys.positions(for: list.map { known.saved[$0] }))
        members = all
    }

    private mutating func assignMoved(in members: MemberList) {
        let indexes = known.moved.compactMap(members.index).sorted()
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
            positions[member] = position
            self.members.append(member)
        }
    }

    /// The position that a member has, or will have; nil where it is yet to be found.
    private func position(_ member: NSManagedObject) -> Int64? {
        positions[member] ?? (known.moved.contains(member) ? nil : known.saved[member])
    }
}
