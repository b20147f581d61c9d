import CSQLite
import Foundation
import SQLiteDriver

/// Decodes the rows of a statement into batches and gives them out in runs, one batch each.
///
/// A batch is of one entity, grows with the result (1, 8, 64, 128 rows), and is not written any more once it is given out.
struct RowReader {
    private let statement: Statement
    private let columns: SelectedColumns
    private let store: SQLiteStore
    private let first: Int32
    /// Called with the statement on each row, before the row is decoded.
    var onRow: ((Statement) -> Void)?

    /// - Parameter first: where the columns begin in the statement's.
    init(_ statement: Statement, _ columns: SelectedColumns, from first: Int32 = 0, store: SQLiteStore) {
        self.statement = statement
        self.columns = columns
        self.first = first
        self.store = store
    }

    /// Reads to the end.
    func run(_ body: (RowRun) throws -> Void) throws {
        guard try statement.step() else { return }
        var number = Int(statement.int(first + 1))
        var plan = try plan(number)
        var batch = RowBatch(layout: plan.shape.layout, capacity: 1)
        repeat {
            let next = Int(truncatingIfNeeded: sqlite3_column_int64(statement.handle, first + 1))
            if next != number {
                try emit(batch, plan, body)
                (number, plan) = (next, try self.plan(next))
                batch = RowBatch(layout: plan.shape.layout, capacity: 1)
            } else if batch.isFull {
                try emit(batch, plan, body)
                batch = RowBatch(layout: plan.shape.layout, capacity: Self.capacity(after: batch.capacity))
            }
            onRow?(statement)
            Self.decode(statement.handle, plan, first, store, into: batch)
        } while try statement.next()
        try emit(batch, plan, body)
    }

    private static func capacity(after capacity: Int) -> Int { capacity < 8 ? 8 : capacity < 64 ? 64 : 128 }

    private func plan(_ number: Int) throws -> ColumnPlan {
        if let plan = columns.plan(forNumber: number) { return plan }
        throw CocoaError.coreData(
            .persistentStoreIncompatibleSchema,
            "A row says Z_ENT = \(number), which is no entity of those asked for."
        )
    }

    private func emit(_ batch: RowBatch, _ plan: ColumnPlan, _ body: (RowRun) throws -> Void) throws {
        guard batch.count > 0 else { return }
        batch.trim()
        let known = store.cache.publish(batch, root: plan.entity.rootEntity.index)
        try body(RowRun(batch: batch, range: 0..<batch.count, entity: plan.entity, store: store.number, known: known))
    }

    /// Decodes the current row.
    @inline(__always)
    static func decode(_ handle: OpaquePointer, _ plan: ColumnPlan, _ first: Int32, _ store: SQLiteStore, into batch: RowBatch) {
        let row = batch.append(
            key: sqlite3_column_int64(handle, first),
            version: Int32(truncatingIfNeeded: sqlite3_column_int64(handle, first + 2))
        )
        let offsets = plan.shape.layout.batchOffsets
        plan.steps.withUnsafeBufferPointer { steps in
            for step in steps { decode(handle, step, row, row + Int(offsets[step.slot]), batch, store) }
        }
    }

    @inline(__always)
    private static func decode(
        _ handle: OpaquePointer,
        _ step: ColumnStep,
        _ row: UnsafeMutableRawPointer,
        _ place: UnsafeMutableRawPointer,
        _ batch: RowBatch,
        _ store: SQLiteStore
    ) {
        let column = step.column
        switch step.kind {
        case .string:
            if let text = sqlite3_column_text(handle, column) {
                batch.store(text, Int(sqlite3_column_bytes(handle, column)), at: place)
            } else {
                place.storeBytes(of: 0, as: UInt64.self)
                EntityLayout.setNull(row, step.slot)
            }
        case .int64:
            let value = sqlite3_column_int64(handle, column)
            place.storeBytes(of: value, as: Int64.self)
            if value == 0 { noteNull(handle, column, row, step.slot) }
        case .double, .date:
            // NB: a whole number of seconds is stored as an integer (NUMERIC affinity); column_double reads both.
            let value = sqlite3_column_double(handle, column)
            place.storeBytes(of: value, as: Double.self)
            if value == 0 { noteNull(handle, column, row, step.slot) }
        case .int16:
            let value = sqlite3_column_int64(handle, column)
            place.storeBytes(of: Int16(truncatingIfNeeded: value), as: Int16.self)
            if value == 0 { noteNull(handle, column, row, step.slot) }
        case .int32:
            let value = sqlite3_column_int64(handle, column)
            place.storeBytes(of: Int32(truncatingIfNeeded: value), as: Int32.self)
            if value == 0 { noteNull(handle, column, row, step.slot) }
        case .boolean:
            let value = sqlite3_column_int64(handle, column)
            place.storeBytes(of: value == 0 ? 0 : 1, as: UInt8.self)
            if value == 0 { noteNull(handle, column, row, step.slot) }
        case .float:
            let value = sqlite3_column_double(handle, column)
            place.storeBytes(of: Float(value), as: Float.self)
            if value == 0 { noteNull(handle, column, row, step.slot) }
        default: decodeWide(handle, step, row, place, batch, store)
        }
    }

    private static func decodeWide(
        _ handle: OpaquePointer,
        _ step: ColumnStep,
        _ row: UnsafeMutableRawPointer,
        _ place: UnsafeMutableRawPointer,
        _ batch: RowBatch,
        _ store: SQLiteStore
    ) {
        if sqlite3_column_type(handle, step.column) == SQLITE_NULL {
            memset(place, 0, step.kind == .binary ? 8 : 16)
            return EntityLayout.setNull(row, step.slot)
        }
        switch step.kind {
        case .uuid:
            memset(place, 0, 16)
            if let bytes = sqlite3_column_blob(handle, step.column) {
                memcpy(place, bytes, min(16, Int(sqlite3_column_bytes(handle, step.column))))
            }
        case .binary:
            let bytes = sqlite3_column_blob(handle, step.column)
            batch.store(bytes, Int(sqlite3_column_bytes(handle, step.column)), at: place)
        default:
            let reference = RowReference(
                key: sqlite3_column_int64(handle, step.column),
                entity: targetEntity(handle, step, store),
                store: store.number
            )
            place.storeBytes(of: reference, as: RowReference.self)
        }
    }

    /// The target's entity: the one that the companion column says, else the relationship's destination.
    private static func targetEntity(_ handle: OpaquePointer, _ step: ColumnStep, _ store: SQLiteStore) -> Int32 {
        guard step.entityColumn >= 0 else { return step.targetEntity }
        let number = Int(sqlite3_column_int64(handle, step.entityColumn))
        return store.schema.entity(numbered: number).map { Int32($0.description.index) } ?? step.targetEntity
    }

    @inline(__always)
    private static func noteNull(_ handle: OpaquePointer, _ column: Int32, _ row: UnsafeMutableRawPointer, _ slot: Int) {
        if sqlite3_column_type(handle, column) == SQLITE_NULL { EntityLayout.setNull(row, slot) }
    }
}
