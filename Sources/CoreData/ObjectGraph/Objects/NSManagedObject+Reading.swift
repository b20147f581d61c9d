import Foundation

/// Reading a row in place: the loads that typed accessors become.
extension NSManagedObject {
    @inlinable @inline(__always) final func slotAddress(_ slot: Int) -> UnsafeMutableRawPointer {
        scopeReference._withUnsafeGuaranteedRef {
            row + Int((state.contains(.ownRow) ? $0.ownOffsets : $0.batchOffsets)[slot])
        }
    }

    /// A scalar; its zero where the value is nil, whose place in a row is zeroed.
    @inlinable @inline(__always) final func load<Value>(_ slot: Int, as type: Value.Type) -> Value {
        checkReading()
        if state.contains(.fault) { fire(toRead: slot) }
        return slotAddress(slot).load(as: type)
    }

    @inlinable @inline(__always) final func isNull(_ slot: Int) -> Bool {
        checkReading()
        if state.contains(.fault) { fire(toRead: slot) }
        return EntityLayout.isNull(row, slot)
    }

    /// As `isNull`, for whoever reads a value that is there next, and is checked then.
    @inlinable @inline(__always) final func isNil(_ slot: Int) -> Bool {
        if state.contains(.fault) {
            checkReading()
            fire(toRead: slot)
        }
        guard EntityLayout.isNull(row, slot) else { return false }
        checkReading()
        return true
    }

    @usableFromInline final func string(_ slot: Int) -> String? {
        checkReading()
        if state.contains(.fault) { fire(toRead: slot) }
        if state.contains(.ownRow) { return slotAddress(slot).assumingMemoryBound(to: String?.self).pointee }
        return EntityLayout.isNull(row, slot) ? nil : batch.string(at: slotAddress(slot))
    }

    @usableFromInline final func data(_ slot: Int) -> Data? {
        checkReading()
        if state.contains(.fault) { fire(toRead: slot) }
        if state.contains(.ownRow) { return slotAddress(slot).assumingMemoryBound(to: Data?.self).pointee }
        return EntityLayout.isNull(row, slot) ? nil : Data(batch.bytes(at: slotAddress(slot)))
    }

    final func reference(_ slot: Int) -> RowReference? {
        isNull(slot) ? nil : slotAddress(slot).load(as: RowReference.self)
    }

    // The state says which class the row's owner has; both are set together.
    @inline(__always) final var batch: RowBatch { unsafeDowncast(rowOwner, to: RowBatch.self) }
    @inline(__always) final var own: OwnRow { unsafeDowncast(rowOwner, to: OwnRow.self) }

    @inline(__always) final var rowOwner: AnyObject {
        state.contains(.extras) ? unsafeDowncast(rowKeeper, to: ObjectExtras.self).rowOwner : rowKeeper
    }

    /// The row as it stands, whether or not the object is a fault.
    final var currentRow: Row { Row(owner: rowOwner, bytes: row, isOwn: state.contains(.ownRow)) }

    /// The row as of the last save or fetch: nil for an object that has never been saved.
    final var committedRow: Row? {
        if state.contains(.inserted) || state.contains(.rowless) { return nil }
        // The base of a shared row is another context's, whose unsaved values the row holds.
        guard state.contains(.ownRow), state.intersection([.sharedRow, .unsavedRow]) != .sharedRow else { return currentRow }
        return own.base ?? currentRow
    }

    /// Points the object at another row.
    final func setRow(_ new: Row) {
        noteChangeForChildren()
        row = new.bytes
        if state.contains(.extras) { extras.rowOwner = new.owner } else { rowKeeper = new.owner }
        if new.isOwn { state.insert(.ownRow) } else { state.remove(.ownRow) }
        state.remove(.rowless)
    }

    /// Children that have read the object, but not used it, look again.
    @inline(__always) final func noteChangeForChildren() {
        scopeReference._withUnsafeGuaranteedRef { $0.registry?.changes.note() }
    }

    /// What only some objects need; made at first use.
    final var extras: ObjectExtras {
        if !state.contains(.extras) {
            rowKeeper = ObjectExtras(rowOwner: rowKeeper)
            state.insert(.extras)
        }
        return unsafeDowncast(rowKeeper, to: ObjectExtras.self)
    }

    final var existingExtras: ObjectExtras? { state.contains(.extras) ? unsafeDowncast(rowKeeper, to: ObjectExtras.self) : nil }

    final var registeredContext: NSManagedObjectContext? {
        state.contains(.detached) ? nil : scopeReference._withUnsafeGuaranteedRef { $0.context }
    }
}
