/// The sections of a list of results in order: where each begins, and which has a name.
///
/// - Complexity: what asks for sections, or changes how many members one has, is O(log n). Any number of sections that come or go at once move
///   the others together, which hashes none of their names.
struct SectionTable {
    private(set) var names: [String] = []
    /// Ascend with the order, so that a section is found in it.
    private var positions: [Int64] = []
    private var positionsByName: [String: Int64] = [:]
    private var sums = PrefixSums()

    private static let spacing: Int64 = 1 << 32

    init(_ sections: [ResultsSection] = []) {
        names = sections.map(\.name)
        sums = PrefixSums(sections.map(\.count))
        renumber()
    }

    /// All of them, as they are now.
    var sections: [ResultsSection] { names.indices.map(section) }

    func section(_ index: Int) -> ResultsSection { ResultsSection(name: names[index], count: sums.counts[index]) }

    func index(named name: String) -> Int? {
        guard let position = positionsByName[name] else { return nil }
        var (low, high) = (0, positions.count)
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The section that the member at an index is in.
    func index(ofMember index: Int) -> Int { sums.index(ofPlace: index) }

    func start(_ section: Int) -> Int { sums.sum(before: section) }

    func range(_ section: Int) -> Range<Int> {
        let start = start(section)
        return start..<start + sums.counts[section]
    }

    func count(_ section: Int) -> Int { sums.counts[section] }

    mutating func add(_ difference: Int, to section: Int) { sums.add(difference, at: section) }

    /// Puts sections without members before those at some indexes, which ascend.
    mutating func insert(_ new: [(name: String, index: Int)]) {
        guard let first = new.first?.index else { return }
        let (oldNames, oldPositions, oldCounts) = (names, positions, sums.counts)
        var (counts, next, isFull) = (Array(oldCounts[..<first]), first, false)
        names.removeLast(names.count - first)
        positions.removeLast(positions.count - first)
        func moveOld(upTo end: Int) {
            names += oldNames[next..<end]
            positions += oldPositions[next..<end]
            counts += oldCounts[next..<end]
            next = end
        }
        for (name, index) in new {
            moveOld(upTo: index)
            let position = Self.position(between: positions.last, index < oldPositions.count ? oldPositions[index] : nil)
            isFull = isFull || position == nil
            names.append(name)
            positions.append(position ?? 0)
            counts.append(0)
            positionsByName[name] = position
        }
        moveOld(upTo: oldNames.count)
        sums = PrefixSums(counts)
        if isFull { renumber() }
    }

    /// Nil where there is no room.
    private static func position(between before: Int64?, _ after: Int64?) -> Int64? {
        guard let before else { return after.map { $0 - spacing } ?? 0 }
        guard let after else { return before + spacing }
        return after - before > 1 ? before + (after - before) / 2 : nil
    }

    private mutating func renumber() {
        positions = names.indices.map { Int64($0) * Self.spacing }
        positionsByName = Dictionary(uniqueKeysWithValues: zip(names, positions))
    }

    /// Drops sections without members.
    mutating func removeEmpty() {
        let isKept = sums.counts.map { $0 > 0 }
        for (name, isKept) in zip(names, isKept) where !isKept { positionsByName[name] = nil }
        names = zip(names, isKept).filter(\.1).map(\.0)
        positions = zip(positions, isKept).filter(\.1).map(\.0)
        sums = PrefixSums(sums.counts.filter { $0 > 0 })
    }
}
