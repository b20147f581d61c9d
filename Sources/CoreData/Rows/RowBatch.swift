import Foundation

/// Up to `capacity` rows of one layout with one arena for their text and data.
///
/// Filled by one thread; immutable, and shared freely, once it is published. Values longer than `largeLimit` have allocations of their own.
// Nothing is written after publication, and the cache reference is set before it.
package final class RowBatch: @unchecked Sendable {
    static let largeLimit = 4096
    static let arenaLimit = 256 * 1024
    private static let largeMark = UInt32.max

    let layout: EntityLayout
    let capacity: Int
    @exclusivity(unchecked) private(set) var count = 0
    let base: UnsafeMutableRawPointer
    @exclusivity(unchecked) private(set) var arena: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked) private(set) var arenaUsed = 0
    private var arenaCapacity: Int
    @exclusivity(unchecked) private var large: [LargeValue] = []
    /// Where the rows are listed while the batch lives.
    @exclusivity(unchecked) var listing: RowCache.Listing?
    /// What its rows stand in for, where they have no values or some only: rows that are to be read yet. Set before anybody has an object with
    /// one of them.
    var unread: AnyObject?

    private final class LargeValue {
        let bytes: UnsafeMutableRawBufferPointer
        init(_ source: UnsafeRawPointer, _ count: Int) {
            bytes = .allocate(byteCount: count, alignment: 1)
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: source, count: count))
        }
        deinit { bytes.deallocate() }
    }

    package init(layout: EntityLayout, capacity: Int) {
        self.layout = layout
        self.capacity = capacity
        base = .allocate(byteCount: layout.batchStride * capacity, alignment: 8)
        arenaCapacity = layout.managedSlots.isEmpty ? 16 : 32 * capacity * layout.managedSlots.count
        // NB: malloc rather than allocate, because realloc has no counterpart in Swift. It fails only where the process is out of memory.
        arena = malloc(arenaCapacity)!.assumingMemoryBound(to: UInt8.self)
    }

    /// One row without values, for objects whose rows are to be read yet.
    convenience init(emptyFor unread: AnyObject, layout: EntityLayout) {
        self.init(layout: layout, capacity: 1)
        let row = append(key: 0, version: 0)
        memset(row, 0, layout.batchStride)
        layout.setAllNull(row)
        trim()
        self.unread = unread
    }

    deinit {
        listing?.withdraw(self)
        base.deallocate()
        free(arena)
    }

    /// Nil for all slots but some, whose values are there.
    func setNull(but held: SlotMask) {
        for slot in 0..<layout.count where !held.contains(slot) {
            for index in 0..<count {
                EntityLayout.setNull(row(index), slot)
                memset(row(index) + Int(layout.batchOffsets[slot]), 0, layout.kinds[slot].batchSize)
            }
        }
    }

    var isFull: Bool { count == capacity || arenaUsed >= Self.arenaLimit }
    var byteCount: Int { layout.batchStride * capacity + arenaCapacity + large.reduce(0) { $0 + $1.bytes.count } }

    @inline(__always) func row(_ index: Int) -> UnsafeMutableRawPointer { base + index * layout.batchStride }

    /// The next row, without values but for its key and version; its null bits are clear. Positions in ordered relationships are 0: there is one,
    /// which the owner reads, and the row does not know.
    @inline(__always) func append(key: Int64, version: Int32) -> UnsafeMutableRawPointer {
        let row = base + count * layout.batchStride
        row.storeBytes(of: key, as: Int64.self)
        EntityLayout.setVersion(row, version)
        for word in 0..<layout.nullWordCount {
            row.storeBytes(of: 0, toByteOffset: EntityLayout.nullsOffset + 4 * word, as: UInt32.self)
        }
        for slot in layout.positionSlots { row.storeBytes(of: 0, toByteOffset: Int(layout.batchOffsets[slot]), as: Int64.self) }
        count += 1
        return row
    }

    /// Copies bytes into the arena, or aside when they are many, and notes their place in the slot.
    @inline(__always) func store(_ bytes: UnsafeRawPointer?, _ byteCount: Int, at slot: UnsafeMutableRawPointer) {
        var offset = UInt32(truncatingIfNeeded: arenaUsed)
        var length = UInt32(truncatingIfNeeded: byteCount)
        if byteCount > Self.largeLimit {
            (offset, length) = storeLarge(bytes, byteCount)
        } else if let bytes {
            if arenaUsed + byteCount > arenaCapacity { growArena(by: byteCount) }
            memcpy(arena + arenaUsed, bytes, byteCount)
            arenaUsed += byteCount
        }
        slot.storeBytes(of: offset, as: UInt32.self)
        slot.storeBytes(of: length, toByteOffset: 4, as: UInt32.self)
    }

    @inline(never) private func storeLarge(_ bytes: UnsafeRawPointer?, _ byteCount: Int) -> (UInt32, UInt32) {
        // A count above the limit is never that of an empty value, so there are bytes.
        large.append(LargeValue(bytes!, byteCount))
        return (UInt32(large.count - 1), Self.largeMark)
    }

    @inline(never) private func growArena(by byteCount: Int) {
        arenaCapacity = max(arenaCapacity * 2, arenaUsed + byteCount)
        // As in init: realloc fails only where the process is out of memory.
        arena = realloc(arena, arenaCapacity)!.assumingMemoryBound(to: UInt8.self)
    }

    /// Gives back the part of the arena that the rows do not use.
    func trim() {
        guard arenaCapacity - arenaUsed > 64 else { return }
        arenaCapacity = max(arenaUsed, 1)
        // As in init.
        arena = realloc(arena, arenaCapacity)!.assumingMemoryBound(to: UInt8.self)
    }

    /// The bytes of a text or data slot that is not null.
    @inline(__always) func bytes(at slot: UnsafeRawPointer) -> UnsafeRawBufferPointer {
        let offset = slot.load(as: UInt32.self)
        let length = slot.load(fromByteOffset: 4, as: UInt32.self)
        if length == Self.largeMark { return UnsafeRawBufferPointer(large[Int(offset)].bytes) }
        return UnsafeRawBufferPointer(start: arena + Int(offset), count: Int(length))
    }

    /// The index of the row with this key. Rows mostly ascend by key, so the search begins where a dense run would have it.
    func index(ofKey key: Int64) -> Int? {
        guard count > 0 else { return nil }
        let guess = key &- EntityLayout.key(base)
        if guess >= 0, guess < Int64(count), EntityLayout.key(row(Int(guess))) == key { return Int(guess) }
        return (0..<count).first { EntityLayout.key(row($0)) == key }
    }
}
