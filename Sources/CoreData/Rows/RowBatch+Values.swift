import Foundation

extension RowBatch {
    /// The next row, with a value for each slot that fits its kind. For the edges, not for the paths that every value takes.
    package func append(key: Int64, version: Int32, values: [SlotValue]) {
        let row = append(key: key, version: version)
        for slot in 0..<layout.count { store(values[slot], slot, row) }
    }

    private func store(_ value: SlotValue, _ slot: Int, _ row: UnsafeMutableRawPointer) {
        let (kind, address) = (layout.kinds[slot], row + Int(layout.batchOffsets[slot]))
        memset(address, 0, kind.batchSize)
        switch value {
        case .null: EntityLayout.setNull(row, slot)
        case .integer(let number): store(number, kind, address)
        case .boolean(let flag): address.storeBytes(of: flag ? 1 : 0, as: UInt8.self)
        case .float(let number): address.storeBytes(of: number, as: Float.self)
        case .double(let number): address.storeBytes(of: number, as: Double.self)
        case .date(let date): address.storeBytes(of: date, as: Date.self)
        case .uuid(let uuid): address.storeBytes(of: uuid, as: UUID.self)
        case .decimal(let number): address.storeBytes(of: number, as: Decimal.self)
        case .reference(let reference): address.storeBytes(of: reference, as: RowReference.self)
        case .string(var text): text.withUTF8 { store(UnsafeRawPointer($0.baseAddress), $0.count, at: address) }
        case .binary(let data): data.withUnsafeBytes { store($0.baseAddress, $0.count, at: address) }
        }
    }

    private func store(_ number: Int64, _ kind: SlotKind, _ address: UnsafeMutableRawPointer) {
        switch kind {
        case .int16: address.storeBytes(of: Int16(truncatingIfNeeded: number), as: Int16.self)
        case .int32: address.storeBytes(of: Int32(truncatingIfNeeded: number), as: Int32.self)
        default: address.storeBytes(of: number, as: Int64.self)
        }
    }
}
