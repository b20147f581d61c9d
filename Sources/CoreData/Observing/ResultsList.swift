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
    private var flatResults: [any NSFetchRequestResult]?
    /// What the controller says of the sections; until the next change.
    var sectionInfos: [any NSFetchedResultsSectionInfo]?
    /// How often members came or went: what somebody keeps of the list is as it was at one number.
    private(set) var changeCount = 0

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

    func section(_ index: Int) -> ResultsSection { table.section(index) }

    var objects: [NSManagedObject] {
        if let flat { return flat }
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(members.count)
        members.forEach { objects.append($0) }
        flat = objects
        return objects
    }

    /// The same, as who does not know their class takes them.
    var results: [any NSFetchRequestResult] {
        let known = flatResults ?? objects
        flatResults = known
        return known
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
    /// - Returns: those, as they were, and where.
    func remove(_ objects: [(object: NSManagedObject, index: Int)]) -> [(section: ResultsSection, index: Int)] {
        if objects.isEmpty { return [] }
        noteChange()
        var counts: [Int: Int] = [:]
        for (object, index) in objects {
            counts[section(at: index), default: 0] += 1
            members.remove(object)
        }
        var emptied: [(section: ResultsSection, index: Int)] = []
        for (section, count) in counts {
            table.add(-count, to: section)
            if table.count(section) == 0 { emptied.append((ResultsSection(name: table.names[section], count: count), section)) }
        }
        if query.sectionKeyPath == nil || emptied.isEmpty { return [] }
        table.removeEmpty()
        return emptied.sorted { $0.index < $1.index }
    }

    /// Puts objects, which are in order, where they belong, each behind its equals.
    ///
    /// - Returns: the names of the sections that were made for them, in order.
    func insert(_ objects: [NSManagedObject]) -> [String] {
        if objects.isEmpty { return [] }
        noteChange()
        let entries = objects.map { (probe: query.order.probe($0), section: query.sectionName(of: $0)) }
        let added = addSections(for: entries)
        for (probe, name) in entries { if let section = section(named: name) { insert(probe, to: section) } }
        return added
    }

    private func noteChange() {
        (flat, flatResults, sectionInfos) = (nil, nil, nil)
        changeCount += 1
    }

    private func insert(_ probe: ResultsOrder.Probe, to section: Int) {
        let object = probe.object
        let index = firstIndex(in: range(ofSection: section)) { query.order.compare(probe, members.member(at: $0)) == .orderedAscending }
        if index == members.count { members.append(object) } else { members.insert(object, at: index) }
        table.add(1, to: section)
    }

    private func addSections(for entries: [(probe: ResultsOrder.Probe, section: String)]) -> [String] {
        var (new, known): ([(name: String, index: Int)], Set<String>) = ([], [])
        for (probe, name) in entries where section(named: name) == nil && known.insert(name).inserted {
            let index = firstIndex(in: table.names.indices) {
                query.order.compare(probe, members.member(at: table.start($0))) == .orderedAscending
            }
            new.append((name, max(index, new.last?.index ?? 0)))
        }
        table.insert(new)
        return new.map(\.name)
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
