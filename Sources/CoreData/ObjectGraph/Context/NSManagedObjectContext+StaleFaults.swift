import Foundation

/// Faults fire with the newest values that are at hand, not with those of the time at which they were read.
///
/// An object that was used keeps its values; of one that was not, nobody has seen any. Rows say how much was written since they were read, so
/// that mostly nobody is asked.
extension NSManagedObjectContext {
    /// The counts that a child of this context looks at.
    var changeCounts: [ChangeCount] { [registry.changes] + (parent?.changeCounts ?? []) }

    /// Gives a fault the newest row, if it is another than its own; one whose row is gone has none then.
    func bringUpToDate(_ fault: NSManagedObject) throws {
        guard fault.mayTakeNewestRow else { return }
        catchUp()
        // A row of the generation that a pinned context reads is not to be replaced by a newer one.
        if parentSource.isStoreSide, parentLink?.generation == nil, let newest = fault.currentRow.listing?.newestRow(fault.key) {
            take(newest, fault)
        } else {
            try readAgain(faultsRead(with: fault))
        }
    }

    /// A row that is older than `stalenessInterval` allows fills no fault.
    func dropOldRow(of fault: NSManagedObject) {
        guard stalenessInterval >= 0, parentLink?.generation == nil, fault.mayGetAnotherRow, fault.key > 0 else { return }
        let row = fault.state.contains(.rowless) ? parentSource.cachedRow(for: fault.rowReference) : fault.currentRow
        guard row?.listing?.isOlder(than: stalenessInterval) == true else { return }
        parentSource.forgetRows([fault.rowReference])
        if !fault.state.contains(.rowless) { fault.forgetRow() }
    }

    /// What the stores answer is something else from now on: faults that nobody has used forget their rows, here and in children.
    ///
    /// - Complexity: O(n) in the number of registered objects.
    func forgetUnusedRows() {
        readAhead.forget()
        for object in identityMap.objects where object.mayTakeNewestRow { object.forgetRow() }
        identityMap.registry?.changes.note()
    }

    /// Asks the parent once for all: one statement at most.
    private func readAgain(_ faults: [NSManagedObject]) throws {
        // As long as its store is here, or a row at hand is all there will ever be.
        guard let store = faults.first?.scope.store, store == 0 || self.store(numbered: store) != nil else { return }
        let above = registry.changesAbove
        let (count, write) = (above?.count ?? 0, faults.first?.currentRow.listing?.latestWrite)
        for (fault, row) in zip(faults, try parentSource.rows(for: faults.map(\.rowReference))) {
            guard let row else {
                fault.forgetRow()
                continue
            }
            let isOther = take(row, fault)
            above?.noteNewest(fault.currentRow, at: count, write: isOther ? row.listing?.write : write)
        }
    }

    /// The fault, and those of its batch that have not been used either.
    private func faultsRead(with fault: NSManagedObject) -> [NSManagedObject] {
        guard !fault.state.contains(.ownRow), let identity = fault.scope.identity else { return [fault] }
        let batch = fault.batch
        var found: [NSManagedObject?] = []
        identity.objects(of: batch, 0..<batch.count, into: &found)
        return found.compactMap { object in
            guard let object, object.rowOwner === batch, object.mayTakeNewestRow else { return nil }
            return object
        }
    }

    /// A store never has a newer row than the row cache; a parent says what counts, whatever its version.
    ///
    /// - Returns: whether the fault had another row.
    @discardableResult private func take(_ newest: Row, _ fault: NSManagedObject) -> Bool {
        let current = fault.currentRow
        guard newest !== current, newest.layout === current.layout,
            !parentSource.isStoreSide || newest.version == 0 || newest.version >= current.version
        else { return false }
        adopt(newest, fault)
        return true
    }
}

extension NSManagedObject {
    /// Whether the row that the fault has may not be the newest any more. Asks nobody.
    @inline(__always) final var mayBeStale: Bool {
        if let above = withScope({ $0.registry?.changesAbove }) { return above.mayHaveChanged(currentRow) }
        return currentRow.listing?.isBehind == true
    }

    /// Whether nothing has been decided on the row that the fault has.
    fileprivate final var mayTakeNewestRow: Bool { !state.contains(.rowless) && mayGetAnotherRow }

    /// The same of one that may have no row yet.
    fileprivate final var mayGetAnotherRow: Bool {
        state.intersection([.fault, .inserted, .deleted, .outdated]) == .fault && changedSlots.isEmpty && !hasChangedReadMembers
    }

    /// Whether members of a relationship were changed by somebody who saw them all.
    private var hasChangedReadMembers: Bool {
        var hasChanged = false
        forEachChangedToMany { hasChanged = hasChanged || $1.members != nil }
        return hasChanged
    }
}
