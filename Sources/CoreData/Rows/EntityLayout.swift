import CShims
import Foundation

/// Where the stored properties of an entity lie in its rows.
///
/// Both kinds of row begin alike: the primary key (8 bytes), the version (4), the null bits in words of 32, then the slots.
/// Layouts are interned by shape and never freed, so that a model loaded twice shares them and an offset can be kept by address.
@usableFromInline package final class EntityLayout: Sendable {
    package struct Slot: Hashable, Sendable {
        package let name: String
        package let kind: SlotKind
    }

    static let keyOffset = 0
    static let versionOffset = 8
    @usableFromInline static let nullsOffset = 12

    /// Unique among all layouts of the process; never 0.
    @usableFromInline let id: UInt32
    package let slots: [Slot]
    let slotsByName: [String: Int]
    // Read-only tables, written once before the layout is shared, never freed; pointers so that an accessor pays no retain and no bounds check.
    @usableFromInline nonisolated(unsafe) let ownOffsets: UnsafePointer<UInt32>
    @usableFromInline nonisolated(unsafe) let batchOffsets: UnsafePointer<UInt32>
    nonisolated(unsafe) let kinds: UnsafePointer<SlotKind>
    /// The slots of own rows that hold reference-counted values.
    nonisolated(unsafe) let managedSlots: UnsafeBufferPointer<Int>
    nonisolated(unsafe) let referenceSlots: UnsafeBufferPointer<Int>
    nonisolated(unsafe) let floatingSlots: UnsafeBufferPointer<Int>
    /// The slots of positions in ordered relationships.
    nonisolated(unsafe) let positionSlots: UnsafeBufferPointer<Int>
    /// The slots of integers that are narrower than their place in an own row.
    nonisolated(unsafe) let narrowSlots: UnsafeBufferPointer<Int>
    let nullWordCount: Int
    let ownSize: Int
    let batchStride: Int

    private init(id: UInt32, slots: [Slot]) {
        self.id = id
        self.slots = slots
        slotsByName = Dictionary(uniqueKeysWithValues: slots.enumerated().map { ($1.name, $0) })
        nullWordCount = (slots.count + 31) / 32
        let header = (Self.nullsOffset + 4 * nullWordCount + 7) & ~7
        let own = Self.offsets(of: slots, from: header, size: \.ownSize)
        let batch = Self.offsets(of: slots, from: header, size: \.batchSize)
        (ownSize, batchStride) = (own.size, batch.size)
        ownOffsets = Self.table(own.offsets)
        batchOffsets = Self.table(batch.offsets)
        kinds = Self.table(slots.map(\.kind))
        managedSlots = Self.list(slots.indices.filter { slots[$0].kind.isManaged })
        referenceSlots = Self.list(slots.indices.filter { slots[$0].kind == .reference })
        positionSlots = Self.list(slots.indices.filter { slots[$0].kind == .position })
        narrowSlots = Self.list(slots.indices.filter { slots[$0].kind == .int16 || slots[$0].kind == .int32 })
        floatingSlots = Self.list(slots.indices.filter { [.double, .float, .decimal, .date].contains(slots[$0].kind) })
    }

    var count: Int { slots.count }

    /// Offsets by descending size, so that each slot is aligned to its own size, up to 8.
    private static func offsets(of slots: [Slot], from start: Int, size: (SlotKind) -> Int) -> (offsets: [UInt32], size: Int) {
        var offsets = [UInt32](repeating: 0, count: slots.count)
        var next = start
        for width in [24, 16, 8, 4, 2, 1] {
            for index in slots.indices where size(slots[index].kind) == width {
                offsets[index] = UInt32(next)
                next += width
            }
        }
        return (offsets, (next + 7) & ~7)
    }

    private static func table<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
        let table = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
        table.initialize(from: elements, count: elements.count)
        return UnsafePointer(table)
    }

    private static func list(_ slots: [Int]) -> UnsafeBufferPointer<Int> { UnsafeBufferPointer(start: table(slots), count: slots.count) }

    private static let interned = Lock<[[Slot]: EntityLayout]>([:])

    /// The one layout with these slots.
    static func interned(_ slots: [Slot]) -> EntityLayout {
        interned.withLock { layouts in
            if let layout = layouts[slots] { return layout }
            let layout = EntityLayout(id: UInt32(layouts.count + 1), slots: slots)
            layouts[slots] = layout
            return layout
        }
    }
}

extension EntityLayout {
    @usableFromInline @inline(__always) static func isNull(_ row: UnsafeRawPointer, _ slot: Int) -> Bool {
        row.load(fromByteOffset: nullsOffset + 4 * (slot >> 5), as: UInt32.self) & (1 &<< UInt32(truncatingIfNeeded: slot & 31)) != 0
    }

    @inline(__always) static func setNull(_ row: UnsafeMutableRawPointer, _ slot: Int) {
        let word = row + (nullsOffset + 4 * (slot >> 5))
        word.storeBytes(of: word.load(as: UInt32.self) | (1 &<< UInt32(truncatingIfNeeded: slot & 31)), as: UInt32.self)
    }

    @inline(__always) static func clearNull(_ row: UnsafeMutableRawPointer, _ slot: Int) {
        let word = row + (nullsOffset + 4 * (slot >> 5))
        word.storeBytes(of: word.load(as: UInt32.self) & ~(1 &<< UInt32(truncatingIfNeeded: slot & 31)), as: UInt32.self)
    }

    @inline(__always) static func key(_ row: UnsafeRawPointer) -> Int64 { row.load(fromByteOffset: keyOffset, as: Int64.self) }
    /// The version of a row: 0 where it is not what a store holds, or not known to be.
    ///
    /// NB: the one thing that is written into a row that others read, when a store has taken it.
    @inline(__always) static func version(_ row: UnsafeRawPointer) -> Int32 { cd_loadRelaxed(row + versionOffset) }
    /// What a store's version is in a row: 0, not known, for one that has no room there or no next one.
    @inline(__always) static func version(ofStored version: Int64) -> Int32 {
        version < Int64(Int32.max) && version > Int64(Int32.min) ? Int32(truncatingIfNeeded: version) : 0
    }
    /// The version of a row that is written again under the key of one that was deleted: beyond those which that one can have had since it was
    /// last read, or an edit of it would go into the other row.
    static func versionOfReturn(after version: Int32) -> Int32 {
        // By chance, so that two who write it again in turn do not give it the same one.
        let distance = Int32.random(in: 64..<4096)
        return version > 0 && version < Int32.max / 2 ? version + distance : distance
    }
    /// The version that a store gives a new row.
    static func versionOfInsert(_ row: UnsafeRawPointer) -> Int32 { max(version(row), 1) }
    @inline(__always) static func setVersion(_ row: UnsafeMutableRawPointer, _ version: Int32) {
        cd_storeRelaxed(row + versionOffset, version)
    }

    /// Sets every null bit: the row of an object with no values.
    func setAllNull(_ row: UnsafeMutableRawPointer) {
        memset(row + Self.nullsOffset, 0xff, 4 * nullWordCount)
    }
}
