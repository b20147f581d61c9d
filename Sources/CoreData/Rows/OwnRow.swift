import Foundation

package struct OwnRowHeader {
    /// Layouts are never freed; unmanaged, so that loops over rows count no references.
    let layout: Unmanaged<EntityLayout>
    /// Where the row is listed, once it is what the store holds.
    var listing: RowCache.Listing?
    /// The row that this one was copied from: what the owner's unsaved changes are measured against.
    var base: Row?
}

/// One row in memory of its own, with native strings and data: what an object has once it is inserted or changed.
///
/// Written only by the context that owns it; immutable once it is shared with a cache or another context.
package final class OwnRow: ManagedBuffer<OwnRowHeader, UInt64> {
    /// Held while a save puts a place into a row that other contexts may copy meanwhile.
    static let placing = Mutex()

    /// Held while a row that other contexts may have gets another base, and while one of them looks at its base.
    private static let rebasing = Mutex()

    /// A row with no values.
    package static func empty(_ layout: EntityLayout) -> OwnRow {
        let row = allocate(layout)
        memset(row.bytes, 0, layout.ownSize)
        layout.setAllNull(row.bytes)
        row.initializeManagedSlots()
        return row
    }

    @inline(__always) private static func allocate(_ layout: EntityLayout) -> OwnRow {
        let buffer = OwnRow.create(minimumCapacity: layout.ownSize >> 3) { _ in
            OwnRowHeader(layout: Unmanaged.passUnretained(layout), listing: nil, base: nil)
        }
        return unsafeDowncast(buffer, to: OwnRow.self)
    }

    /// The row that this one was copied from, while its changes are not saved.
    @inline(__always) var base: Row? {
        get { withUnsafeMutablePointerToHeader { $0.pointee.base } }
        set { withUnsafeMutablePointerToHeader { $0.pointee.base = newValue } }
    }

    /// Gives a row that other contexts may have another base.
    func rebase(on row: Row?) {
        let old = Self.rebasing.withLock {
            defer { base = row }
            return base
        }
        // Let go of outside of the lock: that may free it, which asks a cache.
        withExtendedLifetime(old) {}
    }

    /// Forgets an unsaved row between this one and what that was made from: rows that are saved from context to context would be a chain that grows
    /// with every save.
    ///
    /// - Precondition: the context whose changes this row has waits, and they count as saved.
    func skipBase() {
        guard let next = base, next.isOwn, next.listing == nil, let origin = Self.rebasing.withLock({ next.own.base }) else { return }
        rebase(on: origin)
    }

    @inline(__always) var layoutReference: Unmanaged<EntityLayout> { withUnsafeMutablePointerToHeader { $0.pointee.layout } }
    @inline(__always) var layout: EntityLayout { layoutReference.takeUnretainedValue() }

    @inline(__always) private func withLayout<Result>(_ body: (EntityLayout) -> Result) -> Result {
        layoutReference._withUnsafeGuaranteedRef(body)
    }

    private func initializeManagedSlots() {
        let row = bytes
        withLayout { layout in
            for slot in layout.managedSlots {
                let address = row + Int(layout.ownOffsets[slot])
                if layout.kinds[slot] == .string {
                    address.initializeMemory(as: String?.self, to: nil)
                } else {
                    address.initializeMemory(as: Data?.self, to: nil)
                }
            }
        }
    }

    deinit {
        withUnsafeMutablePointers { header, elements in
            let row = UnsafeMutableRawPointer(elements)
            if let listing = header.pointee.listing { listing.withdraw(self, key: EntityLayout.key(row)) }
            header.pointee.layout._withUnsafeGuaranteedRef { layout in
                for slot in layout.managedSlots {
                    let address = row + Int(layout.ownOffsets[slot])
                    if layout.kinds[slot] == .string {
                        address.assumingMemoryBound(to: String?.self).deinitialize(count: 1)
                    } else {
                        address.assumingMemoryBound(to: Data?.self).deinitialize(count: 1)
                    }
                }
            }
        }
    }

    @inline(__always) var bytes: UnsafeMutableRawPointer { UnsafeMutableRawPointer(withUnsafeMutablePointerToElements { $0 }) }

    @inline(__always) func slot(_ index: Int) -> UnsafeMutableRawPointer { withLayout { bytes + Int($0.ownOffsets[index]) } }
    @inline(__always) func string(_ index: Int) -> UnsafeMutablePointer<String?> { slot(index).assumingMemoryBound(to: String?.self) }
    @inline(__always) func data(_ index: Int) -> UnsafeMutablePointer<Data?> { slot(index).assumingMemoryBound(to: Data?.self) }

    /// Takes the values of another row of the same layout.
    ///
    /// - Precondition: nobody else has this row.
    func reset(to other: OwnRow) {
        withLayout { layout in
            let (source, target) = (other.bytes, bytes)
            for slot in layout.managedSlots where !EntityLayout.isNull(target, slot) { storeNull(at: slot) }
            memcpy(target + EntityLayout.nullsOffset, source + EntityLayout.nullsOffset, layout.ownSize - EntityLayout.nullsOffset)
            for slot in layout.managedSlots where !EntityLayout.isNull(source, slot) {
                // As in `copy(keepsBase:)`: what was there was nil, which owns nothing.
                let address = target + Int(layout.ownOffsets[slot])
                if layout.kinds[slot] == .string {
                    address.initializeMemory(as: String?.self, to: other.string(slot).pointee)
                } else {
                    address.initializeMemory(as: Data?.self, to: other.data(slot).pointee)
                }
            }
        }
    }

    /// A row with the same values that remembers this one as its base when `keepsBase`.
    func copy(keepsBase: Bool) -> OwnRow {
        let copy = withLayout { layout in
            let copy = OwnRow.allocate(layout)
            let (source, target) = (bytes, copy.bytes)
            target.storeBytes(of: EntityLayout.key(source), as: Int64.self)
            EntityLayout.setVersion(target, EntityLayout.version(source))
            memcpy(target + EntityLayout.nullsOffset, source + EntityLayout.nullsOffset, layout.ownSize - EntityLayout.nullsOffset)
            for slot in layout.managedSlots where !EntityLayout.isNull(source, slot) {
                // The bytes copied above own nothing: initialising in place takes the reference that they lack. A nil needs none.
                let offset = Int(layout.ownOffsets[slot])
                if layout.kinds[slot] == .string {
                    (target + offset).initializeMemory(
                        as: String?.self,
                        from: (source + offset).assumingMemoryBound(to: String?.self),
                        count: 1
                    )
                } else {
                    (target + offset).initializeMemory(
                        as: Data?.self,
                        from: (source + offset).assumingMemoryBound(to: Data?.self),
                        count: 1
                    )
                }
            }
            return copy
        }
        if keepsBase { copy.base = Row(self) }
        return copy
    }

    /// An own row with the values of another row, which becomes its base.
    ///
    /// - Parameter replaced: a slot that the caller sets next, whose text need not be copied.
    static func copy(of row: consuming Row, replacing replaced: Int) -> OwnRow {
        if row.isOwn { return row.own.copy(keepsBase: true) }
        let copy = row.withBatch { batch in
            // Layouts are never freed.
            Unmanaged.passUnretained(batch.layout)._withUnsafeGuaranteedRef { decode(row.bytes, batch, $0, replacing: replaced) }
        }
        copy.base = row
        return copy
    }

    @inline(__always)
    private static func decode(_ source: UnsafeRawPointer, _ batch: RowBatch, _ layout: EntityLayout, replacing replaced: Int) -> OwnRow {
        let copy = OwnRow.allocate(layout)
        let target = copy.bytes
        memcpy(target, source, EntityLayout.nullsOffset + 4 * layout.nullWordCount)
        for slot in 0..<layout.count {
            let (from, to) = (source + Int(layout.batchOffsets[slot]), target + Int(layout.ownOffsets[slot]))
            initialize(to, layout.kinds[slot], from, isNull: slot == replaced || EntityLayout.isNull(source, slot), batch)
        }
        return copy
    }

    /// Initialises one slot from that of a row of a batch.
    @inline(__always) private static func initialize(
        _ target: UnsafeMutableRawPointer,
        _ kind: SlotKind,
        _ source: UnsafeRawPointer,
        isNull: Bool,
        _ batch: RowBatch
    ) {
        switch kind {
        case .string: target.initializeMemory(as: String?.self, to: isNull ? nil : batch.string(at: source))
        case .binary: target.initializeMemory(as: Data?.self, to: isNull ? nil : Data(batch.bytes(at: source)))
        case .uuid, .reference: memcpy(target, source, 16)
        case .decimal: memcpy(target, source, 24)
        case .int16: target.storeBytes(of: Int64(source.load(as: Int16.self)), as: Int64.self)
        case .int32: target.storeBytes(of: Int64(source.load(as: Int32.self)), as: Int64.self)
        case .boolean: target.storeBytes(of: Int64(source.load(as: UInt8.self)), as: Int64.self)
        case .float: target.storeBytes(of: UInt64(source.load(as: UInt32.self)), as: UInt64.self)
        case .int64, .double, .date, .position: target.storeBytes(of: source.load(as: UInt64.self), as: UInt64.self)
        }
    }

    /// Overwrites one slot with that of another row of the same layout.
    func assign(_ index: Int, from row: Row) {
        let value = row.value(index)
        store(value, at: index)
    }
}

extension RowBatch {
    @inline(__always) func string(at slot: UnsafeRawPointer) -> String {
        String(decoding: bytes(at: slot), as: UTF8.self)
    }
}
