import CSQLite
import Foundation
import SQLiteDriver

/// Binds the values of own rows to statements.
///
/// Text is copied into one arena per statement run and bound where it lies; what does not fit, SQLite copies.
final class StatementWriter {
    private static let arenaSize = 64 * 1024

    struct Step {
        let slot: Int
        /// Where the slot lies in an own row.
        let offset: Int
        let kind: SlotKind
        /// Whether a column for the target's entity follows.
        let hasEntityColumn: Bool
        /// Whether the data begin with a byte that says where they are.
        let isMarked: Bool
    }

    private let arena = UnsafeMutableRawPointer.allocate(byteCount: arenaSize, alignment: 16)
    @exclusivity(unchecked) private var used = 0
    private let schema: SQLSchema
    private let store: Int32
    /// Gives the permanent reference for a temporary one.
    private let resolve: (RowReference) throws -> RowReference
    // The documented value of SQLITE_TRANSIENT, a macro that Swift does not import.
    private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(schema: SQLSchema, store: Int32, resolve: @escaping (RowReference) throws -> RowReference) {
        self.schema = schema
        self.store = store
        self.resolve = resolve
    }

    deinit { arena.deallocate() }

    /// A new run of the statement: what was bound for the one before is not needed any more.
    @inline(__always) func begin() { used = 0 }

    /// Binds the slots of an own row, by its bytes, from parameter `index` on; the next free parameter is returned.
    @inline(__always)
    func bind(_ bytes: UnsafeMutableRawPointer, _ steps: ContiguousArray<Step>, to handle: OpaquePointer, from index: Int32) throws -> Int32
    {
        try steps.withUnsafeBufferPointer { try bind(bytes, $0, to: handle, from: index) }
    }

    @inline(__always)
    private func bind(
        _ bytes: UnsafeMutableRawPointer,
        _ steps: UnsafeBufferPointer<Step>,
        to handle: OpaquePointer,
        from index: Int32
    ) throws -> Int32 {
        var (next, code) = (index, SQLITE_OK)
        for step in steps { code |= try bind(step, bytes, handle, &next) }
        if code != SQLITE_OK { throw try refusal(of: bytes, steps, handle, from: index) }
        return next
    }

    /// Binds one slot to the next parameters; whether SQLite takes it.
    @inline(__always)
    private func bind(_ step: Step, _ bytes: UnsafeMutableRawPointer, _ handle: OpaquePointer, _ next: inout Int32) throws -> Int32 {
        let address = bytes + step.offset
        let index = next
        next += step.hasEntityColumn ? 2 : 1
        if EntityLayout.isNull(bytes, step.slot) {
            let code = sqlite3_bind_null(handle, index)
            return step.hasEntityColumn ? code | sqlite3_bind_null(handle, index + 1) : code
        }
        switch step.kind {
        case .string: return bindText(address.assumingMemoryBound(to: String?.self), handle, index)
        case .int16, .int32, .int64, .boolean, .position: return sqlite3_bind_int64(handle, index, address.load(as: Int64.self))
        case .double, .date: return sqlite3_bind_double(handle, index, address.load(as: Double.self))
        case .float: return sqlite3_bind_double(handle, index, Double(address.load(as: Float.self)))
        case .decimal: return bindDecimal(address.load(as: Decimal.self), handle, index)
        case .uuid: return sqlite3_bind_blob(handle, index, address, 16, nil)
        case .binary:
            // As for text.
            let data = address.assumingMemoryBound(to: Data?.self).pointee.unsafelyUnwrapped
            return bindData(step.isMarked ? MarkedData.cell(data) : data, handle, index)
        case .reference: return try bindReference(address.load(as: RowReference.self), step, handle, index)
        }
    }

    /// Which slot it was: they are bound once more, one by one.
    @inline(never)
    private func refusal(
        of bytes: UnsafeMutableRawPointer,
        _ steps: UnsafeBufferPointer<Step>,
        _ handle: OpaquePointer,
        from index: Int32
    ) throws -> RefusedValue {
        var next = index
        for step in steps {
            let code = try bind(step, bytes, handle, &next)
            if code != SQLITE_OK { return RefusedValue(slot: step.slot, code: code) }
        }
        return RefusedValue(slot: nil, code: SQLITE_NOMEM)
    }

    @inline(__always) private func bindText(_ text: UnsafeMutablePointer<String?>, _ handle: OpaquePointer, _ index: Int32) -> Int32 {
        // A string slot that is not null holds a string, and an optional one looks like any. Its two words are borrowed, which costs no
        // reference count, and leaves the row alone, which others may be reading: `withUTF8` wants something that it could change.
        var borrowed = UnsafeRawPointer(text).loadUnaligned(as: (UInt64, UInt64).self)
        return withUnsafeMutablePointer(to: &borrowed) {
            $0.withMemoryRebound(to: String.self, capacity: 1) { $0.pointee.withUTF8 { bind($0, handle, index) } }
        }
    }

    @inline(__always) private func bind(_ bytes: UnsafeBufferPointer<UInt8>, _ handle: OpaquePointer, _ index: Int32) -> Int32 {
        guard used + bytes.count <= Self.arenaSize else { return bindLarge(bytes, handle, index) }
        let copy = arena + used
        // An empty string may have no address; any will do.
        if let source = bytes.baseAddress { copy.copyMemory(from: source, byteCount: bytes.count) }
        used += bytes.count
        return sqlite3_bind_text(handle, index, copy.assumingMemoryBound(to: CChar.self), Int32(bytes.count), nil)
    }

    private func bindLarge(_ bytes: UnsafeBufferPointer<UInt8>, _ handle: OpaquePointer, _ index: Int32) -> Int32 {
        bytes.withMemoryRebound(to: CChar.self) {
            sqlite3_bind_text64(handle, index, $0.baseAddress, UInt64($0.count), transient, UInt8(truncatingIfNeeded: SQLITE_UTF8))
        }
    }

    private func bindData(_ data: Data, _ handle: OpaquePointer, _ index: Int32) -> Int32 {
        // NB: a null pointer binds NULL, and empty data has one.
        if data.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
        return data.withUnsafeBytes { sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), transient) }
    }

    /// SQLite has no decimals: a whole number that fits is exact, every other becomes the nearest double, and what is none becomes NULL.
    private func bindDecimal(_ number: Decimal, _ handle: OpaquePointer, _ index: Int32) -> Int32 {
        switch StoredNumber(number) {
        case .integer(let integer): sqlite3_bind_int64(handle, index, integer)
        case .real(let double): sqlite3_bind_double(handle, index, double)
        }
    }

    private func bindReference(_ reference: RowReference, _ step: Step, _ handle: OpaquePointer, _ index: Int32) throws -> Int32 {
        let target = reference.key < 0 || reference.store != store ? try resolve(reference) : reference
        let code = sqlite3_bind_int64(handle, index, target.key)
        guard step.hasEntityColumn else { return code }
        return code | sqlite3_bind_int64(handle, index + 1, Int64(schema.number(ofEntityAt: target.entity)))
    }
}

/// A value that SQLite does not take: too large, or there is no memory for it.
struct RefusedValue: Error {
    let slot: Int?
    let code: Int32

    func error(_ entity: NSEntityDescription, url: URL?) -> CocoaError {
        let key = slot.map { entity.shape.layout.slots[$0].name } ?? "?"
        let error = SQLiteError(extendedCode: code, message: "\(entity.name ?? "?").\(key): \(SQLiteError.text(of: code))")
        return CocoaError(error, url: url, doing: "save", default: .persistentStoreSave)
    }
}
