import SQLiteDriver

/// Gives rows their positions at the end of ordered relationships during one save, and can revert that.
final class PositionAssignment {
    private let connection: Connection
    /// The rows that got a position, and the slot of it.
    private var assigned: [(row: OwnRow, slot: Int)] = []

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

    func revert() {
        OwnRow.placing.withLock { for (row, slot) in assigned { row.store(.null, at: slot) } }
    }
}
