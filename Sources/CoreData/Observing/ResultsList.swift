import Foundation

/// The results of a fetch in order, in sections, and in a form that changes cost little.
///
/// The sections follow each other and hold all members. None is empty; but where no sections are asked for there is always one.
final class ResultsList {
    let query: ResultsQuery
    private(set) var members = MemberBlocks()
    private(set) var sections: [ResultsSection] = []
    /// The index of each section's first member.
    private var starts: [Int] = []
    private var sectionIndexes: [String: Int] = [:]
    /// All members as an array, for whoever asks; until the next change.
    private var flat: [NSManagedObject]?

    /// - Throws: `CocoaError` 134060 where objects of one section do not stand together.
    init(_ query: ResultsQuery, _ objects: [NSManagedObject]) throws {
        self.query = query
        sections = try query.sections(of: objects)
        for object in objects { members.append(object) }
        flat = objects
        renumberSections()
    }

    var objects: [NSManagedObject] {
        if let flat { return flat }
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(members.count)
        members.forEach { objects.append($0) }
        flat = objects
        return objects
    }

    func objects(inSection section: Int) -> [NSManagedObject] { range(ofSection: section).map(members.member(at:)) }

    func range(ofSection section: Int) -> Range<Int> { starts[section]..<starts[section] + sections[section].count }

    func section(named name: String) -> Int? { sectionIndexes[name] }

    /// The section that a member is in.
    func section(at index: Int) -> Int {
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= index { low = middle } else { high = middle }
        }
        return low
    }

    func path(at index: Int) -> IndexPath {
        let section = section(at: index)
        return IndexPath(item: index - starts[section], section: section)
    }

    /// The index of a place; nil where there is none.
    func index(of path: IndexPath) -> Int? {
        guard path.count == 2, sections.indices.contains(path.section), path.item >= 0, path.item < sections[path.section].count else {
            return nil
        }
        return starts[path.section] + path.item
    }

    /// Takes members out, and drops sections that are empty then.
    ///
    /// - Returns: the names of those.
    func remove(_ objects: [(object: NSManagedObject, index: Int)]) -> Set<String> {
        if objects.isEmpty { return [] }
        flat = nil
        var emptied: Set<String> = []
        for (object, index) in objects {
            let section = section(at: index)
            sections[section].count -= 1
            if sections[section].count == 0 { emptied.insert(sections[section].name) }
            members.remove(object)
        }
        if query.sectionKeyPath != nil, !emptied.isEmpty { sections.removeAll { $0.count == 0 } }
        renumberSections()
        return emptied
    }

    /// Puts an object where it belongs, behind its equals.
    func insert(_ object: NSManagedObject) {
        flat = nil
        let (probe, name) = (query.order.probe(object), query.sectionName(of: object))
        let section = section(named: name) ?? addSection(name, for: probe)
        let index = firstIndex(in: range(ofSection: section)) { query.order.compare(probe, members.member(at: $0)) == .orderedAscending }
        if index == members.count { members.append(object) } else { members.insert(object, at: index) }
        sections[section].count += 1
        for next in starts.indices.dropFirst(section + 1) { starts[next] += 1 }
    }

    private func addSection(_ name: String, for probe: ResultsOrder.Probe) -> Int {
        let index = firstIndex(in: sections.indices) { query.order.compare(probe, members.member(at: starts[$0])) == .orderedAscending }
        sections.insert(ResultsSection(name: name, count: 0), at: index)
        renumberSections()
        return index
    }

    private func firstIndex(in range: Range<Int>, where isBehind: (Int) -> Bool) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func renumberSections() {
        (starts, sectionIndexes) = ([], [:])
        var start = 0
        for (index, section) in sections.enumerated() {
            starts.append(start)
            sectionIndexes[section.name] = index
            start += section.count
        }
    }
}
