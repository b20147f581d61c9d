import Foundation

/// Rows of one layout on their way into a store, one behind the other, with the bytes of their texts and data: what a batch insert has collected before
/// the store is asked.
///
/// A record looks like an own row, but that a text or data is the address and the number of its bytes.
// Sendable: written by the one that fills it, then read by the one that has it.
final class RowTape: @unchecked Sendable {
    private static let blockSize = 1 << 20

    /// Where a text or data is.
    struct Span {
        let start: UnsafeMutableRawPointer
        let count: Int
    }

    let layout: EntityLayout
    private(set) var records: [UnsafeMutableRawPointer] = []
    private var blocks: [UnsafeMutableRawPointer] = []
    private var next: UnsafeMutableRawPointer
    private var room = 0

    init(_ layout: EntityLayout) {
        self.layout = layout
        next = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
        blocks = [next]
    }

    deinit { blocks.forEach { $0.deallocate() } }

    /// Copies a row.
    func append(_ row: OwnRow) {
        let record = take(layout.ownSize)
        record.copyMemory(from: row.bytes, byteCount: layout.ownSize)
        for slot in layout.managedSlots where !EntityLayout.isNull(record, slot) {
            let span = layout.kinds[slot] == .string ? copyText(row.string(slot)) : copyData(row.data(slot))
            (record + Int(layout.ownOffsets[slot])).storeBytes(of: span, as: Span.self)
        }
        records.append(record)
    }

    private func take(_ count: Int) -> UnsafeMutableRawPointer {
        let count = (count + 7) & ~7
        if count > room { addBlock(atLeast: count) }
        defer {
            next += count
            room -= count
        }
        return next
    }

    @inline(never) private func addBlock(atLeast count: Int) {
        room = max(Self.blockSize, count)
        next = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 8)
        blocks.append(next)
    }

    @inline(__always) private func copyText(_ text: UnsafeMutablePointer<String?>) -> Span {
        // A slot that is not null has a string, and an optional one looks like any.
        text.withMemoryRebound(to: String.self, capacity: 1) { $0.pointee.withUTF8 { copy(UnsafeRawBufferPointer($0)) } }
    }

    private func copyData(_ data: UnsafeMutablePointer<Data?>) -> Span { (data.pointee ?? Data()).withUnsafeBytes(copy) }

    @inline(__always) private func copy(_ bytes: UnsafeRawBufferPointer) -> Span {
        let target = take(max(bytes.count, 1))
        if let start = bytes.baseAddress { target.copyMemory(from: start, byteCount: bytes.count) }
        return Span(start: target, count: bytes.count)
    }
}
