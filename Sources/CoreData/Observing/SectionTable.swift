/// The sections of a list of results in order: where each begins, and which has a name.
///
/// - Complexity: what asks for sections, or changes how many members one has, is O(log n); adding and removing sections is O(n).
struct SectionTable {
    private(set) var names: [String] = []
    private var sums = PrefixSums()
    private var indexes: [String: Int] = [:]
    /// How many times sections have come or gone.
    private(set) var changeCount = 0

    init(_ sections: [ResultsSection] = []) { replace(names: sections.map(\.name), counts: sections.map(\.count)) }

    /// All of them, as they are now.
    var sections: [ResultsSection] { zip(names, sums.counts).map { ResultsSection(name: $0, count: $1) } }

    func index(named name: String) -> Int? { indexes[name] }

    /// The section that the member at an index is in.
    func index(ofMember index: Int) -> Int { sums.index(ofPlace: index) }

    func start(_ section: Int) -> Int { sums.sum(before: section) }

    func range(_ section: Int) -> Range<Int> {
        let start = start(section)
        return start..<start + sums.counts[section]
    }

    func count(_ section: Int) -> Int { sums.counts[section] }

    mutating func add(_ difference: Int, to section: Int) { sums.add(difference, at: section) }

    /// Puts a section without members before the one at an index.
    mutating func insert(_ name: String, at index: Int) {
        var (names, counts) = (names, sums.counts)
        names.insert(name, at: index)
        counts.insert(0, at: index)
        replace(names: names, counts: counts)
    }

    mutating func removeEmpty() {
        let kept = names.indices.filter { sums.counts[$0] > 0 }
        replace(names: kept.map { names[$0] }, counts: kept.map { sums.counts[$0] })
    }

    private mutating func replace(names: [String], counts: [Int]) {
        (self.names, sums) = (names, PrefixSums(counts))
        indexes = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        changeCount += 1
    }
}
