/// The longest run of numbers, not necessarily side by side, of which each is greater than the one before: O(n log n).
struct LongestRise {
    /// Where its numbers stand, in order.
    private(set) var indices: [Int] = []

    init(of numbers: [Int]) {
        // For each length of a run: where the least last number of one stands.
        var ends: [Int] = []
        var previous: [Int?] = []
        for (index, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            previous.append(low > 0 ? ends[low - 1] : nil)
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var next = ends.last
        while let index = next {
            indices.append(index)
            next = previous[index]
        }
        indices.reverse()
    }
}
