import Foundation

/// A reference to one row, in a batch or on its own.
// Rows are immutable once they are shared between threads.
package struct Row: @unchecked Sendable {
    /// What keeps the row alive: a `RowBatch` or an `OwnRow`.
    let owner: AnyObject
    let bytes: UnsafeMutableRawPointer
    let isOwn: Bool

    @inline(__always) init(owner: AnyObject, bytes: UnsafeMutableRawPointer, isOwn: Bool) {
        self.owner = owner
        self.bytes = bytes
        self.isOwn = isOwn
    }

    package init(_ row: OwnRow) { self.init(owner: row, bytes: row.bytes, isOwn: true) }
    package init(_ batch: RowBatch, _ index: Int) { self.init(owner: batch, bytes: batch.row(index), isOwn: false) }

    // The flag says which class the owner has; both are set together in the initialisers above.
    @inline(__always) var own: OwnRow { unsafeDowncast(owner, to: OwnRow.self) }
    /// Calls `body` with the own row, and counts no references.
    @inline(__always) func withOwn<Result>(_ body: (OwnRow) throws -> Result) rethrows -> Result {
        // This row keeps its owner until the call returns.
        try Unmanaged.passUnretained(own)._withUnsafeGuaranteedRef(body)
    }
    /// As `withOwn`, for a row of a batch.
    @inline(__always) func withBatch<Result>(_ body: (RowBatch) throws -> Result) rethrows -> Result {
        try Unmanaged.passUnretained(batch)._withUnsafeGuaranteedRef(body)
    }
    @inline(__always) var batch: RowBatch { unsafeDowncast(owner, to: RowBatch.self) }

    package var layout: EntityLayout { layoutReference.takeUnretainedValue() }
    /// Layouts are never freed; unmanaged, so that comparing rows counts no references.
    @inline(__always) private var layoutReference: Unmanaged<EntityLayout> {
        isOwn ? withOwn { $0.layoutReference } : Unmanaged.passUnretained(batch.layout)
    }
    package var key: Int64 { EntityLayout.key(bytes) }
    package var version: Int32 { EntityLayout.version(bytes) }

    /// Where the row is listed; nil where no store has it.
    @inline(__always) var listing: RowCache.Listing? {
        isOwn ? withOwn { $0.withUnsafeMutablePointerToHeader { $0.pointee.listing } } : withBatch { $0.listing }
    }

    /// Whether both are the same row, not merely equal ones.
    static func === (left: Row, right: Row) -> Bool { left.bytes == right.bytes }
    static func !== (left: Row, right: Row) -> Bool { left.bytes != right.bytes }

    @inline(__always) func isNull(_ slot: Int) -> Bool { EntityLayout.isNull(bytes, slot) }

    @inline(__always) func slotAddress(_ slot: Int) -> UnsafeMutableRawPointer {
        bytes + Int(layoutReference._withUnsafeGuaranteedRef { isOwn ? $0.ownOffsets[slot] : $0.batchOffsets[slot] })
    }

    func reference(_ slot: Int) -> RowReference? { isNull(slot) ? nil : slotAddress(slot).load(as: RowReference.self) }
}

/// A stored value outside its row: for the edges, not for the paths that every value takes.
package enum SlotValue: Equatable {
    case null
    case integer(Int64)
    case boolean(Bool)
    case float(Float)
    case double(Double)
    case date(Date)
    case uuid(UUID)
    case decimal(Decimal)
    case string(String)
    case binary(Data)
    case reference(RowReference)
}

extension Row {
    package func value(_ slot: Int) -> SlotValue {
        if isNull(slot) { return .null }
        let address = slotAddress(slot)
        switch layout.kinds[slot] {
        // An own row can hold a number that is too large for its attribute, until validation refuses it.
        case .int16: return .integer(isOwn ? address.load(as: Int64.self) : Int64(address.load(as: Int16.self)))
        case .int32: return .integer(isOwn ? address.load(as: Int64.self) : Int64(address.load(as: Int32.self)))
        case .int64, .position: return .integer(address.load(as: Int64.self))
        case .boolean: return .boolean(address.load(as: UInt8.self) != 0)
        case .float: return .float(address.load(as: Float.self))
        case .double: return .double(address.load(as: Double.self))
        case .date: return .date(address.load(as: Date.self))
        case .uuid: return .uuid(address.load(as: UUID.self))
        case .decimal: return .decimal(address.load(as: Decimal.self))
        case .string: return isOwn ? own.string(slot).pointee.map(SlotValue.string) ?? .null : .string(batch.string(at: address))
        case .binary: return isOwn ? own.data(slot).pointee.map(SlotValue.binary) ?? .null : .binary(Data(batch.bytes(at: address)))
        case .reference: return .reference(address.load(as: RowReference.self))
        }
    }

    /// Whether both rows, of one layout, hold the same value there. Floating-point values are compared by their bits, text by its bytes.
    func equals(_ other: Row, at slot: Int) -> Bool {
        if isNull(slot) || other.isNull(slot) { return isNull(slot) == other.isNull(slot) }
        let (left, right) = (slotAddress(slot), other.slotAddress(slot))
        switch layoutReference._withUnsafeGuaranteedRef({ $0.kinds[slot] }) {
        case .int16: return left.load(as: Int16.self) == right.load(as: Int16.self)
        case .int32, .float: return left.load(as: Int32.self) == right.load(as: Int32.self)
        case .boolean: return left.load(as: UInt8.self) == right.load(as: UInt8.self)
        case .int64, .double, .date, .position: return left.load(as: Int64.self) == right.load(as: Int64.self)
        case .uuid, .reference: return memcmp(left, right, 16) == 0
        // One number has several representations. None of them is equal to another where it is no number.
        case .decimal: return memcmp(left, right, MemoryLayout<Decimal>.size) == 0 || value(slot) == other.value(slot)
        // NB: `==` on strings is canonical equivalence; a change between equivalent spellings is a change.
        case .string: return withText(slot) { text in other.withText(slot) { Self.areEqual(text, $0) } }
        case .binary: return value(slot) == other.value(slot)
        }
    }

    private static func areEqual(_ text: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard text.count == other.count, let start = text.baseAddress, let otherStart = other.baseAddress else {
            return text.isEmpty && other.isEmpty
        }
        return memcmp(start, otherStart, text.count) == 0
    }

    /// The slots among some that hold another value in the other row, of the same layout.
    func differences(from other: Row, among slots: SlotMask) -> SlotMask {
        var differences = SlotMask()
        slots.forEach { if !equals(other, at: $0) { differences.insert($0) } }
        return differences
    }

    /// Whether both rows have the same values, but for positions and some other slots, which are no part of a version, and numbers that a store may have rounded.
    func agrees(with other: Row, besides others: SlotMask = SlotMask()) -> Bool {
        let layout = layout
        guard layout === other.layout else { return false }
        return (0..<layout.count).allSatisfy { slot in
            layout.kinds[slot] == .position || others.contains(slot) || layout.floatingSlots.contains(slot) || equals(other, at: slot)
        }
    }

    /// The bytes of a text that is not null.
    func withText<Result>(_ slot: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard isOwn else { return body(batch.bytes(at: slotAddress(slot))) }
        var text = own.string(slot).pointee ?? ""
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

extension OwnRow {
    /// Sets one slot, whose kind fits the value.
    package func store(_ value: SlotValue, at index: Int) {
        let address = slot(index)
        if case .null = value { return storeNull(at: index) }
        EntityLayout.clearNull(bytes, index)
        switch value {
        case .null: break
        case .integer(let number): address.storeBytes(of: number, as: Int64.self)
        case .boolean(let flag): address.storeBytes(of: flag ? 1 : 0, as: Int64.self)
        case .float(let number): address.storeBytes(of: UInt64(number.bitPattern), as: UInt64.self)
        case .double(let number): address.storeBytes(of: number, as: Double.self)
        case .date(let date): address.storeBytes(of: date, as: Date.self)
        case .uuid(let uuid): address.storeBytes(of: uuid, as: UUID.self)
        case .decimal(let number): address.storeBytes(of: number, as: Decimal.self)
        case .string(let text): string(index).pointee = text
        case .binary(let bytes): data(index).pointee = bytes
        case .reference(let reference): address.storeBytes(of: reference, as: RowReference.self)
        }
    }

    func storeNull(at index: Int) {
        EntityLayout.setNull(bytes, index)
        switch layout.kinds[index] {
        case .string: string(index).pointee = nil
        case .binary: data(index).pointee = nil
        case .uuid, .reference: memset(slot(index), 0, 16)
        case .decimal: memset(slot(index), 0, 24)
        default: slot(index).storeBytes(of: 0, as: UInt64.self)
        }
    }
}
