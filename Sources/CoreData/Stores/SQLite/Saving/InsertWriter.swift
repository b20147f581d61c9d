import CSQLite
import Foundation
import SQLiteDriver

/// Inserts the new rows of a save: many with one statement, then the rest one by one.
struct InsertWriter {
    let store: SQLiteStore
    let connection: Connection
    let writer: StatementWriter
    let positions: PositionAssignment

    func write(_ group: ChangeSet.Group, _ keys: ContiguousArray<Int64>) throws {
        guard !group.inserts.isEmpty else { return }
        let statements = store.saveStatements(group.entity)
        let next = try writeMany(group, keys, statements)
        try writeSingly(group, keys, from: next, statements)
    }

    /// Inserts as many as fill whole statements; the first that remains is returned.
    private func writeMany(_ group: ChangeSet.Group, _ keys: ContiguousArray<Int64>, _ statements: SaveStatements) throws -> Int {
        var next = 0
        guard group.inserts.count >= SaveStatements.rowsPerInsert else { return next }
        let many = try connection.cached(statements.insertMany)
        defer { many.resetAndClear() }
        while next + SaveStatements.rowsPerInsert <= group.inserts.count {
            let end = next + SaveStatements.rowsPerInsert
            do {
                try insert(group, keys, next..<end, many, statements)
            } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
                throw BrokenUniqueIndex.error(for: error, group.entity)
            }
            next = end
        }
        return next
    }

    private func writeSingly(
        _ group: ChangeSet.Group,
        _ keys: ContiguousArray<Int64>,
        from first: Int,
        _ statements: SaveStatements
    ) throws {
        let one = try connection.cached(statements.insertOne)
        defer { one.resetAndClear() }
        for index in first..<group.inserts.count {
            do {
                try insert(group, keys, index..<index + 1, one, statements)
            } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
                throw BrokenUniqueIndex.error(for: error, group.entity)
            }
        }
    }

    @inline(__always)
    private func insert(
        _ group: ChangeSet.Group,
        _ keys: ContiguousArray<Int64>,
        _ range: Range<Int>,
        _ statement: Statement,
        _ statements: SaveStatements
    ) throws {
        writer.begin()
        var parameter: Int32 = 1
        for index in range {
            if !statements.positions.isEmpty { try positions.assign(to: group.inserts[index].row.own, statements) }
            sqlite3_bind_int64(statement.handle, parameter, keys[index])
            parameter = try writer.bind(group.inserts[index].row.bytes, statements.steps, to: statement.handle, from: parameter + 1)
        }
        try statement.run()
    }
}
