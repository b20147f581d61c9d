/// Places for the members of an ordered relationship: numbers that ascend with the order, as few of them new as possible.
enum OrderKeys {
    static let spacing: Int64 = 1024

    /// The place of each member, given the one it has so far. Members without one, or out of order, get one between their neighbours;
    /// where there is no room, all get new ones.
    ///
    /// - Complexity: O(n log n).
    static func places(for current: [Int64?]) -> [Int64] {
        guard current.contains(where: { $0 != nil }) else { return places(forNew: current.count) }
        var places = current
        let kept = longestAscending(current)
        for index in places.indices where !kept.contains(index) { places[index] = nil }
        guard fillGaps(&places) else { return Self.places(forNew: current.count) }
        return places.compactMap { $0 }
    }

    /// The places of so many members that have none yet.
    static func places(forNew count: Int) -> [Int64] { (0..<count).map(place(ofNew:)) }

    /// The place of one of those.
    @inline(__always) static func place(ofNew position: Int) -> Int64 { spacing * Int64(position + 2) }

    /// Fills each run of missing places evenly between its neighbours; false where one has no room.
    private static func fillGaps(_ places: inout [Int64?]) -> Bool {
        var index = 0
        while index < places.count {
            guard places[index] == nil else { index += 1; continue }
            let end = places[index...].firstIndex { $0 != nil } ?? places.count
            let before = index > 0 ? places[index - 1] ?? spacing : spacing
            let missing = Int64(end - index)
            let step = end < places.count ? ((places[end] ?? 0) - before) / (missing + 1) : spacing
            if step < 1 || before > .max - step * (missing + 1) { return false }
            for offset in 0..<Int(missing) { places[index + offset] = before + step * Int64(offset + 1) }
            index = end
        }
        return true
    }

    /// The indexes of a longest strictly ascending subsequence of the places there are.
    private static func longestAscending(_ places: [Int64?]) -> Set<Int> {
        // tails[k]: the index that ends the best run of length k + 1; previous[i]: what comes before i in its run.
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: places.count)
        for (index, place) in places.enumerated() {
            guard let place else { continue }
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                if places[tails[middle]] ?? 0 < place { low = middle + 1 } else { high = middle }
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
