import Foundation

/// What one event means for a list, found out before the list is changed.
struct ResultsUpdate {
    typealias Member = (object: NSManagedObject, index: Int)

    private let list: ResultsList
    private var leaving: [Member] = []
    private var moving: [Member] = []
    private var staying: [Member] = []
    private var entering: [NSManagedObject] = []

    var isEmpty: Bool { leaving.isEmpty && moving.isEmpty && staying.isEmpty && entering.isEmpty }

    /// - Parameter candidates: all other objects are as they were.
    /// - Throws: `CocoaError` 134060 where the predicate cannot be evaluated.
    init(of list: ResultsList, _ candidates: ResultsCandidates) throws {
        self.list = list
        var remaining: [Member] = []
        for object in candidates.objects {
            let belongs = try !candidates.deleted.contains(object) && list.query.includes(object)
            switch (list.members.index(of: object), belongs) {
            case (let index?, true): remaining.append((object, index))
            case (let index?, false): leaving.append((object, index))
            // Its event has not ended, and may never say that it was there.
            case (nil, true) where object.state.contains(.insertedNow): break
            case (nil, true): entering.append(object)
            case (nil, false): break
            }
        }
        leaving.sort { $0.index < $1.index }
        sortOut(remaining.sorted { $0.index < $1.index })
        staying.removeAll { !candidates.isTold($0.object) }
    }

    /// Decides for members that changed which stay where they are: as many as are in order between neighbours that have not changed.
    private mutating func sortOut(_ changed: [Member]) {
        if changed.isEmpty { return }
        let touched = changed.count + leaving.count == 1 ? [changed[0].index] : Set(changed.map(\.index)).union(leaving.map(\.index))
        var (last, end): (Member?, Int) = (nil, -1)
        for member in changed {
            // A run begins, of members that something happened to side by side.
            if member.index > end { (last, end) = bounds(of: member.index, touched) }
            if fits(member, after: last, before: end) {
                staying.append(member)
                last = member
            } else {
                moving.append(member)
            }
        }
    }

    /// The unchanged member before a run, and the index of the one behind it.
    private func bounds(of index: Int, _ touched: Set<Int>) -> (before: Member?, end: Int) {
        var (first, end) = (index - 1, index + 1)
        while touched.contains(first) { first -= 1 }
        while touched.contains(end) { end += 1 }
        return (first < 0 ? nil : (list.members.member(at: first), first), end)
    }

    private func fits(_ member: Member, after last: Member?, before end: Int) -> Bool {
        let section = list.section(at: member.index)
        guard list.query.sectionName(of: member.object) == list.sectionNames[section] else { return false }
        // Also those of other sections: a section goes where its members go.
        let probe = list.query.order.probe(member.object)
        if let last, list.query.order.compare(probe, last.object) == .orderedAscending { return false }
        return end >= list.members.count || list.query.order.compare(probe, list.members.member(at: end)) != .orderedDescending
    }

    /// Changes the list.
    func apply() -> ResultsChange {
        let before = list.sectionNames
        var change = ResultsChange()
        change.deletions = leaving.map { ($0.object, list.path(at: $0.index)) }
        let (movedFrom, stayedAt) = (moving.map { list.path(at: $0.index) }, staying.map { list.path(at: $0.index) })
        let leftAlone = leaving.isEmpty && moving.isEmpty && entering.isEmpty
        let emptied = list.remove(leaving + moving)
        // By what never changes where the order leaves it open, so that it does not depend on hashes.
        let added = list.insert((moving.map(\.object) + entering).sorted(by: inOrder))
        if added.isEmpty {
            change.deletedSections = emptied
        } else if emptied.isEmpty {
            change.insertedSections = added.compactMap { list.section(named: $0).map { (list.section($0), $0) } }
        } else {
            change.compareSections(before, list.sections, emptied.map(\.section))
        }
        change.moves = zip(moving, movedFrom).map { ($0.object, $1, path(of: $0.object)) }
        change.updates = zip(staying, stayedAt).map { ($0.object, $1, leftAlone ? $1 : path(of: $0.object)) }
        change.insertions = entering.map { ($0, path(of: $0)) }
        return change
    }

    private func inOrder(_ left: NSManagedObject, _ right: NSManagedObject) -> Bool {
        switch list.query.order.compare(list.query.order.probe(left), right) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: abs(left.key) < abs(right.key)
        }
    }

    private func path(of object: NSManagedObject) -> IndexPath { list.members.index(of: object).map(list.path(at:)) ?? IndexPath() }
}

/// What has become of a list: deletions and what was moved or updated with the places before, insertions with those after.
struct ResultsChange {
    var deletions: [(object: NSManagedObject, old: IndexPath)] = []
    var insertions: [(object: NSManagedObject, new: IndexPath)] = []
    var moves: [(object: NSManagedObject, old: IndexPath, new: IndexPath)] = []
    /// Members that changed, and stay where they are among the others.
    var updates: [(object: NSManagedObject, old: IndexPath, new: IndexPath)] = []
    var deletedSections: [(section: ResultsSection, index: Int)] = []
    var insertedSections: [(section: ResultsSection, index: Int)] = []

    /// A section that was emptied, came back, and has passed others meanwhile, went and came.
    ///
    /// - Parameter emptied: those that were, with as many members as they had.
    fileprivate mutating func compareSections(_ before: [String], _ after: [ResultsSection], _ emptied: [ResultsSection]) {
        let emptied = Dictionary(uniqueKeysWithValues: emptied.map { ($0.name, $0.count) })
        if before.elementsEqual(after, by: { $0 == $1.name }) { return }
        let old = Dictionary(uniqueKeysWithValues: before.enumerated().map { ($1, $0) })
        // The others have kept their order: those that came back have to fit between them.
        var bound = before.count
        let bounds = after.reversed().map { section in
            defer { if let index = old[section.name], emptied[section.name] == nil { bound = index } }
            return bound
        }
        var (kept, last): (Set<String>, Int) = ([], -1)
        for (section, bound) in zip(after, bounds.reversed()) {
            guard let index = old[section.name], index > last, index < bound else { continue }
            kept.insert(section.name)
            last = index
        }
        // Those that are left were emptied.
        deletedSections = before.enumerated().filter { !kept.contains($0.element) }.map {
            (ResultsSection(name: $0.element, count: emptied[$0.element] ?? 0), $0.offset)
        }
        insertedSections = after.enumerated().filter { !kept.contains($0.element.name) }.map { ($0.element, $0.offset) }
    }
}
