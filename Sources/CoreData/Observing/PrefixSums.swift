/// Counts in order, and how many come before each: a change of one count, a sum and the search for a place take O(log n).
struct PrefixSums {
    private(set) var counts: [Int]
    /// By index, of a Fenwick tree: the sum of as many counts, up to the index, as the lowest bit of the index plus one says.
    private var tree: [Int]

    init(_ counts: [Int] = []) {
        (self.counts, tree) = (counts, counts)
        for index in tree.indices {
            let parent = index | (index + 1)
            if parent < tree.count { tree[parent] += tree[index] }
        }
    }

    mutating func add(_ difference: Int, at index: Int) {
        counts[index] += difference
        var next = index
        while next < tree.count {
            tree[next] += difference
            next |= next + 1
        }
    }

    /// The sum of the counts before an index.
    func sum(before index: Int) -> Int {
        var (sum, next) = (0, index)
        while next > 0 {
            sum += tree[next - 1]
            next &= next - 1
        }
        return sum
    }

    /// The index of the count that a place falls into: the last one of which the sum before is not greater.
    func index(ofPlace place: Int) -> Int {
        var (found, rest) = (0, place)
        var step = tree.isEmpty ? 0 : 1 << (Int.bitWidth - 1 - tree.count.leadingZeroBitCount)
        while step > 0 {
            if found + step <= tree.count, tree[found + step - 1] <= rest {
                found += step
                rest -= tree[found - 1]
            }
            step >>= 1
        }
        return min(found, tree.count - 1)
    }
}
