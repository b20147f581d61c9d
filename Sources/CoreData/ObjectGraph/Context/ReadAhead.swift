import Foundation

/// What a context has read for objects that are likely to be used next.
///
/// Who uses relationships of objects that one fetch has found, one after the other, would run a statement for each. Here the second one that has
/// to be read brings along those of its neighbours: of the objects whose rows came in one batch. Nobody sees the difference: what was read ahead
/// is thrown away as soon as something may have changed.
///
/// Belongs to one context, and is used on its queue.
final class ReadAhead {
    /// The latest to-one relationships that led to objects without rows.
    private var sources: [Source] = []
    /// The latest to-many relationships that were read, by their descriptions.
    private var members: [ObjectIdentifier: Members] = [:]

    fileprivate struct Source {
        /// The rows in which the relationship was followed last, the latest last.
        var batches: [RowBatch]
        /// Those of which the targets were read: what is not at hand any more is read alone.
        var finished: [RowBatch] = []
        let slot: Int
        let layout: EntityLayout
        /// Whether a target had to be read before.
        var hasMissed = false
        /// Keeps rows in the row cache, where those who need them find them, for each batch; the latest last.
        var targets: [[Row?]] = []
    }

    /// The members of one to-many relationship that were read last.
    private struct Members {
        let stamp: Stamp
        /// How many rows an owner had.
        let rowsPerOwner: Int
        /// By owner, of those who have not asked yet.
        var rows: [RowReference: ArraySlice<RelatedRow>] = [:]
    }

    /// How much was saved in the stores, and changed above.
    struct Stamp: Equatable {
        let saves: Int
        let changes: Int
    }

    /// How many owners' members are read at once, at most.
    private static let ownerLimit = 128
    /// How many members are read at once, about.
    private static let memberLimit = 4096

    private static let relationshipLimit = 8
    /// How many batches of rows are known in which one relationship was followed.
    fileprivate static let batchLimit = 64
    /// How many rows that were read along are kept for one relationship, about.
    fileprivate static let targetLimit = 1 << 14

    /// How often what was read had to be forgotten.
    private(set) var forgetCount = 0

    func forget() {
        (sources, members) = ([], [:])
        forgetCount += 1
    }

    /// What is fetched anew is to be read anew.
    func forgetMembers() { if !members.isEmpty { members = [:] } }
}

/// To-one relationships.
extension ReadAhead {
    /// Whether to-one relationships have led to objects without rows.
    var followsToOnes: Bool { !sources.isEmpty }

    /// A to-one relationship led to an object without a row.
    func note(_ batch: RowBatch, _ slot: Int) {
        if let index = sources.firstIndex(where: { $0.slot == slot && $0.layout === batch.layout }) {
            sources[index].note(batch)
        } else {
            if sources.count == Self.relationshipLimit { sources.removeFirst() }
            sources.append(Source(batches: [batch], slot: slot, layout: batch.layout))
        }
    }

    /// Reads the targets of the neighbours together with one that is needed now.
    ///
    /// - Returns: its row; nil where it is to be read alone.
    func row(of target: RowReference, _ read: ([RowReference]) throws -> [Row?]) rethrows -> Row? {
        for index in sources.indices {
            guard let position = sources[index].batch(leadingTo: target) else { continue }
            guard sources[index].hasMissed else {
                sources[index].hasMissed = true
                return nil
            }
            let targets = sources[index].references(position)
            if targets.count < 2 { return nil }
            let rows = try read(targets)
            sources[index].finish(position, rows)
            return targets.firstIndex(of: target).flatMap { rows[$0] }
        }
        return nil
    }
}

extension ReadAhead.Source {
    /// The rows among which one refers to the target.
    fileprivate func batch(leadingTo target: RowReference) -> Int? {
        batches.lastIndex { batch in (0..<batch.count).contains { Row(batch, $0).reference(slot) == target } }
    }

    fileprivate mutating func note(_ batch: RowBatch) {
        if batches.last === batch || (finished + batches).contains(where: { $0 === batch }) { return }
        if batches.count == ReadAhead.batchLimit { batches.removeFirst() }
        batches.append(batch)
    }

    /// The targets of a batch were read.
    fileprivate mutating func finish(_ position: Int, _ rows: [Row?]) {
        if finished.count == ReadAhead.batchLimit { finished.removeFirst() }
        finished.append(batches.remove(at: position))
        targets.append(rows)
        while targets.count > 1, targets.reduce(0, { $0 + $1.count }) > ReadAhead.targetLimit { targets.removeFirst() }
    }

    /// Whom the rows of a batch refer to, each once.
    fileprivate func references(_ position: Int) -> [RowReference] {
        let batch = batches[position]
        return Array(Set((0..<batch.count).compactMap { Row(batch, $0).reference(slot) }))
    }
}

/// To-many relationships.
extension ReadAhead {
    /// The members of an owner, if they were read ahead.
    func takeMembers(of owner: RowReference, _ relationship: NSRelationshipDescription, _ stamp: Stamp) -> [RelatedRow]? {
        guard members[ObjectIdentifier(relationship)]?.stamp == stamp else { return nil }
        return members[ObjectIdentifier(relationship)]?.rows.removeValue(forKey: owner).map(Array.init)
    }

    /// How many owners to read together; 1 where nobody has read the relationship since something was saved.
    func ownerCount(_ relationship: NSRelationshipDescription, _ stamp: Stamp) -> Int {
        guard let members = members[ObjectIdentifier(relationship)], members.stamp == stamp else { return 1 }
        return min(Self.ownerLimit, max(Self.memberLimit / max(members.rowsPerOwner, 1), 1))
    }

    /// - Parameter rows: of all owners, those of one beside each other.
    func keep(
        _ rows: [RelatedRow],
        of owners: [RowReference],
        _ relationship: NSRelationshipDescription,
        _ stamp: Stamp,
        rowCount: Int
    ) {
        var kept = Members(stamp: stamp, rowsPerOwner: rowCount / max(owners.count, 1))
        var byKey: [Int64: RowReference] = [:]
        for owner in owners where owners.count > 1 { (kept.rows[owner], byKey[owner.key]) = ([], owner) }
        var start = 0
        for end in rows.indices where end + 1 == rows.count || rows[end + 1].owner != rows[end].owner {
            if let owner = byKey[rows[end].owner] { kept.rows[owner]? += rows[start...end] }
            start = end + 1
        }
        if members.count == Self.relationshipLimit { members = [:] }
        members[ObjectIdentifier(relationship)] = kept
    }
}

extension NSManagedObjectContext {
    var readingStamp: ReadAhead.Stamp {
        ReadAhead.Stamp(saves: persistentStoreCoordinator?.saveCount ?? 0, changes: registry.changesAbove?.count ?? 0)
    }

    /// The row of a fault that a to-one relationship led to, read with those that its neighbours lead to; nil where it is to be read alone.
    func rowAhead(of object: NSManagedObject) throws -> Row? {
        // Who follows no relationships pays nothing.
        guard readAhead.followsToOnes else { return nil }
        let reference = object.rowReference
        guard reference.key > 0, parentSource.cachedRow(for: reference) == nil else { return nil }
        return try readAhead.row(of: reference) { try parentSource.rows(for: $0) }
    }

    /// Reads a to-many relationship of an object, with those of its neighbours where that is likely to be useful. Where that fails it stays unread.
    func realize(_ relationship: NSRelationshipDescription, _ index: Int, with owner: NSManagedObject) {
        do {
            let (stamp, reference) = (readingStamp, owner.rowReference)
            if let rows = readAhead.takeMembers(of: reference, relationship, stamp) {
                return show(rows, relationship, index, of: [owner])
            }
            let owners = neighbours(of: owner, index, readAhead.ownerCount(relationship, stamp))
            let rows = try relatedRows(relationship, owners)
            readAhead.keep(owners.count == 1 ? [] : rows, of: owners, relationship, stamp, rowCount: rows.count)
            let own = owners.count == 1 ? rows : readAhead.takeMembers(of: reference, relationship, stamp) ?? []
            show(own, relationship, index, of: [owner])
        } catch {
            // As with a fault: reading a property cannot throw.
            noteFailedRead("reading \(relationship.entity.name ?? "?").\(relationship.name)", error)
        }
    }

    /// An owner, and those whose rows came in the same batch and who lack the same: those behind it, and those before it that are still here.
    private func neighbours(of owner: NSManagedObject, _ index: Int, _ limit: Int) -> [RowReference] {
        let reference = owner.rowReference
        guard limit > 1, reference.key > 0, !owner.state.contains(.ownRow), let identity = owner.scope.identity else { return [reference] }
        let batch = owner.batch
        guard let start = batch.index(ofKey: reference.key) else { return [reference] }
        var found: [NSManagedObject?] = []
        identity.objects(of: batch, start..<batch.count, into: &found)
        identity.objects(of: batch, 0..<start, into: &found)
        var owners = [reference]
        for (offset, other) in found.enumerated().dropFirst() where owners.count < limit {
            let isBehind = offset < batch.count - start
            if let other {
                if other.scope === owner.scope, other.lacks(index) { owners.append(other.rowReference) }
            } else if isBehind {
                let key = EntityLayout.key(batch.row(start + offset))
                owners.append(RowReference(key: key, entity: reference.entity, store: reference.store))
            }
        }
        return owners
    }
}

extension NSManagedObject {
    /// Whether the members have not been read.
    fileprivate final func lacks(_ index: Int) -> Bool {
        state.isDisjoint(with: [.deleted, .inaccessible, .detached]) && existingContents(index)?.members == nil
    }
}
