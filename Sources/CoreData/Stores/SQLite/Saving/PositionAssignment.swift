import SQLiteDriver

/// Gives rows their positions in ordered relationships during one save, and can revert that.
final class PositionAssignment {
    private let connection: Connection
    /// The rows that got a position, and the slot of it.
    private var assigned: [(row: OwnRow, slot: Int)] = []
    /// The positions that were found by others.
    private var put: [ChangeSet.RowPositions] = []
    /// What they replace, in the few rows that had a position.
    private var replaced: [(row: OwnRow, slot: Int, position: SlotValue)] = []

    init(_ connection: Connection) { self.connection = connection }

    /// Puts a member that has no position yet at the end of its ordered relationship.
    @inline(__always)
    func assign(to row: OwnRow, _ statements: SaveStatements) throws {
        let bytes = row.bytes
        for position in statements.positions where !EntityLayout.isNull(bytes, position.reference) {
            if EntityLayout.isNull(bytes, position.slot) {
                let next = try position.mark.next(connection)
                OwnRow.placing.withLock { row.store(.integer(next), at: position.slot) }
                assigned.append((row, position.slot))
            } else {
                position.mark.note(row.slot(position.slot).load(as: Int64.self))
            }
        }
    }

    func put(_ positions: ChangeSet.RowPositions) {
        put.append(positions)
        OwnRow.placing.withLock {
            for (row, position) in positions.rows {
                if !row.isNull(positions.slot) { replaced.append((row.own, positions.slot, row.value(positions.slot))) }
                row.withOwn { $0.store(.integer(position), at: positions.slot) }
            }
        }
    }

    func revert() {
        OwnRow.placing.withLock {
            for (row, slot) in assigned { row.store(.null, at: slot) }
            for positions in put { for (row, _) in positions.rows { row.own.store(.null, at: positions.slot) } }
            for (row, slot, position) in replaced { row.store(position, at: slot) }
        }
    }
}
