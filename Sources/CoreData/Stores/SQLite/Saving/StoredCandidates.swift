import Foundation
import SQLiteDriver

/// Reads the rows of the store that have the values of candidates.
struct StoredCandidates {
    let store: SQLiteStore
    let connection: Connection
    let constraint: TableConstraint
    let root: NSEntityDescription

    typealias StoredRow = (reference: RowReference, row: Row)

    /// For each leader, the row with its values.
    func rows(for candidates: CandidateRows) throws -> [StoredRow?] {
        var rows = [StoredRow?](repeating: nil, count: candidates.leaders.count)
        guard !rows.isEmpty else { return rows }
        let columns = SelectedColumns(entity: root, includesSubentities: true, schema: store.schema, alias: "t0", firstColumn: 1)
        try connection.withCached(sql(columns)) { statement in
            for start in stride(from: 0, to: rows.count, by: rowsPerStatement) {
                let range = start..<min(start + rowsPerStatement, rows.count)
                try read(statement, columns, range, candidates, into: &rows)
            }
        }
        return rows
    }

    private var rowsPerStatement: Int { max(1, SQLLimits.parametersAnywhere / constraint.columns.count) }

    /// Each row begins with the number of the candidate whose values it has.
    private func sql(_ columns: SelectedColumns) -> String {
        let names = constraint.columns.indices.map { "v\($0)" }.joined(separator: ", ")
        let parameters = String(repeating: ",?", count: constraint.columns.count)
        let values = (0..<rowsPerStatement).map { "(\($0)\(parameters))" }.joined(separator: ",")
        let terms = constraint.columns.enumerated().map { "t0.\($1) = c.v\($0)" }.joined(separator: " AND ")
        let table = store.schema.entity(for: root).table
        return """
            WITH c(i, \(names)) AS (VALUES \(values)) SELECT c.i, \(columns.list) FROM c \
            \(SQLDialect.joinInOrder) \(table) t0 ON \(terms)
            """
    }

    private func read(
        _ statement: Statement,
        _ columns: SelectedColumns,
        _ range: Range<Int>,
        _ candidates: CandidateRows,
        into rows: inout [StoredRow?]
    ) throws {
        // What is left of a shorter range is NULL, and equal to nothing.
        statement.resetAndClear()
        // A temporary key is in no store.
        let writer = StatementWriter(schema: store.schema, store: store.number) { $0 }
        var parameter: Int32 = 1
        for index in range {
            let candidate = candidates.leaders[index]
            parameter = try writer.bind(candidate.row.bytes, candidates.steps[candidate.steps], to: statement.handle, from: parameter)
        }
        var indexes: [Int] = []
        var found: [StoredRow] = []
        indexes.reserveCapacity(range.count)
        found.reserveCapacity(range.count)
        let reader = RowReader(columns, from: 1, store: store) { [number = store.number] run in
            for (offset, index) in run.range.enumerated() {
                let row = (run.known.isEmpty ? nil : run.known[offset]) ?? Row(run.batch, index)
                found.append((RowReference(key: row.key, entity: Int32(run.entity.index), store: number), row))
            }
        }
        try reader.read(statement) { indexes.append(range.lowerBound + Int($0.int(0))) }
        for (index, row) in zip(indexes, found) { rows[index] = row }
    }
}
