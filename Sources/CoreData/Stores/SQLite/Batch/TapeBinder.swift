import CSQLite
import Foundation

/// Binds the records of a tape to the parameters of an INSERT. Texts and data are bound where they lie.
struct TapeBinder {
    private let steps: ContiguousArray<StatementWriter.Step>
    private let schema: SQLSchema

    init(_ steps: ContiguousArray<StatementWriter.Step>, store: SQLiteStore) { (self.steps, schema) = (steps, store.schema) }

    /// The next free parameter is returned.
    ///
    /// - Throws: `RefusedValue`.
    @inline(__always)
    func bind(_ record: UnsafeMutableRawPointer, to handle: OpaquePointer, from index: Int32) throws -> Int32 {
        var next = index
        try steps.withUnsafeBufferPointer { steps in
            for step in steps {
                let code = bind(step, record, handle, next)
                if code != SQLITE_OK { throw RefusedValue(slot: step.slot, code: code) }
                next += step.hasEntityColumn ? 2 : 1
            }
        }
        return next
    }

    @inline(__always)
    private func bind(_ step: StatementWriter.Step, _ record: UnsafeMutableRawPointer, _ handle: OpaquePointer, _ index: Int32) -> Int32 {
        let address = record + step.offset
        if EntityLayout.isNull(record, step.slot) {
            let code = sqlite3_bind_null(handle, index)
            return step.hasEntityColumn ? code | sqlite3_bind_null(handle, index + 1) : code
        }
        switch step.kind {
        case .string:
            let span = address.load(as: RowTape.Span.self)
            return sqlite3_bind_text64(
                handle,
                index,
                span.start.assumingMemoryBound(to: CChar.self),
                UInt64(span.count),
                nil,
                UInt8(truncatingIfNeeded: SQLITE_UTF8)
            )
        case .int16, .int32, .int64, .boolean, .position: return sqlite3_bind_int64(handle, index, address.load(as: Int64.self))
        case .double, .date: return sqlite3_bind_double(handle, index, address.load(as: Double.self))
        case .float: return sqlite3_bind_double(handle, index, Double(address.load(as: Float.self)))
        case .decimal:
            switch StoredNumber(address.load(as: Decimal.self)) {
            case .integer(let integer): return sqlite3_bind_int64(handle, index, integer)
            case .real(let double): return sqlite3_bind_double(handle, index, double)
            }
        case .uuid: return sqlite3_bind_blob(handle, index, address, 16, nil)
        case .binary: return bindData(address.load(as: RowTape.Span.self), step.isMarked, handle, index)
        case .reference:
            let target = address.load(as: RowReference.self)
            let code = sqlite3_bind_int64(handle, index, target.key)
            guard step.hasEntityColumn else { return code }
            return code | sqlite3_bind_int64(handle, index + 1, Int64(schema.number(ofEntityAt: target.entity)))
        }
    }

    private func bindData(_ span: RowTape.Span, _ isMarked: Bool, _ handle: OpaquePointer, _ index: Int32) -> Int32 {
        if !isMarked { return sqlite3_bind_blob64(handle, index, span.start, UInt64(span.count), nil) }
        let cell = MarkedData.cell(Data(bytes: span.start, count: span.count))
        // The documented value of SQLITE_TRANSIENT, a macro that Swift does not import.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        return cell.withUnsafeBytes { sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), transient) }
    }
}
