/// A set of keys as ranges: of keys that follow each other, many cost what one does. Past a limit it takes in what lies between.
struct KeyRanges: Equatable, Sendable {
    /// Ascending; with at least one key between two of them.
    private(set) var ranges: ContiguousArray<ClosedRange<Int64>> = []

    private static let limit = 256

    init() {}

    init(_ keys: some Sequence<Int64>) {
        for key in keys.sorted() {
            guard let last = ranges.last, key <= last.upperBound + 1 else {
                ranges.append(key...key)
                continue
            }
            ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, key)
        }
        reduce()
    }

    var isEmpty: Bool { ranges.isEmpty }

    func contains(_ key: Int64) -> Bool {
        let index = firstIndex(endingAtOrAfter: key)
        return index < ranges.count && ranges[index].lowerBound <= key
    }

    /// Whether anything was missing.
    @discardableResult mutating func insert(_ new: ClosedRange<Int64>) -> Bool {
        // What touches it becomes one range with it.
        var (first, range) = (firstIndex(endingAtOrAfter: new.lowerBound - 1), new)
        if first < ranges.count, ranges[first].lowerBound <= new.lowerBound, ranges[first].upperBound >= new.upperBound { return false }
        let start = first
        while first < ranges.count, ranges[first].lowerBound <= range.upperBound + 1 {
            range = min(range.lowerBound, ranges[first].lowerBound)...max(range.upperBound, ranges[first].upperBound)
            first += 1
        }
        ranges.replaceSubrange(start..<first, with: CollectionOfOne(range))
        reduce()
        return true
    }

    /// Whether anything was missing.
    @discardableResult mutating func formUnion(_ other: KeyRanges) -> Bool {
        var isLarger = false
        for range in other.ranges where insert(range) { isLarger = true }
        return isLarger
    }

    private func firstIndex(endingAtOrAfter key: Int64) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Closes the narrowest gaps where there are too many ranges.
    private mutating func reduce() {
        guard ranges.count > Self.limit else { return }
        let gaps = (1..<ranges.count).map { ranges[$0].lowerBound - ranges[$0 - 1].upperBound }
        let widest = Set((1..<ranges.count).sorted { gaps[$0 - 1] > gaps[$1 - 1] }.prefix(Self.limit / 2))
        var reduced: ContiguousArray<ClosedRange<Int64>> = [ranges[0]]
        for index in 1..<ranges.count {
            if widest.contains(index) {
                reduced.append(ranges[index])
            } else {
                reduced[reduced.count - 1] = reduced[reduced.count - 1].lowerBound...ranges[index].upperBound
            }
        }
        ranges = reduced
    }
}
