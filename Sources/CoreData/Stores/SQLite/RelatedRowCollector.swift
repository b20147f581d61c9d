import CSQLite
import SQLiteDriver

/// Puts the members' rows, which come in runs, together with their owners and places, which come one by one before them.
final class RelatedRowCollector {
    private(set) var rows: [RelatedRow] = []
    /// Of the rows that no run has brought yet.
    private var sides: [(owner: Int64, position: Int64?)] = []
    private let store: Int32
    private let isOrdered: Bool

    init(store: Int32, isOrdered: Bool) { (self.store, self.isOrdered) = (store, isOrdered) }

    /// - Parameter row: begins with the owner's key and the place.
    func noteSide(_ row: some RowValues) { sides.append((sqlite3_value_int64(row.value(0)), isOrdered ? place(row.value(1)) : nil)) }

    private func place(_ value: OpaquePointer?) -> Int64? {
        sqlite3_value_type(value) == SQLITE_NULL ? nil : sqlite3_value_int64(value)
    }

    func add(_ run: RowRun) {
        let entity = Int32(run.entity.index)
        for (offset, index) in run.range.enumerated() {
            let row = (run.known.isEmpty ? nil : run.known[offset]) ?? Row(run.batch, index)
            let reference = RowReference(key: row.key, entity: entity, store: store)
            rows.append(RelatedRow(owner: sides[offset].owner, row: row, reference: reference, position: sides[offset].position))
        }
        // The side of the row that comes next may be noted already.
        sides.removeFirst(run.range.count)
    }

    /// The rows by owner and place, where they came in no order.
    var sortedRows: [RelatedRow] {
        func precedes(_ one: RelatedRow, _ other: RelatedRow) -> Bool {
            if one.owner != other.owner { return one.owner < other.owner }
            if one.position != other.position { return one.position ?? .min < other.position ?? .min }
            return one.reference.key < other.reference.key
        }
        let isSorted = rows.indices.dropFirst().allSatisfy { precedes(rows[$0 - 1], rows[$0]) }
        return isSorted ? rows : rows.sorted(by: precedes)
    }
}
