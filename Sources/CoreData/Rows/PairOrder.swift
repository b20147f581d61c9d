/// One order of all pairs of an ordered relationship that is its own inverse, made of the orders that objects have their members in.
///
/// A pair has one position, which counts at both of its ends. It comes behind those that stand before it at either; where objects contradict each other,
/// who was added first is followed.
struct PairOrder {
    private let relationship: NSRelationshipDescription
    private var numbers: [Pair: Int] = [:]
    private var pairs: [(owner: RowReference, member: RowReference)] = []
    /// By number of a pair: those that come next at one of its ends.
    private var followers: [[Int]] = []
    /// By number of a pair: as whose follower it is told.
    private var precedingCounts: [Int] = []
    /// Those that no store has yet.
    private var isNew: [Bool] = []
    /// Whether pairs that a store has need other positions.
    private(set) var isReordered = false

    private struct Pair: Hashable {
        let smaller, larger: RowReference

        init(_ one: RowReference, _ other: RowReference) { (smaller, larger) = one.key < other.key ? (one, other) : (other, one) }
    }

    init(_ relationship: NSRelationshipDescription) { self.relationship = relationship }

    /// - Parameter isReordered: whether new members, if any, are elsewhere than behind the others.
    mutating func add(_ members: [RowReference], of owner: RowReference, isReordered: Bool) {
        if isReordered { self.isReordered = true }
        let added = members.map { number(owner, $0) }
        for (pair, next) in zip(added, added.dropFirst()) {
            followers[pair].append(next)
            precedingCounts[next] += 1
        }
    }

    mutating func addNew(_ members: [RowReference], of owner: RowReference) {
        for member in members { isNew[number(owner, member)] = true }
    }

    private mutating func number(_ owner: RowReference, _ member: RowReference) -> Int {
        let pair = Pair(owner, member)
        if let known = numbers[pair] { return known }
        numbers[pair] = pairs.count
        pairs.append((owner, member))
        followers.append([])
        precedingCounts.append(0)
        isNew.append(false)
        return pairs.count - 1
    }

    /// The pairs that no store has yet, as they are to be added.
    ///
    /// - Complexity: O(n), n the number of members of all objects.
    var links: [ChangeSet.LinkChange] {
        order.filter { isNew[$0] }.map { pair in
            ChangeSet.LinkChange(relationship: relationship, owner: pairs[pair].owner, added: [pairs[pair].member], removed: [])
        }
    }

    /// The position of each pair.
    ///
    /// - Complexity: O(n), n the number of members of all objects.
    var changes: [ChangeSet.PositionChange] {
        order.enumerated().map { place, pair in
            let position = (member: pairs[pair].member, position: OrderKeys.position(ofNew: place))
            return ChangeSet.PositionChange(relationship: relationship, owner: pairs[pair].owner, positions: [position])
        }
    }

    private var order: [Int] {
        var (order, counts, isPlaced) = ([Int](), precedingCounts, [Bool](repeating: false, count: pairs.count))
        func place(_ first: Int) {
            var ready = [first]
            while let pair = ready.popLast() {
                order.append(pair)
                isPlaced[pair] = true
                for next in followers[pair] {
                    counts[next] -= 1
                    if counts[next] == 0, !isPlaced[next] { ready.append(next) }
                }
            }
        }
        for pair in pairs.indices where counts[pair] == 0 && !isPlaced[pair] { place(pair) }
        // What is left goes round in circles.
        for pair in pairs.indices where !isPlaced[pair] { place(pair) }
        return order
    }
}
