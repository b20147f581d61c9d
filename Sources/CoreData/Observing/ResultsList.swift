import Foundation

/// The results of a fetch in order, in sections, and in a form that changes cost little.
///
/// The sections follow each other and hold all members. None is empty; but where no sections are asked for there is always one.
final class ResultsList {
    let query: ResultsQuery
    private(set) var members = MemberBlocks()
    private var table: SectionTable
    /// All members as an array, for whoever asks; until the next change.
    private var flat: [NSManagedObject]?

    /// - Throws: `CocoaError` 134060 where objects of one section do not stand together.
    init(_ query: ResultsQuery, _ objects: [NSManagedObject]) throws {
        self.query = query
        table = SectionTable(try query.sections(of: objects))
        for object in objects { members.append(object) }
        flat = objects
    }

    var sections: [ResultsSection] { table.sections }
    /// The names of the sections; not copied until sections come or go.
    var sectionNames: [String] { table.names }
    /// How many times sections have come or gone.
    var sectionChangeCount: Int { table.changeCount }

    var objects: [NSManagedObject] {
        if let flat { return flat }
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(members.count)
        members.forEach { objects.append($0) }
        flat = objects
        return objects
    }

    func objects(inSection section: Int) -> [NSManagedObject] { range(ofSection: section).map(members.member(at:)) }

    func range(ofSection section: Int) -> Range<Int> { table.range(section) }

    func section(named name: String) -> Int? { table.index(named: name) }

    /// The section that a member is in.
    func section(at index: Int) -> Int { table.index(ofMember: index) }

    func path(at index: Int) -> IndexPath {
        let section = section(at: index)
        return IndexPath(item: index - table.start(section), section: section)
    }

    /// The index of a place; nil where there is none.
    func index(of path: IndexPath) -> Int? {
        guard path.count == 2, table.names.indices.contains(path.section), path.item >= 0, path.item < table.count(path.section) else {
            return nil
        }
        return table.start(path.section) + path.item
    }

    /// Takes members out, and drops sections that are empty then.
    ///
    /// - Returns: the names of those, and how many members they had.
    func remove(_ objects: [(object: NSManagedObject, index: Int)]) -> [String: Int] {
        if objects.isEmpty { return [:] }
        flat = nil
        var counts: [Int: Int] = [:]
        for (object, index) in objects {
            counts[section(at: index), default: 0] += 1
            members.remove(object)
        }
        var emptied: [String: Int] = [:]
        for (section, count) in counts {
            table.add(-count, to: section)
            if table.count(section) == 0 { emptied[table.names[section]] = count }
        }
        if query.sectionKeyPath != nil, !emptied.isEmpty { table.removeEmpty() }
        return emptied
    }

    /// Puts an object where it belongs, behind its equals.
    func insert(_ object: NSManagedObject) {
        flat = nil
        let (probe, name) = (query.order.probe(object), query.sectionName(of: object))
        let section = section(named: name) ?? addSection(name, for: probe)
        let index = firstIndex(in: range(ofSection: section)) { query.order.compare(probe, members.member(at: $0)) == .orderedAscending }
        if index == members.count { members.append(object) } else { members.insert(object, at: index) }
        table.add(1, to: section)
    }

    private func addSection(_ name: String, for probe: ResultsOrder.Probe) -> Int {
        let index = firstIndex(in: table.names.indices) {
            query.order.compare(probe, members.member(at: table.start($0))) == .orderedAscending
        }
        table.insert(name, at: index)
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
}
