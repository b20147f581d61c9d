import Foundation
import SQLiteDriver

/// The statements that write one entity's rows, and the order of their parameters.
final class SaveStatements {
    private static let rowsPerInsert = 50

    let entity: SQLEntity
    let shape: EntityShape
    /// The index of the root entity in the model, under which the row cache knows the rows.
    let root: Int
    /// The positions that a row has in ordered relationships.
    let positions: [Position]

    struct Position {
        /// The slot of the to-one relationship, and that of the place among the other end's objects.
        let reference: Int
        let slot: Int
        let mark: OrderMark
    }
    /// All columns, in the order of an INSERT.
    let steps: ContiguousArray<StatementWriter.Step>
    private let insertHead: String
    private let insertRow: String
    private(set) lazy var insertOne = "INSERT \(insertHead)\(insertRow)"
    private var insertMany: (count: Int, sql: String) = (0, "")
    private var updates = RecentlyUsed<SlotMask, Update>(countLimit: 128)
    /// The columns of each slot.
    let columns: [[String]]

    private lazy var parametersPerRow = columns.reduce(1) { $0 + $1.count }

    init(_ entity: SQLEntity, shape: EntityShape, marks: OrderMarks) {
        self.entity = entity
        self.shape = shape
        root = entity.description.rootEntity.index
        positions = shape.positionSlots.enumerated().compactMap { reference, slot in
            guard let slot else { return nil }
            return entity.columns[shape.layout.slots[reference].name]?.orderColumn.map {
                Position(reference: reference, slot: slot, mark: marks.mark(table: entity.table, column: $0))
            }
        }
        columns = Self.columns(of: entity, shape)
        let columns = columns
        steps = ContiguousArray(
            shape.layout.slots.indices.filter { !columns[$0].isEmpty }.map {
                StatementWriter.Step(
                    slot: $0,
                    offset: Int(shape.layout.ownOffsets[$0]),
                    kind: shape.layout.kinds[$0],
                    hasEntityColumn: columns[$0].count > 1,
                    isMarked: entity.columns[shape.layout.slots[$0].name]?.isMarked == true
                )
            }
        )
        let names = (SQLNames.rowColumns + columns.joined()).joined(separator: ", ")
        insertHead = "INTO \(entity.table)(\(names)) VALUES"
        let places = Array(repeating: "?", count: columns.reduce(0) { $0 + $1.count })
        insertRow = "(" + (["?", "\(entity.number)", "1"] + places).joined(separator: ",") + ")"
    }

    /// The columns of each slot: one; two for a to-one whose target's entity must be said; the place's own.
    private static func columns(of entity: SQLEntity, _ shape: EntityShape) -> [[String]] {
        return shape.layout.slots.enumerated().map { slot, property in
            if property.kind == .position {
                let owner = shape.positionSlots.firstIndex(of: slot).flatMap { entity.columns[shape.layout.slots[$0].name] }
                return owner?.orderColumn.map { [$0] } ?? []
            }
            // What a derived attribute has is what triggers make of it.
            guard let column = entity.columns[property.name], !shape.derivedSlots.contains(slot) else { return [] }
            return [column.name] + (column.entityColumn.map { [$0] } ?? [])
        }
    }

    /// How many rows one statement inserts.
    func rowsPerInsert(_ connection: Connection) -> Int { max(1, min(Self.rowsPerInsert, connection.parameterLimit / parametersPerRow)) }

    /// The statement that inserts so many rows; its parameters are each row's key and then its columns.
    ///
    /// NB: the rows before one that breaks a constraint stay.
    func insert(rows count: Int) -> String {
        if insertMany.count != count {
            let rows = Array(repeating: insertRow, count: count).joined(separator: ",")
            insertMany = (count, "\(SQLDialect.insertUpToFailure) \(insertHead)\(rows)")
        }
        return insertMany.sql
    }

    /// The statement that writes some slots of one row; its last parameters are the new version, the key and the version that was read.
    struct Update {
        let sql: String
        /// As `sql`, for versions that others have written as something else than an integer: the version is what reading makes of it.
        let sqlOfAnyVersion: String
        let steps: ContiguousArray<StatementWriter.Step>
    }

    /// The statement that writes these slots.
    func update(_ slots: SlotMask) -> Update {
        if let known = updates.value(for: slots) { return known }
        let steps = ContiguousArray(self.steps.filter { slots.contains($0.slot) })
        let assignments = steps.flatMap { columns[$0.slot] }.map { "\($0) = ?" } + ["\(SQLNames.version) = ?"]
        let sql = "UPDATE \(entity.table) SET \(assignments.joined(separator: ", ")) WHERE \(SQLNames.key) = ? AND "
        let update = Update(sql: sql + "\(SQLNames.version) = ?", sqlOfAnyVersion: sql + "\(SQLDialect.anyVersion) = ?", steps: steps)
        updates.insert(update, for: slots)
        return update
    }

    /// How many of those are kept.
    var updateCount: Int { updates.count }

    /// Advances the versions of rows that were never read, by a JSON array of keys.
    var touch: String {
        "UPDATE \(entity.table) SET \(SQLDialect.advanceUnreadVersion) WHERE \(SQLNames.key) IN \(SQLDialect.list)"
    }
    /// Gives a row a version: the first parameter; the key follows.
    var setVersion: String { "UPDATE \(entity.table) SET \(SQLNames.version) = ? WHERE \(SQLNames.key) = ?" }
    static let rowsPerDelete = 50
    private lazy var deleteMany = deleteText(count: Self.rowsPerDelete)

    /// Deletes so many rows, all read in the version that is the first parameter; the keys follow.
    func delete(count: Int) -> String { count == Self.rowsPerDelete ? deleteMany : deleteText(count: count) }

    private func deleteText(count: Int) -> String {
        let keys = Array(repeating: "?", count: count).joined(separator: ",")
        return "DELETE FROM \(entity.table) WHERE \(SQLNames.version) = ? AND \(SQLNames.key) IN (\(keys))"
    }

    /// Deletes rows that were never read, by a JSON array of keys.
    var deleteUnread: String { "DELETE FROM \(entity.table) WHERE \(SQLNames.key) IN \(SQLDialect.list)" }
    /// The versions of rows, by a JSON array of keys.
    var versions: String { "SELECT \(SQLNames.key), \(SQLNames.version) FROM \(entity.table) WHERE \(SQLNames.key) IN \(SQLDialect.list)" }
}

extension SQLiteValue {
    /// Keys for `SQLDialect.list`: one statement for any number of them.
    static func keys(_ keys: some Sequence<Int64>) -> SQLiteValue { .text("[\(keys.map(String.init).joined(separator: ","))]") }
}
