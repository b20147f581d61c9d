import Foundation

/// Writing into the object's own row, which the first change makes.
extension NSManagedObject {
    @usableFromInline final func write(_ value: Int64, _ slot: Int) {
        prepareToWrite(slot).storeBytes(of: value, as: Int64.self)
        EntityLayout.clearNull(row, slot)
    }

    @usableFromInline final func write(_ value: Double, _ slot: Int) {
        prepareToWrite(slot).storeBytes(of: value, as: Double.self)
        EntityLayout.clearNull(row, slot)
    }

    @usableFromInline final func write(_ value: Float, _ slot: Int) {
        prepareToWrite(slot).storeBytes(of: UInt64(value.bitPattern), as: UInt64.self)
        EntityLayout.clearNull(row, slot)
    }

    @usableFromInline final func write(_ value: UUID, _ slot: Int) {
        prepareToWrite(slot).storeBytes(of: value, as: UUID.self)
        EntityLayout.clearNull(row, slot)
    }

    @usableFromInline final func write(_ value: Decimal, _ slot: Int) {
        prepareToWrite(slot).storeBytes(of: value, as: Decimal.self)
        EntityLayout.clearNull(row, slot)
    }

    @usableFromInline final func write(_ value: String, _ slot: Int) {
        prepareToWrite(slot).assumingMemoryBound(to: String?.self).pointee = value
        EntityLayout.clearNull(row, slot)
    }

    @usableFromInline final func write(_ value: Data, _ slot: Int) {
        prepareToWrite(slot).assumingMemoryBound(to: Data?.self).pointee = value
        EntityLayout.clearNull(row, slot)
    }

    final func write(_ reference: RowReference?, _ slot: Int) {
        guard let reference else { return writeNull(slot) }
        prepareToWrite(slot).storeBytes(of: reference, as: RowReference.self)
        EntityLayout.clearNull(row, slot)
    }

    @usableFromInline final func writeNull(_ slot: Int) {
        _ = prepareToWrite(slot)
        own.storeNull(at: slot)
    }

    final func write(_ value: SlotValue, _ slot: Int) {
        _ = prepareToWrite(slot)
        own.store(value, at: slot)
    }

    /// Makes the row writable, notes the change, and gives the slot's address.
    @inline(__always) private func prepareToWrite(_ slot: Int) -> UnsafeMutableRawPointer {
        checkQueue()
        if state.intersection(.writeMask) != .writable { prepareRow(toSet: slot) }
        mark(slot)
        return withScope { row + Int($0.ownOffsets[slot]) }
    }

    @inline(__always) final func mark(_ slot: Int) {
        if slot < 31 { changedBits |= 1 &<< UInt32(truncatingIfNeeded: slot) } else { noteHighChange(slot) }
    }

    @inline(never) private func noteHighChange(_ slot: Int) {
        changedBits |= 1 << 31
        extras.highChanges.insert(slot)
    }

    /// Fires a fault, takes an own row, tells the context.
    @inline(never) private func prepareRow(toSet slot: Int) {
        fireToWrite()
        if !state.contains(.ownRow) || state.contains(.sharedRow) { takeOwnRow(toSet: slot) }
        noteChange()
    }

    /// Makes the object one that is no fault. Where it cannot be read, it has no values but those that are set now: a save reads what they go on top of.
    final func fireToWrite() {
        if state.contains(.fault) { fire() }
        if state.contains(.rowless) { forgetRow() }
        state.subtract([.fault, .rowless])
    }

    /// Copies the row, so that nobody else sees what is written; what was committed stays as the base of the changes.
    ///
    /// - Parameter slot: one that the caller sets before anybody reads it.
    final func takeOwnRow(toSet slot: Int = -1) { takeOwnRow(copiedRow(toSet: slot)) }

    /// A copy of the row for the object alone, measured against the same base.
    final func copiedRow(toSet slot: Int = -1) -> OwnRow {
        let copy = OwnRow.copy(of: currentRow, replacing: slot)
        if state.contains(.unsavedRow) { copy.base = own.base }
        return copy
    }

    final func takeOwnRow(_ copy: OwnRow) {
        setRow(Row(copy))
        if state.isSuperset(of: [.inserted, .sharedRow]) { state.insert(.amended) }
        state.subtract([.sharedRow, .unsavedRow, .validated])
    }

    /// The row as it stands, for others to read: whoever writes next copies it. One that is shared already says itself what its values are.
    final func shareRow() -> Row {
        if state.contains(.ownRow), !state.contains(.sharedRow) {
            state.insert(.sharedRow)
            if !state.isDisjoint(with: .pending) { state.insert(.unsavedRow) }
        }
        return currentRow
    }

    /// Tells the context that the object changed in this event, and that a save has something to do.
    final func noteChange() {
        if !state.isDisjoint(with: [.noted, .loading]) { return }
        registeredContext?.tracker.noteChange(of: self)
    }

    /// The slots changed since the last save.
    final var changedSlots: SlotMask {
        var mask = noticedSlots
        if let extras = existingExtras { mask.formUnion(extras.quietChanges) }
        return mask
    }

    /// The slots changed since the last save, but for what nobody was told of.
    final var noticedSlots: SlotMask {
        var mask = slotsOfEvent
        if let extras = existingExtras { mask.formUnion(extras.changesBeforeEvent) }
        return mask
    }

    /// Runs what sets values that nobody is told of: the next save writes them if the object is saved anyway.
    final func withoutNotice(_ body: () -> Void) {
        let (outer, before) = (state.intersection(.loading), changedBits)
        // Slots from 31 on: only where something changed can it be that one of them did.
        let highBefore = before >> 31 != 0 ? extras.highChanges : SlotMask()
        state.insert(.loading)
        body()
        if outer.isEmpty { state.remove(.loading) }
        // A high slot that had changed before may have been joined by another.
        if changedBits != before || before >> 31 != 0 { hushChanges(since: before, highBefore) }
        if state.contains(.listed) { registeredContext?.tracker.index.noteChange(of: self) }
    }

    /// Runs what is a change like any other although values come in.
    final func withNotice(_ body: () -> Void) {
        let outer = state.intersection(.loading)
        state.remove(.loading)
        body()
        state.formUnion(outer)
    }

    /// Notes what changed since as unnoticed.
    private func hushChanges(since low: UInt32, _ high: SlotMask) {
        let new = slotsOfEvent.subtracting(SlotMask(low: UInt64(low & 0x7fff_ffff)).union(high))
        changedBits = low
        existingExtras?.highChanges = high
        if !new.isEmpty { extras.quietChanges = extras.quietChanges.union(new) }
    }

    /// The slots changed since the last save in the last event that changed the object.
    final var slotsOfEvent: SlotMask {
        var mask = SlotMask(low: UInt64(changedBits & 0x7fff_ffff))
        if changedBits >> 31 != 0 { mask.formUnion(extras.highChanges) }
        return mask
    }

    final func setChangedSlots(_ mask: SlotMask) {
        let quiet = existingExtras.map { $0.quietChanges.subtracting(noticedSlots).intersection(mask) } ?? SlotMask()
        changedBits = 0
        existingExtras?.highChanges = SlotMask()
        existingExtras?.changesBeforeEvent = SlotMask()
        existingExtras?.quietChanges = quiet
        mask.subtracting(quiet).forEach { slot in
            if slot < 31 { changedBits |= 1 << UInt32(slot) } else { noteHighChange(slot) }
        }
    }

    /// A new event begins for the object: what has changed before is kept apart.
    final func beginEvent() {
        if changedBits != 0 {
            extras.changesBeforeEvent = noticedSlots
            changedBits = 0
            extras.highChanges = SlotMask()
        }
        existingExtras?.toManysOfEvent = SlotMask()
    }

    final func isChanged(_ slot: Int) -> Bool { changedSlots.contains(slot) }
}
