import CSQLite
import Foundation
import Logging
import SQLiteDriver

/// Decodes rows into batches and gives them out in runs, one batch each.
///
/// A batch is of one entity, grows with the result (1, 8, 64, 128 rows), and is not written any more once it is given out.
final class RowReader {
    private let columns: SelectedColumns
    private let store: SQLiteStore
    private let storeNumber: Int32
    private let first: Int32
    /// When the read began: the rows are as of then.
    private let moment: UInt32
    private let body: (RowRun) throws -> Void
    /// Nil before the first row: a file may say any number.
    @exclusivity(unchecked) private var number: Int?
    @exclusivity(unchecked) private var plan: ColumnPlan?
    @exclusivity(unchecked) private var batch: RowBatch?

    /// - Parameters:
    ///   - first: where the columns begin in the statement's.
    ///   - body: called with each run, in order.
    init(_ columns: SelectedColumns, from first: Int32 = 0, store: SQLiteStore, _ body: @escaping (RowRun) throws -> Void) {
        self.columns = columns
        self.first = first
        self.store = store
        storeNumber = store.number
        self.body = body
        moment = store.cache.nextMoment()
    }

    /// Reads a statement to its end, the rows one by one.
    ///
    /// - Parameter onRow: called with the statement on each row, before the row is decoded.
    func read(_ statement: Statement, onRow: ((Statement) -> Void)? = nil) throws {
        guard try statement.step() else { return }
        repeat {
            onRow?(statement)
            try add(statement)
        } while try statement.next()
        try finish()
    }

    /// Reads a statement of the form `SELECT cd_rows(…)`, all rows in one run of SQLite's own loop.
    func sink(_ statement: Statement, _ connection: Connection) throws {
        try connection.sink(statement) { try add($0) }
        try finish()
    }

    /// As above, but for the rows that are not wanted.
    func sink(_ statement: Statement, _ connection: Connection, where isWanted: (ArgumentValues) -> Bool) throws {
        try connection.sink(statement) { if isWanted($0) { try add($0) } }
        try finish()
    }

    @inline(__always) private func add(_ values: some RowValues) throws {
        let next = Int(truncatingIfNeeded: sqlite3_value_int64(values.value(first + 1)))
        let key = sqlite3_value_int64(values.value(first))
        if next != number || key <= 0 || batch.unsafelyUnwrapped.isFull { try turn(to: next, key) }
        // Both were set by the first turn, and the reader keeps them until the next.
        Unmanaged.passUnretained(plan.unsafelyUnwrapped)._withUnsafeGuaranteedRef { plan in
            Unmanaged.passUnretained(batch.unsafelyUnwrapped)._withUnsafeGuaranteedRef { decode(key, values, plan, into: $0) }
        }
    }

    /// Gives out the batch so far and begins another: of the next entity, or a larger one of the same.
    @inline(never) private func turn(to next: Int, _ key: Int64) throws {
        guard key > 0 else { throw Self.unusableKey(key, columns.plan(forNumber: next)?.entity) }
        try finish()
        if next == number, let plan, let batch {
            self.batch = RowBatch(layout: plan.shape.layout, capacity: Self.capacity(after: batch.capacity))
            return
        }
        guard let plan = columns.plan(forNumber: next) else {
            throw CocoaError.coreData(
                .persistentStoreIncompatibleSchema,
                "A row says \(SQLNames.entity) = \(next), which is no entity of those asked for."
            )
        }
        (number, self.plan) = (next, plan)
        batch = RowBatch(layout: plan.shape.layout, capacity: 1)
    }

    /// Core Data gives out keys from 1 on. Here others stand for objects that are in no store yet.
    static func unusableKey(_ key: Int64, _ entity: NSEntityDescription?) -> CocoaError {
        .coreData(
            .fileReadCorruptFile,
            "The store has a \(entity?.rootEntity.name ?? "row") with the key \(key): keys of objects are positive. Change it in the file."
        )
    }

    private static func capacity(after capacity: Int) -> Int { capacity < 8 ? 8 : capacity < 64 ? 64 : 128 }

    private func finish() throws {
        guard let batch, let plan, batch.count > 0 else { return }
        batch.trim()
        var run = RowRun(batch: batch, range: 0..<batch.count, entity: plan.entity, store: storeNumber, known: known(batch, plan))
        run.heldSlots = plan.heldSlots
        try body(run)
    }

    /// What the cache has of a batch that nobody writes any more, and which it knows from now on, unless values are missing.
    private func known(_ batch: RowBatch, _ plan: ColumnPlan) -> [Row?] {
        let root = plan.entity.rootEntity.index
        guard let held = plan.heldSlots else {
            return store.cache.publish(batch, root: root, readAt: moment, derived: plan.shape.derivedSlots)
        }
        batch.setNull(but: held)
        return store.cache.rows(insteadOf: batch, root: root, derived: plan.shape.derivedSlots.intersection(held))
    }

    /// Decodes a row.
    @inline(__always) private func decode(_ key: Int64, _ values: some RowValues, _ plan: ColumnPlan, into batch: RowBatch) {
        let row = batch.append(key: key, version: EntityLayout.version(ofStored: sqlite3_value_int64(values.value(first + 2))))
        let offsets = plan.shape.layout.batchOffsets
        plan.steps.withUnsafeBufferPointer { steps in
            for step in steps { decode(values.value(step.column), step, row, row + Int(offsets[step.slot]), batch, values) }
        }
    }

    @inline(__always) private func decode(
        _ value: OpaquePointer?,
        _ step: ColumnStep,
        _ row: UnsafeMutableRawPointer,
        _ address: UnsafeMutableRawPointer,
        _ batch: RowBatch,
        _ values: some RowValues
    ) {
        switch step.kind {
        case .string:
            if let text = sqlite3_value_text(value) {
                batch.store(text, Int(sqlite3_value_bytes(value)), at: address)
            } else {
                address.storeBytes(of: 0, as: UInt64.self)
                EntityLayout.setNull(row, step.slot)
            }
        case .int64:
            let number = sqlite3_value_int64(value)
            address.storeBytes(of: number, as: Int64.self)
            if number == 0 { noteNull(value, row, step.slot) }
        case .double, .date:
            // NB: a whole number of seconds is stored as an integer (NUMERIC affinity); value_double reads both.
            let number = sqlite3_value_double(value)
            address.storeBytes(of: number, as: Double.self)
            if number == 0 { noteNull(value, row, step.slot) }
        case .int16:
            let number = sqlite3_value_int64(value)
            address.storeBytes(of: Int16(truncatingIfNeeded: number), as: Int16.self)
            if number == 0 { noteNull(value, row, step.slot) }
        case .int32:
            let number = sqlite3_value_int64(value)
            address.storeBytes(of: Int32(truncatingIfNeeded: number), as: Int32.self)
            if number == 0 { noteNull(value, row, step.slot) }
        case .boolean:
            let number = sqlite3_value_int64(value)
            address.storeBytes(of: number == 0 ? 0 : 1, as: UInt8.self)
            if number == 0 { noteNull(value, row, step.slot) }
        case .float:
            let number = sqlite3_value_double(value)
            address.storeBytes(of: Float(number), as: Float.self)
            if number == 0 { noteNull(value, row, step.slot) }
        default:
            let entity = step.entityColumn >= 0 ? values.value(step.entityColumn) : nil
            decodeWide(value, entity, step, row, address, batch)
        }
    }

    private func decodeWide(
        _ value: OpaquePointer?,
        _ entity: OpaquePointer?,
        _ step: ColumnStep,
        _ row: UnsafeMutableRawPointer,
        _ address: UnsafeMutableRawPointer,
        _ batch: RowBatch
    ) {
        if sqlite3_value_type(value) == SQLITE_NULL {
            memset(address, 0, step.kind.batchSize)
            return EntityLayout.setNull(row, step.slot)
        }
        switch step.kind {
        case .uuid:
            memset(address, 0, 16)
            if let bytes = sqlite3_value_blob(value) { memcpy(address, bytes, min(16, Int(sqlite3_value_bytes(value)))) }
        case .decimal:
            address.storeBytes(of: StoredNumber(value).decimal, as: Decimal.self)
        case .binary:
            let bytes = sqlite3_value_blob(value)
            let cell = UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value)))
            if step.isMarked { decodeMarked(cell, step, row, address, batch) } else { batch.store(bytes, cell.count, at: address) }
        default:
            let key = sqlite3_value_int64(value)
            guard key > 0 else {
                // NB: no row has such a key, and here it would be that of an object which is in no store yet.
                memset(address, 0, step.kind.batchSize)
                return EntityLayout.setNull(row, step.slot)
            }
            address.storeBytes(of: RowReference(key: key, entity: targetEntity(entity, step), store: storeNumber), as: RowReference.self)
        }
    }

    /// Data that cannot be read are nil, which only this object notices; what the store has is left as it is.
    private func decodeMarked(
        _ cell: UnsafeRawBufferPointer,
        _ step: ColumnStep,
        _ row: UnsafeMutableRawPointer,
        _ address: UnsafeMutableRawPointer,
        _ batch: RowBatch
    ) {
        do {
            try MarkedData.content(of: cell, in: store.supportFolder) { batch.store($0.baseAddress, $0.count, at: address) }
        } catch {
            Logger(label: "CoreData").error("\(plan?.entity.name ?? "?") p\(EntityLayout.key(row)): \(error.localizedDescription)")
            memset(address, 0, step.kind.batchSize)
            EntityLayout.setNull(row, step.slot)
        }
    }

    /// The target's entity: the one that the companion column says, else the relationship's destination, which also stands for what is none of its kind.
    private func targetEntity(_ value: OpaquePointer?, _ step: ColumnStep) -> Int32 {
        guard let value, step.entityColumn >= 0 else { return step.targetEntity }
        let number = Int(sqlite3_value_int64(value))
        guard let entity = store.schema.entity(numbered: number)?.description.index,
            store.model.entitiesInIndexOrder[Int(step.targetEntity)].subtree.contains(entity)
        else { return step.targetEntity }
        return Int32(entity)
    }

    @inline(__always) private func noteNull(_ value: OpaquePointer?, _ row: UnsafeMutableRawPointer, _ slot: Int) {
        if sqlite3_value_type(value) == SQLITE_NULL { EntityLayout.setNull(row, slot) }
    }
}
