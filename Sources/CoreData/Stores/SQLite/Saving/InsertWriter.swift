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
        do {
            let next = try writeMany(group, keys, statements)
            if next < group.inserts.count { try writeSingly(group, keys, from: next, statements) }
            try writeVersions(group, keys, statements)
        } catch let refused as RefusedValue {
            throw refused.error(group.entity, url: store.url)
        }
    }

    /// Inserts as many as fill whole statements; the first that remains is returned.
    private func writeMany(_ group: ChangeSet.Group, _ keys: ContiguousArray<Int64>, _ statements: SaveStatements) throws -> Int {
        let count = statements.rowsPerInsert(connection)
        guard group.inserts.count >= count else { return 0 }
        return try connection.withCached(statements.insert(rows: count)) { many in
            var next = 0
            while next + count <= group.inserts.count {
                do {
                    try insert(group, keys, next..<next + count, many, statements)
                } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
                    throw BrokenUniqueIndex.error(for: error, group.entity)
                }
                next += count
            }
            return next
        }
    }

    /// Those of rows that come back under the keys of deleted ones: others begin with 1, as the statement says.
    private func writeVersions(_ group: ChangeSet.Group, _ keys: ContiguousArray<Int64>, _ statements: SaveStatements) throws {
        for index in group.inserts.indices {
            let version = EntityLayout.versionOfInsert(group.inserts[index].row.bytes)
            if version > 1 { try connection.run(statements.setVersion, [.integer(Int64(version)), .integer(keys[index])]) }
        }
    }

    private func writeSingly(
        _ group: ChangeSet.Group,
        _ keys: ContiguousArray<Int64>,
        from first: Int,
        _ statements: SaveStatements
    ) throws {
        try connection.withCached(statements.insertOne) { one in
            for index in first..<group.inserts.count {
                do {
                    try insert(group, keys, index..<index + 1, one, statements)
                } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
                    throw BrokenUniqueIndex.error(for: error, group.entity)
                }
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
            try statement.requireBound(sqlite3_bind_int64(statement.handle, parameter, keys[index]))
            parameter = try writer.bind(group.inserts[index].row.bytes, statements.steps, to: statement.handle, from: parameter + 1)
        }
        try statement.run()
        try IgnoredRows.require(connection.changes, of: range.count, group.entity)
    }
}
