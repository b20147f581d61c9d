import Foundation

extension NSManagedObject {
    /// Whether the object's values have not been used since it was fetched or made a fault.
    public final var isFault: Bool { state.contains(.fault) }

    /// 0 when the object is fully realised.
    public final var faultingState: Int { isFault ? 1 : 0 }

    /// Whether a relationship has not been read yet. Fires nothing.
    public final func hasFault(forRelationshipNamed key: String) -> Bool {
        switch property(named: key) {
        case .toMany(let index, _):
            if let contents = existingContents(index) { return contents.members == nil }
            return !state.contains(.inserted) && !state.contains(.detached)
        case .toOne(let slot, _):
            if state.contains(.rowless) { return true }
            return currentRow.reference(slot).map { registeredContext?.registeredObject(for: $0) == nil } ?? false
        default: return false
        }
    }

    /// Fires the fault: values in, `awakeFromFetch`. Needs a statement only where no row is at hand.
    ///
    /// Where reading the row fails it stays a fault, which reads as nil: the next access tries again.
    @usableFromInline @inline(never) final func fire() {
        if state.contains(.rowless) {
            registeredContext?.takeBackReturnedSaves()
            if state.isDisjoint(with: [.fault, .rowless]) { return }
        }
        do { try fireThrowing() } catch { registeredContext?.noteFailedRead("filling a fault for \(objectID)", error) }
    }

    final func fireThrowing() throws {
        if RowClock.isRunning { registeredContext?.dropOldRow(of: self) }
        if !state.contains(.rowless), mayBeStale { try registeredContext?.bringUpToDate(self) }
        try fireKeepingRow()
    }

    /// As `fireThrowing`, with the row that the fault has, whether or not there is a newer one.
    final func fireKeepingRow() throws {
        if state.contains(.rowless) { try registeredContext?.fill(self) ?? fillEmpty() }
        state.remove(.fault)
        if !state.contains(.inaccessible), withScope(\.awakensObjects) { awake { $0.awakeFromFetch() } }
    }

    /// Calls a hook in which changes are not tracked.
    final func awake(_ hook: (NSManagedObject) -> Void) { withoutNotice { hook(self) } }

    /// The store has no row, or there is no store: nil for everything.
    final func fillEmpty() {
        setRow(Row(scope.shape.emptyRow))
        state.formUnion([.inaccessible, .sharedRow])
    }

    /// A fault's row is read again when it is next used.
    final func forgetRow() {
        setRow(Row(scope.shape.emptyRow))
        state.formUnion([.rowless, .sharedRow])
    }

    /// Drops the values and all changes; the row is read again, or found in the row cache, when the object is next used.
    final func turnIntoFault(keepsRelationshipEdits: Bool = false) {
        let wasFault = isFault
        // What the hook sets of the object is lost with the rest: it is no change.
        if !wasFault { awake { $0.willTurnIntoFault() } }
        if let base = committedRow { setRow(base) }
        state.subtract([.unsavedRow, .validated, .outdated])
        if currentRow.isOwn { state.insert(.sharedRow) }
        setChangedSlots(SlotMask())
        if let extras = existingExtras {
            if keepsRelationshipEdits { extras.forgetStoredMembers() } else { extras.forgetObjects() }
            extras.transients = [:]
            extras.transientsBefore = [:]
            extras.transformed = [:]
        }
        if state.contains(.locked) { registeredContext?.tracker.unlock(self) }
        state.remove(.updated)
        state.insert(.fault)
        if !wasFault { didTurnIntoFault() }
    }
}
