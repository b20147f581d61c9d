import Foundation
import SQLiteDriver

/// Finds what keeps a save from being written: rows with values that a constraint allows once, and rows that others have changed.
///
/// One statement for each constraint and some hundred rows, whatever they turn out to be.
struct ConstraintSearch {
    private let store: SQLiteStore
    private let changes: StoreChanges
    private let connection: Connection

    init(_ store: SQLiteStore, _ changes: StoreChanges, _ connection: Connection) {
        (self.store, self.changes, self.connection) = (store, changes, connection)
    }

    /// - Throws: `SaveConflicts` where there are any.
    func throwConflicts() throws {
        let outdated = ConflictDetection(store, connection)
        for (_, group) in changes.groups { try outdated.checkVersions(of: group) }
        let breaches = try breaches()
        guard !outdated.conflicts.isEmpty || !breaches.isEmpty else { return }
        throw SaveConflicts(conflicts: outdated.conflicts, breaches: breaches)
    }

    private func breaches() throws -> [ConstraintBreach] {
        var breaches: [ConstraintBreach] = []
        let trees = Dictionary(grouping: changes.groups) { $0.group.entity.rootEntity.index }
        for (root, groups) in trees.sorted(by: { $0.key < $1.key }) {
            let root = store.model.entitiesInIndexOrder[root]
            let deleted = Set(groups.flatMap { $0.group.deletes.lazy.map(\.key) })
            for constraint in TableConstraint.all(ofTreeOf: root, store.schema) {
                breaches += try self.breaches(of: constraint, root, CandidateRows(groups, constraint, store, except: deleted))
            }
        }
        return breaches
    }

    private func breaches(
        of constraint: TableConstraint,
        _ root: NSEntityDescription,
        _ candidates: CandidateRows
    ) throws -> [ConstraintBreach] {
        let query = StoredCandidates(store: store, connection: connection, constraint: constraint, root: root)
        let stored = try query.rows(for: candidates)
        return candidates.leaders.indices.compactMap { index in
            let others = candidates.followers[index] ?? []
            let row = stored[index].flatMap { candidates.freedKeys.contains($0.reference.key) ? nil : $0 }
            guard row != nil || !others.isEmpty else { return nil }
            return ConstraintBreach(names: constraint.names, members: [candidates.leaders[index].member] + others, stored: row)
        }
    }
}

/// The rows of a save that get values under one constraint, by these values.
struct CandidateRows {
    struct Candidate {
        let row: Row
        let member: ConstraintBreach.Member
        /// Which of the `steps` bind its values.
        let steps: Int
    }
    /// The first row with each combination of values.
    private(set) var leaders: [Candidate] = []
    /// By the index of the leader: further rows with the same values.
    private(set) var followers: [Int: [ConstraintBreach.Member]] = [:]
    /// How to bind the values, for each entity.
    private(set) var steps: [ContiguousArray<StatementWriter.Step>] = []
    /// The rows of the store that give up their values in this save.
    private(set) var freedKeys: Set<Int64>
    private var slots: [[Int]] = []
    /// The first leader with a hash, and for each leader the next one with the same.
    private var heads: [Int: Int] = [:]
    private var next: [Int] = []

    init(
        _ groups: [(index: Int, group: ChangeSet.Group)],
        _ constraint: TableConstraint,
        _ store: SQLiteStore,
        except deleted: Set<Int64>
    ) {
        freedKeys = deleted
        let concerned = groups.compactMap { index, group in
            constraint.slots(in: store.schema.entity(for: group.entity)).map { (index, group, slots: $0) }
        }
        slots = concerned.map(\.slots)
        steps = concerned.map { Self.steps(for: $0.slots, store.saveStatements($0.1.entity)) }
        // Where two rows have the same values, the one that is in the store comes before the new one.
        for (number, (index, group, slots)) in concerned.enumerated() { addUpdates(of: group, index, slots, number) }
        for (number, (index, group, _)) in concerned.enumerated() { addInserts(of: group, index, number) }
    }

    private static func steps(for slots: [Int], _ statements: SaveStatements) -> ContiguousArray<StatementWriter.Step> {
        ContiguousArray(slots.compactMap { slot in statements.steps.first { $0.slot == slot }?.withoutEntityColumn })
    }

    private mutating func addUpdates(of group: ChangeSet.Group, _ index: Int, _ slots: [Int], _ steps: Int) {
        for (offset, update) in group.updates.enumerated() where slots.contains(where: update.slots.contains) {
            freedKeys.insert(update.key)
            let member = ConstraintBreach.Member(group: index, index: offset, isInsert: false)
            add(Candidate(row: update.row, member: member, steps: steps))
        }
    }

    private mutating func addInserts(of group: ChangeSet.Group, _ index: Int, _ steps: Int) {
        leaders.reserveCapacity(leaders.count + group.inserts.count)
        next.reserveCapacity(leaders.count + group.inserts.count)
        heads.reserveCapacity(leaders.count + group.inserts.count)
        for (offset, insert) in group.inserts.enumerated() {
            let member = ConstraintBreach.Member(group: index, index: offset, isInsert: true)
            add(Candidate(row: insert.row, member: member, steps: steps))
        }
    }

    private mutating func add(_ candidate: Candidate) {
        guard let hash = hash(candidate) else { return }
        let first = heads.updateValue(leaders.count, forKey: hash) ?? -1
        var known = first
        while known >= 0 {
            if hasSameValues(leaders[known], candidate) {
                heads[hash] = first
                return followers[known, default: []].append(candidate.member)
            }
            known = next[known]
        }
        next.append(first)
        leaders.append(candidate)
    }

    /// Nil where a value is NULL: such a row is like no other.
    private func hash(_ candidate: Candidate) -> Int? {
        var hasher = Hasher()
        for slot in slots[candidate.steps] {
            guard let value = UniqueValue(candidate.row.value(slot)) else { return nil }
            hasher.combine(value)
        }
        return hasher.finalize()
    }

    private func hasSameValues(_ left: Candidate, _ right: Candidate) -> Bool {
        zip(slots[left.steps], slots[right.steps]).allSatisfy { UniqueValue(left.row.value($0)) == UniqueValue(right.row.value($1)) }
    }
}

extension StatementWriter.Step {
    fileprivate var withoutEntityColumn: StatementWriter.Step {
        StatementWriter.Step(slot: slot, offset: offset, kind: kind, hasEntityColumn: false, isMarked: isMarked)
    }
}
