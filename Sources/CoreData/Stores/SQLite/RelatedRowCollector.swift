import SQLiteDriver

/// Puts the members' rows, which come in runs, together with their owners and places, which come one by one before them.
final class RelatedRowCollector {
    private(set) var rows: [RelatedRow] = []
    /// Of the rows that no run has brought yet.
    private var sides: [(owner: Int64, position: Int64?)] = []
    private let store: Int32
    private let isOrdered: Bool

    init(store: Int32, isOrdered: Bool) { (self.store, self.isOrdered) = (store, isOrdered) }

    func noteSide(_ statement: Statement) {
        sides.append((statement.int(0), isOrdered && !statement.isNull(1) ? statement.int(1) : nil))
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
}
