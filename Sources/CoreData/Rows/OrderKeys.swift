/// Positions for the members of an ordered relationship: numbers that ascend with the order, as few of them new as possible.
enum OrderKeys {
    static let spacing: Int64 = 1024

    /// The position of each member, given the one it has so far. Members without one, or out of order, get one between their neighbours;
    /// where there is no room, all get new ones.
    ///
    /// - Complexity: O(n log n).
    static func positions(for current: [Int64?]) -> [Int64] {
        guard current.contains(where: { $0 != nil }) else { return positions(forNew: current.count) }
        var positions = current
        let kept = longestAscending(current)
        for index in positions.indices where !kept.contains(index) { positions[index] = nil }
        guard fillGaps(&positions) else { return Self.positions(forNew: current.count) }
        return positions.compactMap { $0 }
    }

    /// The positions of so many members that have none yet.
    static func positions(forNew count: Int) -> [Int64] { (0..<count).map(position(ofNew:)) }

    /// The position of one of those.
    @inline(__always) static func position(ofNew index: Int) -> Int64 { spacing * Int64(index + 2) }

    /// How far apart the positions of a run of members between two neighbours are; nil where there is no room. Nothing limits what comes
    /// last.
    static func step(of count: Int, between before: Int64, and after: Int64?) -> Int64? {
        guard let after else { return before > .max - spacing * Int64(count + 1) ? nil : spacing }
        guard after > before else { return nil }
        let (gap, isHuge) = after.subtractingReportingOverflow(before)
        let step = (isHuge ? .max : gap) / Int64(count + 1)
        return step < 1 ? nil : step
    }

    /// Fills each run of missing positions evenly between its neighbours; false where one has no room.
    private static func fillGaps(_ positions: inout [Int64?]) -> Bool {
        var index = 0
        while index < positions.count {
            guard positions[index] == nil else { index += 1; continue }
            let end = positions[index...].firstIndex { $0 != nil } ?? positions.count
            let before = index > 0 ? positions[index - 1] ?? spacing : spacing
            guard let step = step(of: end - index, between: before, and: end < positions.count ? positions[end] : nil) else { return false }
            for offset in 0..<end - index { positions[index + offset] = before + step * Int64(offset + 1) }
            index = end
        }
        return true
    }

    /// The indexes of a longest strictly ascending subsequence of the positions there are.
    private static func longestAscending(_ positions: [Int64?]) -> Set<Int> {
        // tails[k]: the index that ends the best run of length k + 1; previous[i]: what comes before i in its run.
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: positions.count)
        for (index, position) in positions.enumerated() {
            guard let position else { continue }
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                if positions[tails[middle]] ?? 0 < position { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var kept: Set<Int> = []
        var next = tails.last ?? -1
        while next >= 0 {
            kept.insert(next)
            next = previous[next]
        }
        return kept
    }
}
